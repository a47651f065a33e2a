#include "dataplane/port/capture_file.h"

#include <pcap/pcap.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace tictac {
namespace {

struct CloseCapture {
  void operator()(pcap_t* capture) const { pcap_close(capture); }
};

absl::Status system_error(const std::string& path, const char* cure) {
  return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno), cure));
}

}  // namespace

absl::Status check_capture(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0 || access(path.c_str(), R_OK) != 0) return system_error(path, "");
  if (S_ISDIR(found.st_mode)) return absl::InvalidArgumentError(path + ": is a folder; name a capture");
  if (!S_ISREG(found.st_mode)) return absl::OkStatus();

  std::array<char, PCAP_ERRBUF_SIZE> why{};
  const std::unique_ptr<pcap_t, CloseCapture> capture(pcap_open_offline(path.c_str(), why.data()));
  if (!capture) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no capture (", why.data(), "); pcap and pcapng are read"));
  }
  if (const int type = pcap_datalink(capture.get()); type != DLT_EN10MB) {
    const char* name = pcap_datalink_val_to_name(type);
    return absl::InvalidArgumentError(absl::StrCat(path, ": holds frames of type ", name ? name : "unknown",
                                                   ", not of Ethernet; record on an Ethernet interface"));
  }
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  for (uint64_t frame = 1;; ++frame) {
    const int result = pcap_next_ex(capture.get(), &header, &bytes);
    if (result == PCAP_ERROR_BREAK) return absl::OkStatus();  // the end
    if (result != 1) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": frame ", frame, " cannot be read (",
                                                     pcap_geterr(capture.get()),
                                                     "); record it again, or cut it before that frame"));
    }
  }
}

absl::Status check_capture_target(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) return absl::InvalidArgumentError(path + ": is a folder; name a file");
    return access(path.c_str(), W_OK) == 0 ? absl::OkStatus() : system_error(path, "; choose another file");
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return access(folder.c_str(), W_OK | X_OK) == 0
             ? absl::OkStatus()
             : system_error(path, "; make its folder, or choose another one");
}

}  // namespace tictac
