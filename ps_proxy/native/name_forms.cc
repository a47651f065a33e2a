#include "ps_proxy/native/name_forms.h"

#include "dataplane/base/tensor_name.h"

namespace tictac::native {

NameForms forms_of(std::string_view name) {
  constexpr std::string_view kReadOp = "/Read/ReadVariableOp";
  NameForms result;
  const auto add = [&result](std::string_view form) {
    if (!form.empty() && form != result.forms[result.count - 1]) result.forms[result.count++] = form;
  };
  result.forms[result.count++] = name;
  std::string_view canonical = parse_tensor_name(name).canonical;
  const std::string_view without_edge = name.substr(static_cast<size_t>(canonical.data() - name.data()));
  add(without_edge);
  if (canonical.size() > kReadOp.size() && canonical.ends_with(kReadOp)) {
    canonical.remove_suffix(kReadOp.size());
  }
  add(canonical);
  return result;
}

std::optional<AutoKey> auto_key(std::string_view name) {
  const TensorName parsed = parse_tensor_name(name);
  if (!parsed.edge) return std::nullopt;
  return AutoKey{.is_gradient = parsed.canonical.starts_with("gradients/"), .number = *parsed.edge};
}

}  // namespace tictac::native
