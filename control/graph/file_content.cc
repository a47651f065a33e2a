#include "control/graph/file_content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "dataplane/base/error_place.h"

namespace tictac {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;  // of inflateInit2

bool is_gzip(const std::string& content) {
  return content.size() >= 2 && content[0] == '\x1f' && content[1] == '\x8b';
}

absl::StatusOr<std::string> read_raw(const std::string& path, uint64_t most) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  const absl::Cleanup close_fd = [fd] { close(fd); };
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  std::string content;
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
    if (n == 0) return content;
    content.append(buffer.data(), static_cast<size_t>(n));
    if (content.size() > most)
      return absl::InvalidArgumentError(absl::StrCat(path, ": larger than ", most, " bytes"));
  }
}

}  // namespace

absl::StatusOr<std::string> gunzip(const std::string& compressed, uint64_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return absl::InternalError("zlib does not start");
  const absl::Cleanup end = [&stream] { inflateEnd(&stream); };
  std::string content;
  std::array<char, 1 << 16> buffer{};
  size_t given = 0;
  int state = Z_OK;
  while (true) {
    if (stream.avail_in == 0) {
      const size_t piece = std::min<size_t>(compressed.size() - given, 1 << 20);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data() + given));
      stream.avail_in = static_cast<uInt>(piece);
      given += piece;
      if (piece == 0) return absl::DataLossError("the gzip data ends early; copy the file again");
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
      return absl::DataLossError(absl::StrCat("broken gzip data near byte ", given - stream.avail_in, ": ",
                                              stream.msg ? stream.msg : "unknown", "; copy the file again"));
    }
    content.append(buffer.data(), buffer.size() - stream.avail_out);
    if (content.size() > most) {
      return absl::InvalidArgumentError(absl::StrCat("more than ", most, " bytes after decompression"));
    }
    if (state != Z_STREAM_END) continue;
    if (stream.avail_in == 0 && given == compressed.size()) return content;
    if (inflateReset(&stream) != Z_OK) return absl::InternalError("zlib does not start again");
  }
}

absl::StatusOr<std::string> read_content(const std::string& path, uint64_t most) {
  absl::StatusOr<std::string> raw = read_raw(path, most);
  if (!raw.ok() || !is_gzip(*raw)) return raw;
  absl::StatusOr<std::string> content = gunzip(*raw, most);
  if (!content.ok()) return at_place(path, content.status());
  return content;
}

}  // namespace tictac
