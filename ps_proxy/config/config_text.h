#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/text_format.h"
#include "ps_proxy/config/config.pb.h"

namespace tictac {

// A parsed configuration text that remembers where each field stands.
class ConfigText {
 public:
  absl::Status parse(const std::string& text, const std::string& file);
  // "path=value".
  absl::Status override_field(const std::string& assignment);

  const config::Proxy& proxy() const { return proxy_; }

  // An error about the field with this path ("peers.1.address"), with the place where it was set, or where
  // the message that misses it stands.
  absl::Status error(std::string_view path, std::string_view what) const;

 private:
  std::string place_of(std::string_view path) const;

  std::string file_;
  config::Proxy proxy_;
  google::protobuf::TextFormat::ParseInfoTree places_;
  std::vector<std::string> overridden_;  // paths
};

}  // namespace tictac
