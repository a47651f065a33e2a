#include "control/replay/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tictac::replay {
namespace {

constexpr size_t kMostCompletions = 1 << 20;
constexpr Duration kRestLimit = 5s;  // of a message that has begun

absl::Status gone() { return absl::UnavailableError("the other process has gone"); }

}  // namespace

Counters& Counters::operator+=(const Counters& more) {
  inversions += more.inversions;
  late_packets += more.late_packets;
  packets += more.packets;
  retransmits += more.retransmits;
  return *this;
}

Counters operator-(const Counters& after, const Counters& before) {
  return {.inversions = after.inversions - before.inversions,
          .late_packets = after.late_packets - before.late_packets,
          .packets = after.packets - before.packets,
          .retransmits = after.retransmits - before.retransmits};
}

void Reply::fail(std::string_view text) {
  ok = false;
  std::copy_n(text.begin(), std::min(text.size(), error.size() - 1), error.begin());
}

absl::StatusOr<std::array<Channel, 2>> Channel::make_pair() {
  std::array<int, 2> fds{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    return absl::UnavailableError(absl::StrCat("socketpair: ", std::strerror(errno)));
  }
  return std::array<Channel, 2>{Channel(fds[0]), Channel(fds[1])};
}

Channel::Channel(Channel&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
Channel::~Channel() {
  if (fd_ >= 0) close(fd_);
}

absl::Status Channel::wait_readable(Duration limit) {
  pollfd poll_fd{.fd = fd_, .events = POLLIN, .revents = 0};
  const auto milliseconds = static_cast<int>(std::max<int64_t>(limit / 1ms, 0));
  const int ready = poll(&poll_fd, 1, milliseconds);
  if (ready == 0) return absl::NotFoundError("nothing came");
  if (ready > 0) return absl::OkStatus();
  return errno == EINTR ? absl::NotFoundError("interrupted") : gone();
}

absl::Status Channel::write_all(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  while (size > 0) {
    const ssize_t n = ::send(fd_, bytes, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return gone();
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::Status Channel::read_all(void* data, size_t size, Duration limit) {
  auto* bytes = static_cast<uint8_t*>(data);
  while (size > 0) {
    const absl::Status readable = wait_readable(limit);
    if (!readable.ok()) return readable;
    const ssize_t n = recv(fd_, bytes, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return gone();
    bytes += n;
    size -= static_cast<size_t>(n);
    limit = kRestLimit;
  }
  return absl::OkStatus();
}

absl::Status Channel::send(const Command& command) { return write_all(&command, sizeof command); }

absl::Status Channel::send(const Reply& reply, const std::vector<Completion>& completions) {
  const uint64_t count = completions.size();
  absl::Status status = write_all(&reply, sizeof reply);
  if (status.ok()) status = write_all(&count, sizeof count);
  if (status.ok()) status = write_all(completions.data(), count * sizeof(Completion));
  return status;
}

absl::StatusOr<Command> Channel::receive_command(Duration limit) {
  Command command;
  const absl::Status status = read_all(&command, sizeof command, limit);
  if (!status.ok()) return status;
  return command;
}

absl::StatusOr<Reply> Channel::receive_reply(Duration limit, std::vector<Completion>* completions) {
  Reply reply;
  uint64_t count = 0;
  absl::Status status = read_all(&reply, sizeof reply, limit);
  if (status.ok()) status = read_all(&count, sizeof count, kRestLimit);
  if (!status.ok()) return status;
  if (count > kMostCompletions) return absl::InternalError("a message that cannot be");
  std::vector<Completion> received(count);
  status = read_all(received.data(), count * sizeof(Completion), kRestLimit);
  if (!status.ok()) return status;
  if (completions) *completions = std::move(received);
  return reply;
}

}  // namespace tictac::replay
