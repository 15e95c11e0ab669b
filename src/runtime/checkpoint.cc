#include "runtime/checkpoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/error.h"
#include "plan/json_parts.h"
#include "runtime/cursor.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostPlain = 16;  // numbers written as such; more are packed
constexpr int kMostDepth = 3200;   // beyond that of any pipeline that can be opened

[[noreturn]] void damaged(const std::string& what) {
  throw Error(Code::data_loss, "the checkpoint is damaged: " + what);
}

// Differences of neighbours, zigzag, seven bits a byte.
std::string pack(std::span<const int64_t> numbers) {
  std::string out;
  uint64_t previous = 0;
  for (const int64_t n : numbers) {
    const auto difference = static_cast<int64_t>(static_cast<uint64_t>(n) - previous);
    previous = static_cast<uint64_t>(n);
    auto z = static_cast<uint64_t>(difference) << 1 ^ static_cast<uint64_t>(difference >> 63);
    for (; z >= 0x80; z >>= 7) out.push_back(static_cast<char>(z | 0x80));
    out.push_back(static_cast<char>(z));
  }
  return out;
}

RecycledVector<int64_t> unpack(const std::string& bytes) {
  RecycledVector<int64_t> out;
  uint64_t previous = 0, z = 0;
  unsigned shift = 0;
  for (const char c : bytes) {
    if (shift > 63) damaged("a number is too long");
    z |= static_cast<uint64_t>(c & 0x7F) << shift;
    shift += 7;
    if (c & 0x80) continue;
    previous += z >> 1 ^ (0 - (z & 1));
    out.push_back(static_cast<int64_t>(previous));
    z = 0;
    shift = 0;
  }
  if (shift > 0) damaged("its numbers are cut short");
  return out;
}

Json to_json(const StreamPosition& position) {
  Json out{{"rows", position.rows}};
  const StageMark* mark = stage_mark(position.mark);
  if (!mark) return out;
  out["stage"] = mark->stage();
  out["form"] = mark->form();
  out["version"] = mark->version();
  if (mark->is_transparent()) out["transparent"] = true;
  const std::span<const int64_t> numbers = mark->encoded();
  if (numbers.size() <= kMostPlain) {
    out["numbers"] = std::vector<int64_t>(numbers.begin(), numbers.end());
  } else {
    out["packed"] = to_base64(pack(numbers));
  }
  for (const Tensor& t : mark->state()) out["state"].push_back(Json(json_form::tensor_to_json(t)));
  Json& inputs = out["inputs"] = Json::array();
  for (const StreamPosition& input : mark->inputs()) inputs.push_back(to_json(input));
  return out;
}

int64_t rows_of(const Json& in) {
  const auto it = in.find("rows");
  constexpr int64_t kMostRows = int64_t{1} << 60;  // sums of some stay in range
  if (it == in.end() || !it->is_number_integer() || *it < 0 || *it > kMostRows)
    damaged("`rows` is no count");
  return it->get<int64_t>();
}

RecycledVector<int64_t> numbers_of(const Json& in) {
  if (const auto packed = in.find("packed"); packed != in.end() && packed->is_string()) {
    const auto bytes = from_base64(packed->get_ref<const std::string&>());
    if (!bytes) damaged("`packed` is no base64");
    return unpack(*bytes);
  }
  const auto it = in.find("numbers");
  if (it == in.end() || !it->is_array()) damaged("`numbers` is missing");
  RecycledVector<int64_t> out;
  for (const Json& n : *it) {
    if (!n.is_number_integer()) damaged("`numbers` holds something else");
    out.push_back(n.get<int64_t>());
  }
  return out;
}

std::vector<Tensor> state_of(const Json& in) {
  std::vector<Tensor> out;
  const auto state = in.find("state");
  if (state == in.end()) return out;
  if (!state->is_array()) damaged("`state` is no list");
  const json_form::Where where{"state"};
  try {
    for (size_t i = 0; i < state->size(); ++i)
      out.push_back(json_form::tensor_from_json((*state)[i], where[i]));
  } catch (const Error& e) {
    damaged(e.what());
  }
  return out;
}

StreamPosition from_json(const Json& in, int depth) {
  if (!in.is_object() || depth > kMostDepth) damaged("a position is expected");
  StreamPosition out;
  out.rows = rows_of(in);
  const auto stage = in.find("stage");
  if (stage == in.end()) return out;
  const auto inputs = in.find("inputs"), form = in.find("form"), version = in.find("version");
  if (!stage->is_string() || inputs == in.end() || !inputs->is_array())
    damaged("`stage` or `inputs` is missing");
  if (form == in.end() || !form->is_string() || version == in.end() ||
      !version->is_number_integer())
    damaged("`form` or `version` is missing");
  std::vector<StreamPosition> positions;
  for (const Json& input : *inputs) positions.push_back(from_json(input, depth + 1));
  out.mark = make_recycled<const StageMark>(
      nullptr, stage->get<std::string>(),
      MarkForm{form->get_ref<const std::string&>(), version->get<int>()}, numbers_of(in), positions,
      state_of(in), in.contains("transparent") && in["transparent"] == Json(true));
  return out;
}

}  // namespace

const StreamPosition& StageMark::input(size_t i) const {
  if (i >= inputs_.size()) damaged("the mark of `" + stage_ + "` has no position of its input");
  return inputs_[i];
}

StreamPosition without_transparent(StreamPosition position) {
  while (position.mark && stage_mark(position.mark)->is_transparent()) {
    const StreamPosition input = stage_mark(position.mark)->input();
    if (__builtin_add_overflow(position.rows, input.rows, &position.rows))
      damaged("`rows` is no count");
    position.mark = input.mark;
  }
  const StageMark* mark = stage_mark(position.mark);
  if (!mark) return position;
  std::vector<StreamPosition> inputs;
  for (const StreamPosition& input : mark->inputs()) inputs.push_back(without_transparent(input));
  const std::span<const int64_t> encoded = mark->encoded();
  position.mark = make_recycled<const StageMark>(
      nullptr, mark->stage(), MarkForm{mark->form(), mark->version()},
      RecycledVector<int64_t>(encoded.begin(), encoded.end()), inputs, mark->state());
  return position;
}

void InputTrail::start(const Cursor& input) { steps_.assign(1, {0, input.position()}); }

void InputTrail::note(const Cursor& input, int64_t block_rows) {
  rows_ += block_rows;
  const StreamPosition& now = input.position();
  if (now.rows == 0) steps_.push_back({rows_, now});
}

StreamPosition InputTrail::before(int64_t row) const {
  auto step = std::ranges::upper_bound(steps_, row, {}, &Step::row);
  PENSTOCK_DCHECK(step != steps_.begin());
  --step;
  return {step->position.mark, step->position.rows + row - step->row};
}

void InputTrail::forget(int64_t row) {
  const auto step = std::ranges::upper_bound(steps_, row, {}, &Step::row);
  if (step - steps_.begin() > 1) steps_.erase(steps_.begin(), step - 1);
}

std::string write_position(const StreamPosition& position) { return to_json(position).dump(); }

StreamPosition read_position(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) damaged("it is no JSON");
  return from_json(json, 0);
}

}  // namespace penstock
