#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "control/schedule/socket_owner.h"
#include "dataplane/runtime/mailbox.h"
#include "ps_proxy/client/hello.h"
#include "ps_proxy/native/native_gateway.h"

namespace tictac::native {

// The control thread's side of the native gateway: owns the Unix socket, makes each client's shared memory,
// attaches it to the gateway and, when its connection ends, takes everything back. Control thread only;
// nothing here blocks longer than a mailbox call to the lcore or the touching of a new arena.
class NativeListener {
 public:
  struct Config {
    std::string path;
    mode_t mode = 0600;
    uint32_t max_clients = 64;
    uint64_t max_arena = uint64_t{4} << 30;
    uint64_t max_total_arena = uint64_t{16} << 30;
    std::vector<std::string> peers;
    // The JSON document that tictac_stats gives.
    std::function<std::string()> stats;
  };

  // Claims and binds the socket. Errors name the path and the cure.
  static absl::StatusOr<std::unique_ptr<NativeListener>> open(Config config, NativeGateway& gateway,
                                                              Mailbox& mailbox);
  ~NativeListener();

  // Readable when handle_ready() has something to do.
  int fd() const { return epoll_.get(); }
  void handle_ready();

  size_t client_count() const { return clients_.size(); }

 private:
  // One connection: greeting (no session yet), attached, leaving (socket closed, the gateway still holds the
  // memory).
  struct Client {
    Fd socket;
    uint64_t arena = 0;
    bool attached = false;
    bool leaving = false;
    std::string description;
  };

  NativeListener(Config config, NativeGateway& gateway, Mailbox& mailbox, SocketOwner owner);
  absl::Status bind();
  void accept_all();
  void watch(int fd, uint64_t id);
  void read_from(uint64_t id);
  void greet(uint64_t id, Client& client, const Hello& hello);
  // Makes memory and session; the descriptors for the client in *fds.
  absl::Status attach(uint64_t id, Client& client, const Hello& hello, std::vector<Fd>* fds);
  absl::Status check(const Hello& hello) const;
  void refuse(uint64_t id, Client& client, const std::string& why);
  void send_stats(Client& client, uint32_t request);
  void drop(uint64_t id);
  void take_replies();

  const Config config_;
  NativeGateway& gateway_;
  Mailbox& mailbox_;
  SocketOwner owner_;
  Fd socket_;
  Fd epoll_;
  absl::flat_hash_map<uint64_t, Client> clients_;
  uint64_t next_id_ = 2;  // 0 and 1 name the socket and the gateway's replies in the epoll set
  size_t attached_ = 0;
  uint64_t total_arena_ = 0;
  std::vector<uint8_t> buffer_;
};

}  // namespace tictac::native
