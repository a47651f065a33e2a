#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ps_proxy/config/proxy_config.h"

namespace tictac {

absl::StatusOr<ProxyConfig> load_config(const std::string& file, const std::vector<std::string>& overrides,
                                        ConfigUse use) {
  constexpr std::streamsize kMostBytes = 1 << 20;
  std::ifstream in(file, std::ios::binary);
  std::string text(static_cast<size_t>(kMostBytes) + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || !in.is_open() || (in.gcount() == 0 && !in.eof())) {
    return absl::NotFoundError(absl::StrCat(file, ": cannot be read; is it there, and a file?"));
  }
  if (in.gcount() > kMostBytes)
    return absl::InvalidArgumentError(absl::StrCat(file, ": is larger than 1 MiB"));
  text.resize(static_cast<size_t>(in.gcount()));
  return parse_config(text, file, overrides, use);
}

}  // namespace tictac
