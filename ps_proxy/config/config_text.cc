#include "ps_proxy/config/config_text.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/io/tokenizer.h"

namespace tictac {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::TextFormat;

absl::Status wrong(absl::string_view text) { return absl::InvalidArgumentError(text); }

std::string fields_of(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return absl::StrJoin(names, ", ");
}

// Keeps the first error only: the others follow from it.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    line_ = line;
    column_ = column;
    text_ = message;
  }
  // `Message type "tictac.config.Native" has no field named "x".` gets the fields that there are.
  std::string text(const std::string& file) const {
    std::string cure;
    const std::vector<std::string> quoted = absl::StrSplit(text_, '"');
    if (absl::StrContains(text_, "has no field named") && quoted.size() > 1) {
      const auto* type = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(quoted[1]);
      if (type) cure = absl::StrCat(" It has: ", fields_of(*type), ".");
    }
    return absl::StrCat(file, ":", line_ + 1, ":", column_ + 1, ": ", text_, cure);
  }

 private:
  int line_ = 0;
  int column_ = 0;
  std::string text_;
};

absl::Status set_leaf(Message& message, const FieldDescriptor& field, const std::string& value) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      reflection.SetString(&message, &field, value);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_UINT32: {
      uint32_t number = 0;
      if (!absl::SimpleAtoi(value, &number)) return wrong(absl::StrCat("\"", value, "\" is no whole number"));
      reflection.SetUInt32(&message, &field, number);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      bool flag = false;
      if (!absl::SimpleAtob(value, &flag)) return wrong(absl::StrCat("\"", value, "\" is not true or false"));
      reflection.SetBool(&message, &field, flag);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* known = field.enum_type()->FindValueByName(value);
      if (!known) {
        std::vector<std::string> names;
        for (int i = 0; i < field.enum_type()->value_count(); ++i) {
          names.push_back(field.enum_type()->value(i)->name());
        }
        return wrong(absl::StrCat("\"", value, "\" is none of ", absl::StrJoin(names, ", ")));
      }
      reflection.SetEnum(&message, &field, known);
      return absl::OkStatus();
    }
    default:
      return wrong("is a group of fields; name one inside of it");
  }
}

// The message to go on with for path component `field` (and the index behind it, if it is repeated).
Message* descend(Message& message, const FieldDescriptor& field, const std::vector<std::string>& path,
                 size_t* at) {
  const Reflection& reflection = *message.GetReflection();
  if (!field.is_repeated()) return reflection.MutableMessage(&message, &field);
  int index = 0;
  if (*at + 1 >= path.size() || !absl::SimpleAtoi(path[*at + 1], &index) || index < 0) return nullptr;
  ++*at;
  const int size = reflection.FieldSize(message, &field);
  if (index > size) return nullptr;
  return index == size ? reflection.AddMessage(&message, &field)
                       : reflection.MutableRepeatedMessage(&message, &field, index);
}

}  // namespace

absl::Status ConfigText::parse(const std::string& text, const std::string& file) {
  file_ = file;
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(&places_);
  parser.SetRecursionLimit(16);
  return parser.ParseFromString(text, &proxy_) ? absl::OkStatus() : wrong(error.text(file));
}

absl::Status ConfigText::override_field(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  const auto fail = [&](absl::string_view what) {
    return wrong(absl::StrCat("--set ", assignment, ": ", what));
  };
  if (equals == std::string::npos || equals == 0) return fail("write it as path=value");
  const std::string path_text = assignment.substr(0, equals);
  const std::vector<std::string> path = absl::StrSplit(path_text, '.');
  Message* message = &proxy_;
  for (size_t at = 0; at < path.size(); ++at) {
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(path[at]);
    if (!field) {
      return fail(absl::StrCat("there is no field \"", path[at],
                               "\" here, but: ", fields_of(*message->GetDescriptor())));
    }
    if (at + 1 == path.size()) {
      const absl::Status set = set_leaf(*message, *field, assignment.substr(equals + 1));
      if (!set.ok()) return fail(set.message());
      overridden_.push_back(path_text);
      return absl::OkStatus();
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return fail(absl::StrCat("\"", path[at], "\" has no fields"));
    }
    message = descend(*message, *field, path, &at);
    if (!message)
      return fail(absl::StrCat("\"", field->name(),
                               "\" is a list: name an element of it, or the next, by its number from 0"));
  }
  return fail("names a whole element; name a field of it");
}

std::string ConfigText::place_of(std::string_view path_text) const {
  if (std::find(overridden_.begin(), overridden_.end(), path_text) != overridden_.end()) return "--set";
  const std::vector<std::string> path =
      absl::StrSplit(absl::string_view(path_text.data(), path_text.size()), '.');
  const Descriptor* type = config::Proxy::descriptor();
  const TextFormat::ParseInfoTree* tree = &places_;
  int line = -1;
  for (size_t at = 0; at < path.size() && type && tree; ++at) {
    const FieldDescriptor* field = type->FindFieldByName(path[at]);
    if (!field) break;
    int index = field->is_repeated() ? 0 : -1;
    if (field->is_repeated() && at + 1 < path.size() && absl::SimpleAtoi(path[at + 1], &index)) ++at;
    const auto place = tree->GetLocation(field, index);
    if (place.line >= 0) line = place.line;
    type = field->message_type();
    tree = type ? tree->GetTreeForNested(field, index) : nullptr;
  }
  return line < 0 ? file_ : absl::StrCat(file_, ":", line + 1);
}

absl::Status ConfigText::error(std::string_view path, std::string_view what) const {
  return wrong(absl::StrCat(place_of(path), ": ", absl::string_view(path.data(), path.size()), ": ",
                            absl::string_view(what.data(), what.size())));
}

}  // namespace tictac
