#include "ps_proxy/native/native_listener.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ps_proxy/native/shared_memory.h"
#include "spdlog/spdlog.h"

namespace tictac::native {
namespace {

constexpr uint64_t kSocketEvent = 0;
constexpr uint64_t kReplyEvent = 1;
constexpr int kBacklog = 64;
constexpr size_t kMostGreeting = 64;  // connections that have not said hello yet, or said it in vain

// The process at the other end, for the log.
std::string peer_of(int socket) {
  ucred who{};
  socklen_t size = sizeof(who);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return "?";
  return absl::StrCat("pid ", who.pid, " uid ", who.uid);
}

}  // namespace

NativeListener::NativeListener(Config config, NativeGateway& gateway, Mailbox& mailbox, SocketOwner owner)
    : config_(std::move(config)),
      gateway_(gateway),
      mailbox_(mailbox),
      owner_(std::move(owner)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      buffer_(4096) {}

// The gateway may still hold sessions: it destroys them.
NativeListener::~NativeListener() = default;

absl::StatusOr<std::unique_ptr<NativeListener>> NativeListener::open(Config config, NativeGateway& gateway,
                                                                     Mailbox& mailbox) {
  auto owner = SocketOwner::claim(config.path);
  if (!owner.ok()) return owner.status();
  std::unique_ptr<NativeListener> listener(
      new NativeListener(std::move(config), gateway, mailbox, std::move(*owner)));
  const absl::Status bound = listener->bind();
  if (!bound.ok()) return bound;
  return listener;
}

absl::Status NativeListener::bind() {
  socket_ = Fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return absl::ErrnoToStatus(errno, "socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, config_.path.data(), config_.path.size());
  // Made with no rights for others, then widened: there is never a moment with more than was configured.
  const mode_t old_mask = umask(0177);
  const int bound = ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int error = errno;
  umask(old_mask);
  if (bound != 0) return absl::ErrnoToStatus(error, absl::StrCat(config_.path, ": cannot bind"));
  owner_.note_bound();
  if (chmod(config_.path.c_str(), config_.mode) != 0 || listen(socket_.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(config_.path, ": cannot listen"));
  }
  watch(socket_.get(), kSocketEvent);
  watch(gateway_.reply_fd(), kReplyEvent);
  return absl::OkStatus();
}

void NativeListener::watch(int fd, uint64_t id) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void NativeListener::handle_ready() {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    const uint64_t id = events[static_cast<size_t>(i)].data.u64;
    if (id == kSocketEvent) {
      accept_all();
    } else if (id == kReplyEvent) {
      take_replies();
    } else {
      read_from(id);
    }
  }
}

void NativeListener::accept_all() {
  while (true) {
    Fd fd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    const uint64_t id = next_id_++;
    const int raw = fd.get();
    Client& client = clients_[id];
    client.socket = std::move(fd);
    client.description = peer_of(raw);
    // A client too many is told so when its hello has been read: closing before would look like a crash to
    // it.
    if (clients_.size() > config_.max_clients + kMostGreeting) {
      clients_.erase(id);
      continue;
    }
    watch(raw, id);
  }
}

void NativeListener::read_from(uint64_t id) {
  const auto found = clients_.find(id);
  if (found == clients_.end() || found->second.leaving) return;
  Client& client = found->second;
  const ssize_t size = recv(client.socket.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return drop(id);
  const ByteSpan message(buffer_.data(), static_cast<size_t>(size));
  Hello hello;
  uint32_t request = 0;
  if (decode_stats_request(message, &request)) return send_stats(client, request);
  if (client.attached) {
    spdlog::warn("native: {} sent an unknown message; closed", client.description);
    return drop(id);
  }
  if (!decode(message, &hello)) return refuse(id, client, "this is no hello of a TicTac client");
  greet(id, client, hello);
}

absl::Status NativeListener::check(const Hello& hello) const {
  if (hello.lowest_version > kAbiVersion || hello.highest_version < kAbiVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the client library speaks versions ", hello.lowest_version, " to ",
                     hello.highest_version, ", this proxy ", kAbiVersion, "; install both of one release"));
  }
  if (attached_ >= config_.max_clients) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the proxy has ", config_.max_clients, " clients already (native.max_clients)"));
  }
  if (hello.job.empty() || hello.job.size() > TICTAC_MAX_JOB || hello.application.empty() ||
      hello.application.size() > TICTAC_MAX_APPLICATION || hello.job.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("job and application need names of 1 to ", TICTAC_MAX_JOB, " bytes"));
  }
  if (hello.max_operations == 0 || hello.max_operations > kMostOperations) {
    return absl::InvalidArgumentError(absl::StrCat("max_operations must be 1 to ", kMostOperations));
  }
  if (hello.arena_bytes == 0 || hello.arena_bytes > config_.max_arena) {
    return absl::InvalidArgumentError(absl::StrCat("an arena may have 1 to ", config_.max_arena,
                                                   " bytes, not ", hello.arena_bytes,
                                                   " (native.max_arena_mb)"));
  }
  if (hello.arena_bytes > config_.max_total_arena - total_arena_) {
    return absl::ResourceExhaustedError(absl::StrCat("all arenas together may have ", config_.max_total_arena,
                                                     " bytes, ", total_arena_,
                                                     " are taken (native.max_total_arena_mb)"));
  }
  return absl::OkStatus();
}

