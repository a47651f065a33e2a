#include "ps_proxy/client/stats.h"

#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "ps_proxy/client/client_state.h"
#include "ps_proxy/client/hello.h"

namespace tictac::native {
namespace {

constexpr auto kStatsTimeout = std::chrono::seconds(2);

// Collects the pieces of reply `id`; those of requests that timed out earlier are skipped.
int receive_document(int socket, uint32_t id, bool* gone, std::string* document) {
  const auto end = std::chrono::steady_clock::now() + kStatsTimeout;
  std::vector<uint8_t> buffer(kMostMessage);
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd waiting{socket, POLLIN, 0};
    if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) == 0) {
      return fail(TICTAC_TIMEOUT, "the proxy does not answer; is it stopped?");
    }
    const ssize_t size = recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size == 0) {
      *gone = true;
      return fail(TICTAC_PROXY_GONE, "the proxy has gone; close this client and connect again");
    }
    StatsReply reply;
    if (size < 0 || !decode(ByteSpan(buffer.data(), static_cast<size_t>(size)), &reply)) continue;
    if (reply.id != id) continue;
    *document += reply.piece;
    if (reply.last) return TICTAC_OK;
  }
}

}  // namespace

int read_stats(const std::string& path, std::string* document) {
  Fd socket;
  if (const int status = open_socket(path, &socket)) return status;
  const std::vector<uint8_t> request = encode_stats_request(1);
  if (send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return fail_system("send");
  bool gone = false;
  return receive_document(socket.get(), 1, &gone, document);
}

}  // namespace tictac::native

int tictac_stats(tictac_client* client, char* json, size_t capacity, size_t* size) {
  using namespace tictac::native;
  if (client == nullptr || json == nullptr || size == nullptr) {
    return fail(TICTAC_BAD_ARGUMENT, "client, json or size is null");
  }
  if (client->gone) return fail(TICTAC_PROXY_GONE, "the proxy has gone; close this client and connect again");
  const std::vector<uint8_t> request = encode_stats_request(++client->stats_id);
  if (send(client->socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    client->gone = true;
    return fail(TICTAC_PROXY_GONE, "the proxy has gone; close this client and connect again");
  }
  std::string document;
  if (const int status = receive_document(client->socket.get(), client->stats_id, &client->gone, &document))
    return status;
  *size = document.size() + 1;
  if (*size > capacity)
    return fail(TICTAC_NO_MEMORY, "the statistics need " + std::to_string(*size) + " bytes");
  std::memcpy(json, document.c_str(), *size);
  return TICTAC_OK;
}
