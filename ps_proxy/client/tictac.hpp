#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "tictac.h"  // beside this file, here and where it is installed

// The C interface with owners: nothing here but destructors, spans and defaults. Every rule of tictac.h
// holds.
namespace tictac::native {

// A connection to the proxy; closes itself. Empty after a failed connect: ask tictac_error().
class Client {
 public:
  Client() = default;
  explicit Client(const tictac_options& options) { status_ = tictac_connect(&options, &client_); }
  Client(Client&& other) noexcept
      : client_(std::exchange(other.client_, nullptr)),
        status_(std::exchange(other.status_, TICTAC_NO_PROXY)) {}
  Client& operator=(Client&& other) noexcept {
    std::swap(client_, other.client_);
    std::swap(status_, other.status_);
    return *this;
  }
  ~Client() { tictac_close(client_); }

  explicit operator bool() const { return client_ != nullptr; }
  int connect_status() const { return status_; }
  tictac_client* get() const { return client_; }

  int name(const std::string& text, tictac_name_id* id) { return tictac_name(client_, text.c_str(), id); }
  int peer(const std::string& text, tictac_peer_id* id) const {
    return tictac_peer(client_, text.c_str(), id);
  }
  int wait_peer(tictac_peer_id id, int64_t timeout_ns) { return tictac_wait_peer(client_, id, timeout_ns); }

  int fetch(tictac_name_id name, tictac_peer_id peer, std::span<uint8_t> buffer, uint64_t tag) {
    return tictac_fetch(client_, name, peer, buffer.data(), buffer.size(), tag);
  }
  int cancel(uint64_t tag) { return tictac_cancel(client_, tag); }
  int serve(tictac_name_id name) { return tictac_serve(client_, name); }
  int unserve(tictac_name_id name) { return tictac_unserve(client_, name); }
  int answer(uint64_t request, std::span<const uint8_t> buffer) {
    return tictac_answer(client_, request, buffer.data(), buffer.size());
  }
  int decline(uint64_t request) { return tictac_decline(client_, request); }

  int wait(std::span<tictac_event> events, int64_t timeout_ns) {
    return tictac_wait(client_, events.data(), static_cast<int>(events.size()), timeout_ns);
  }

  // The proxy's statistics (JSON); empty on failure.
  std::string stats() {
    std::string json(1 << 16, '\0');
    size_t size = 0;
    int status = tictac_stats(client_, json.data(), json.size(), &size);
    if (status == TICTAC_NO_MEMORY) {
      json.resize(size + (1 << 12));
      status = tictac_stats(client_, json.data(), json.size(), &size);
    }
    json.resize(status == TICTAC_OK ? size - 1 : 0);
    return json;
  }
  tictac_client_counters counters() const {
    tictac_client_counters counters;
    tictac_counters(client_, &counters);
    return counters;
  }

 private:
  tictac_client* client_ = nullptr;
  int status_ = TICTAC_NO_PROXY;
};

// A buffer in a client's arena; gives itself back. Must not outlive the client nor die while an operation
// uses it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Client& client, uint64_t size)
      : client_(client.get()),
        data_(static_cast<uint8_t*>(tictac_alloc(client_, size))),
        size_(data_ == nullptr ? 0 : size) {}
  Buffer(Buffer&& other) noexcept
      : client_(other.client_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(client_, other.client_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) tictac_free(client_, data_);
  }

  explicit operator bool() const { return data_ != nullptr; }
  std::span<uint8_t> span() { return {data_, size_}; }
  uint8_t* data() { return data_; }
  uint64_t size() const { return size_; }

 private:
  tictac_client* client_ = nullptr;
  uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace tictac::native
