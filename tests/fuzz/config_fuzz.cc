// Configuration texts. The first line is an override, the rest the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ps_proxy/config/proxy_config.h"

using namespace tictac;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const size_t line_end = std::min(all.find('\n'), all.size());
  const std::string text = all.substr(std::min(line_end + 1, all.size()));
  std::vector<std::string> overrides;
  if (line_end > 0) overrides.push_back(all.substr(0, line_end));
  for (const ConfigUse use : {ConfigUse::kSidecar, ConfigUse::kRelay}) {
    const auto config = parse_config(text, "f", overrides, use);
    if (!config.ok() && config.status().message().empty()) __builtin_trap();
  }
  return 0;
}
