#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "ps_proxy/client/client_state.h"
#include "ps_proxy/client/hello.h"

namespace tictac::native {
namespace {

constexpr int kConnectTimeoutMs = 5000;
constexpr uint64_t kDefaultArena = 64 << 20;

// The path to connect to. Its default is the proxy's own: the folder for sockets of this user.
std::string socket_path(const tictac_options& options) {
  if (options.socket != nullptr && options.socket[0] != 0) return options.socket;
  if (const char* path = std::getenv("TICTAC_SOCKET")) return path;
  if (geteuid() == 0) return "/run/tictac/native.sock";
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return std::string(runtime) + "/tictac/native.sock";
  return "/tmp/tictac-" + std::to_string(geteuid()) + "/native.sock";
}

int connect_failed(const std::string& path) {
  const int error = errno;
  std::string why = path + ": " + std::strerror(error);
  if (error == ENOENT || error == ECONNREFUSED) why += "; start tictac-proxy, or name its native.socket";
  if (error == EACCES) why += "; the proxy's native.socket_mode does not let this user in";
  if (error == EPROTOTYPE) why += "; it is no TicTac socket";
  return fail(TICTAC_NO_PROXY, why);
}

}  // namespace

int open_socket(const std::string& path, Fd* out) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(TICTAC_BAD_ARGUMENT, path + ": longer than a socket's path may be (107 bytes)");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  Fd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd) return fail_system("socket");
  const timeval limit{kConnectTimeoutMs / 1000, 0};  // a stopped proxy may leave its backlog full
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return connect_failed(path);
  }
  *out = std::move(fd);
  return TICTAC_OK;
}

namespace {

int receive_reply(int socket, HelloReply* reply, std::array<Fd, kDescriptors>* fds) {
  pollfd waiting{socket, POLLIN, 0};
  if (poll(&waiting, 1, kConnectTimeoutMs) == 0) {
    return fail(TICTAC_TIMEOUT, "the proxy does not answer; is it stopped?");
  }
  std::vector<uint8_t> buffer(kMostMessage);
  iovec vector{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kDescriptors)> control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size < 0 && errno != ECONNRESET) return fail_system("recvmsg");
  if (size <= 0) return fail(TICTAC_PROXY_GONE, "the proxy closed the connection; its log says why");
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::array<int, kDescriptors> raw{-1, -1, -1};
    std::memcpy(raw.data(), CMSG_DATA(header), sizeof(int) * std::min<size_t>(count, kDescriptors));
    for (size_t i = 0; i < raw.size(); ++i) (*fds)[i] = Fd(raw[i]);
  }
  if (!decode(ByteSpan(buffer.data(), static_cast<size_t>(size)), reply)) {
    return fail(TICTAC_REFUSED, "what answers at the socket is no tictac-proxy");
  }
  return TICTAC_OK;
}

int check(const tictac_options& options) {
  if (options.application == nullptr || options.application[0] == 0) {
    return fail(TICTAC_BAD_ARGUMENT, "options.application is empty");
  }
  if (std::strlen(options.application) > TICTAC_MAX_APPLICATION) {
    return fail(TICTAC_BAD_ARGUMENT, "options.application is longer than 128 bytes");
  }
  if (options.job == nullptr || options.job[0] == 0) {
    return fail(TICTAC_BAD_ARGUMENT, "options.job is empty");
  }
  if (std::strlen(options.job) > TICTAC_MAX_JOB) {
    return fail(TICTAC_BAD_ARGUMENT, "options.job is longer than 128 bytes");
  }
  if (options.max_operations > kMostOperations) {
    return fail(TICTAC_BAD_ARGUMENT, "options.max_operations is above 65536");
  }
  return TICTAC_OK;
}

int map_all(tictac_client& client, const HelloReply& reply, std::array<Fd, kDescriptors>& fds) {
  const ControlLayout layout = ControlLayout::of(reply.max_operations);
  if (!client.control.map(fds[0].get(), layout.size()) ||
      !client.memory.map(fds[1].get(), reply.arena_bytes)) {
    return fail_system("cannot map the shared memory");
  }
  client.doorbell = std::move(fds[2]);
  client.peers = reply.peers;
  uint8_t* memory = client.control.data();
  ControlHeader* header = header_of(memory);
  client.submissions = RingWriter(&header->submissions, entries_at(memory, layout.submissions_at()),
                                  layout.submission_capacity);
  client.events = RingReader(&header->events, entries_at(memory, layout.events_at()), layout.event_capacity);
  return TICTAC_OK;
}

int do_connect(const tictac_options& options, tictac_client** out) {
  if (const int status = check(options)) return status;
  Fd socket;
  if (const int status = open_socket(socket_path(options), &socket)) return status;
  const std::vector<uint8_t> hello =
      encode(Hello{.max_operations = options.max_operations ? options.max_operations : kDefaultOperations,
                   .arena_bytes = options.arena_bytes ? options.arena_bytes : kDefaultArena,
                   .job = options.job,
                   .application = options.application});
  if (send(socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL) < 0) return fail_system("send");
  HelloReply reply;
  std::array<Fd, kDescriptors> fds;
  if (const int status = receive_reply(socket.get(), &reply, &fds)) return status;
  if (reply.version == 0) return fail(TICTAC_REFUSED, reply.message);
  if (reply.version != kAbiVersion || reply.max_operations == 0 || reply.max_operations > kMostOperations ||
      !fds[2]) {
    return fail(TICTAC_REFUSED, "the proxy's answer makes no sense; are library and proxy of one release?");
  }
  auto client = std::make_unique<tictac_client>(reply.arena_bytes, reply.max_operations);
  client->socket = std::move(socket);
  client->spin_ns = int64_t{options.spin_us} * 1000;
  if (const int status = map_all(*client, reply, fds)) return status;
  *out = client.release();
  return TICTAC_OK;
}

}  // namespace
}  // namespace tictac::native

int tictac_connect(const tictac_options* options, tictac_client** out) {
  using tictac::native::fail;
  if (options == nullptr || out == nullptr) return fail(TICTAC_BAD_ARGUMENT, "options or out is null");
  *out = nullptr;
  try {
    return tictac::native::do_connect(*options, out);
  } catch (const std::bad_alloc&) {
    return fail(TICTAC_NO_MEMORY, "no memory for the client");
  }
}

void tictac_close(tictac_client* client) { delete client; }
