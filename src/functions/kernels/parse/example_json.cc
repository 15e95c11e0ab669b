#include "functions/kernels/parse/example_json.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/json_mistake.h"
#include "data/charged.h"
#include "functions/kernels/parse/base64_text.h"
#include "functions/kernels/parse/example_writer.h"
#include "functions/kernels/parse/json_text.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& what) {
  throw Error(Code::invalid_argument, "not the JSON of a tf.train.Example: " + what);
}

const Json* member(const Json& object, const char* name, const char* proto_name) {
  for (const char* key : {name, proto_name}) {
    if (const auto it = object.find(key); it != object.end()) return &*it;
  }
  return nullptr;
}

// A message's fields: an object, or null for none. All must be known.
bool has_fields(const Json& json, std::initializer_list<const char*> known, const char* what) {
  if (json.is_null()) return false;
  if (!json.is_object()) fail(std::string(what) + " is no object");
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::find(known, key) == known.end())
      fail(std::string(what) + " has the unknown field " + key);
  }
  return true;
}

// Numbers may stand in quotes.
int64_t integer_of(const Json& json) {
  if (json.is_number_integer()) {
    if (json.is_number_unsigned() &&
        json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      fail("an integer that does not fit: " + brief_json(json));
    return json.get<int64_t>();
  }
  if (json.is_number_float()) {
    const double value = json.get<double>();
    if (value == std::trunc(value) && std::abs(value) < 9e18) return static_cast<int64_t>(value);
  }
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc() && end == text.data() + text.size()) return value;
  }
  fail("no integer: " + brief_json(json));
}

float float_of(const Json& json) {
  if (json.is_number()) return static_cast<float>(json.get<double>());
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text == "NaN") return std::numeric_limits<float>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<float>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<float>::infinity();
    float value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc() && end == text.data() + text.size()) return value;
  }
  fail("no float: " + brief_json(json));
}

ChargedString bytes_of(const Json& json) {
  if (!json.is_string()) fail("no base64: " + brief_json(json));
  ChargedString out;
  if (!decode_any_base64(json.get_ref<const std::string&>(), &out))
    fail("no base64: " + brief_json(json));
  return out;
}

template <typename T, typename F>
ChargedVector<T> values_of(const Json& list, F&& read) {
  ChargedVector<T> out;
  if (!has_fields(list, {"value"}, "a list") || !list.contains("value")) return out;
  const Json& values = list["value"];
  if (values.is_null()) return out;
  if (!values.is_array()) fail("value is no array");
  for (const Json& value : values) out.push_back(read(value));
  return out;
}

void add_feature(const std::string& key, const Json& feature, ExampleWriter* writer) {
  if (!has_fields(feature,
                  {"int64List", "int64_list", "floatList", "float_list", "bytesList", "bytes_list"},
                  "a feature"))
    return;
  const Json* ints = member(feature, "int64List", "int64_list");
  const Json* floats = member(feature, "floatList", "float_list");
  const Json* strings = member(feature, "bytesList", "bytes_list");
  if ((ints != nullptr) + (floats != nullptr) + (strings != nullptr) > 1)
    fail("feature " + key + " has two kinds");
  if (ints) writer->set_int64s(key, values_of<int64_t>(*ints, integer_of));
  if (floats) writer->set_floats(key, values_of<float>(*floats, float_of));
  if (!strings) return;
  const auto own = values_of<ChargedString>(*strings, bytes_of);
  writer->set_bytes(key, ChargedVector<std::string_view>(own.begin(), own.end()));
}

// Refuses keys that occur twice in one object, which JSON's parser would let pass.
Json parsed(std::string_view text) {
  std::vector<std::set<std::string>> keys;  // bounded: counted with the tree
  const auto check = [&keys](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      fail("the key " + value.get<std::string>() + " stands twice in one object");
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::parse_error& error) {
    fail("at byte " + std::to_string(error.byte) + " the text is no JSON" + json_mistake(text));
  } catch (const Json::out_of_range&) {
    fail("a number is larger than any float64");
  }
}

}  // namespace

std::string example_from_json(std::string_view json) {
  const Charge tree = json_tree(json.size());
  const Json root = parsed(json);
  ExampleWriter writer;
  if (!root.is_object()) fail("it is no object");
  has_fields(root, {"features"}, "the example");
  if (root.contains("features") && has_fields(root["features"], {"feature"}, "features") &&
      root["features"].contains("feature") && !root["features"]["feature"].is_null()) {
    const Json& map = root["features"]["feature"];
    if (!map.is_object()) fail("feature is no object");
    for (const auto& [key, feature] : map.items()) add_feature(key, feature, &writer);
  }
  return writer.serialize();
}

}  // namespace penstock