void NativeListener::greet(uint64_t id, Client& client, const Hello& hello) {
  std::vector<Fd> fds;
  absl::Status status = check(hello);
  if (status.ok()) status = attach(id, client, hello, &fds);
  if (!status.ok()) return refuse(id, client, std::string(status.message()));

  const std::vector<uint8_t> reply = encode(HelloReply{.version = kAbiVersion,
                                                       .max_operations = hello.max_operations,
                                                       .arena_bytes = hello.arena_bytes,
                                                       .peers = config_.peers});
  iovec vector{const_cast<uint8_t*>(reply.data()), reply.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kDescriptors)> control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * kDescriptors);
  std::array<int, kDescriptors> raw{fds[0].get(), fds[1].get(), fds[2].get()};
  std::memcpy(CMSG_DATA(header), raw.data(), sizeof(raw));
  if (sendmsg(client.socket.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) drop(id);
}

absl::Status NativeListener::attach(uint64_t id, Client& client, const Hello& hello, std::vector<Fd>* fds) {
  auto control = make_shared_memory("tictac-control", ControlLayout::of(hello.max_operations).size());
  if (!control.ok()) return control.status();
  auto arena = make_shared_memory("tictac-arena", hello.arena_bytes);
  if (!arena.ok()) return arena.status();
  std::array<int, 2> bells{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bells.data()) != 0) {
    return absl::ErrnoToStatus(errno, "no doorbell");
  }
  fds->push_back(std::move(control->fd));
  fds->push_back(std::move(arena->fd));
  fds->emplace_back(bells[0]);
  auto session =
      std::make_unique<ClientSession>(id, hello.job, hello.application, hello.max_operations,
                                      std::move(control->mapping), std::move(arena->mapping), Fd(bells[1]));
  bool accepted = false;
  if (!mailbox_.call(2s, [&](Time) { accepted = gateway_.attach(session); })) {
    return absl::UnavailableError("the proxy is too busy or stopping; try again");
  }
  if (!accepted)
    return absl::ResourceExhaustedError(absl::StrCat("the proxy carries ", kMostJobs, " jobs already"));
  client.attached = true;
  ++attached_;
  client.arena = hello.arena_bytes;
  total_arena_ += hello.arena_bytes;
  client.description = absl::StrCat(hello.application, " of job ", hello.job, " (", client.description, ")");
  spdlog::info("native: {} connected", client.description);
  return absl::OkStatus();
}

void NativeListener::refuse(uint64_t id, Client& client, const std::string& why) {
  spdlog::warn("native: {} refused: {}", client.description, why);
  const std::vector<uint8_t> reply = encode(HelloReply{.version = 0, .message = why});
  (void)send(client.socket.get(), reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  drop(id);
}

// A client that does not read its answers loses them.
void NativeListener::send_stats(Client& client, uint32_t request) {
  const std::string document = config_.stats();
  for (size_t at = 0; at <= document.size(); at += kStatsPiece) {
    const StatsReply reply{
        .id = request, .last = at + kStatsPiece > document.size(), .piece = document.substr(at, kStatsPiece)};
    const std::vector<uint8_t> message = encode(reply);
    if (send(client.socket.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
  }
}

void NativeListener::drop(uint64_t id) {
  const auto found = clients_.find(id);
  Client& client = found->second;
  client.socket = Fd();
  if (!client.attached) {
    clients_.erase(found);
    return;
  }
  spdlog::info("native: {} has gone", client.description);
  client.leaving = true;
  // The lcore empties its mailbox all the time; should it be full all the same, the memory stays until the
  // end.
  if (!mailbox_.post([this, id](Time) { gateway_.detach(id); })) {
    spdlog::error("native: cannot take back what {} had: the lcore does not answer", client.description);
  }
}

void NativeListener::take_replies() {
  while (true) {
    GatewayReply reply = gateway_.take_reply();
    if (std::holds_alternative<std::monostate>(reply)) return;
    if (const auto* broken = std::get_if<ClientBroken>(&reply)) {
      const auto found = clients_.find(broken->id);
      if (found == clients_.end() || found->second.leaving) continue;
      spdlog::warn("native: {} broke the rules ({}); closed", found->second.description,
                   name_of(broken->fault));
      drop(broken->id);
    } else if (const auto* detached = std::get_if<ClientDetached>(&reply)) {
      const auto found = clients_.find(detached->client->id);
      if (found == clients_.end()) continue;
      total_arena_ -= found->second.arena;
      --attached_;
      clients_.erase(found);
    }
  }
}

}  // namespace tictac::native
