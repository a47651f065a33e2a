#include "ps_proxy/client/client_state.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

namespace tictac::native {
namespace {

thread_local std::string last_error;

}  // namespace

int fail(int status, std::string why) {
  last_error = std::move(why);
  return status;
}

int fail_system(const std::string& what) { return fail(TICTAC_SYSTEM, what + ": " + std::strerror(errno)); }

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

int Fd::release() { return std::exchange(fd_, -1); }

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, size_);
}

bool Mapping::map(int fd, size_t size) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return false;
  if (static_cast<uint64_t>(info.st_size) < size) {
    errno = EINVAL;
    return false;
  }
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) return false;
  data_ = static_cast<uint8_t*>(data);
  size_ = size;
  return true;
}

FetchSlots::FetchSlots(uint32_t count) : slots_(count), free_(count) {
  // Low slots on top, so that few operations at once use few cache lines.
  std::iota(free_.rbegin(), free_.rend(), 0U);
  slot_of_.reserve(count);
}

uint32_t FetchSlots::take(uint64_t tag) {
  const uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot].tag = tag;
  slots_[slot].in_use = true;
  ++slots_[slot].sequence;
  slot_of_.emplace(tag, slot);
  return slot;
}

const uint32_t* FetchSlots::find(uint64_t tag) const {
  const auto found = slot_of_.find(tag);
  return found == slot_of_.end() ? nullptr : &found->second;
}

bool FetchSlots::finish(uint32_t slot, uint64_t* tag) {
  if (slot >= slots_.size() || !slots_[slot].in_use) return false;
  *tag = slots_[slot].tag;
  slots_[slot].in_use = false;
  slot_of_.erase(*tag);
  free_.push_back(slot);
  return true;
}

}  // namespace tictac::native

const char* tictac_error(void) { return tictac::native::last_error.c_str(); }

const char* tictac_status_text(int status) {
  switch (status) {
    case TICTAC_OK:
      return "ok";
    case TICTAC_BAD_ARGUMENT:
      return "bad argument";
    case TICTAC_NO_PROXY:
      return "no proxy at the socket";
    case TICTAC_REFUSED:
      return "refused by the proxy";
    case TICTAC_NO_MEMORY:
      return "no memory";
    case TICTAC_FULL:
      return "too much under way";
    case TICTAC_PROXY_GONE:
      return "the proxy has gone";
    case TICTAC_SYSTEM:
      return "system call failed";
    case TICTAC_TIMEOUT:
      return "timed out";
    case TICTAC_NO_SUCH_PEER:
      return "no such peer";
    case TICTAC_PEER_DOWN:
      return "peer is down";
    case TICTAC_PEER_LOST:
      return "peer was lost";
    case TICTAC_CANCELLED:
      return "cancelled";
    case TICTAC_BUFFER_SMALL:
      return "buffer too small";
    case TICTAC_DECLINED:
      return "declined by the serving application";
    case TICTAC_APP_GONE:
      return "the serving application has gone";
    case TICTAC_PARKED_FULL:
      return "too many requests wait for a server";
    case TICTAC_PROTOCOL:
      return "refused as malformed by the peer";
    default:
      return "unknown status";
  }
}
