#include "plan/static_forms.h"

#include <algorithm>

namespace penstock {
namespace {

const std::vector<StaticForm>& forms() {
  using Kind = Param::Kind;
  static const std::vector<StaticForm> all{
      {"vocabulary",
       {required("file", Kind::text), optional("default", Kind::any, {}),
        optional("oov_buckets", Kind::integer, {}), option("size", Kind::any, {}),
        option("key_column", Kind::any, {}), option("value_column", Kind::any, {}),
        option("key_dtype", Kind::dtype, {}), option("value_dtype", Kind::dtype, {}),
        option("delimiter", Kind::text, {})},
       true},
      {"table",
       {required("keys", Kind::any), optional("values", Kind::any, {}),
        option("default", Kind::any, {}), option("oov_buckets", Kind::integer, {})},
       true,
       true},
      {"sentencepiece", {required("file", Kind::text)}},
      {"bpe", {required("vocab", Kind::text), optional("merges", Kind::text, {})}},
  };
  return all;
}

}  // namespace

const StaticForm* find_static_form(std::string_view name) {
  const auto it = std::ranges::find(forms(), name, &StaticForm::name);
  return it == forms().end() ? nullptr : &*it;
}

const StaticForm* static_form_of(const Attr& attr) {
  if (attr.kind() != Attr::Kind::dict || attr.keys().empty() || attr.keys()[0] != "is")
    return nullptr;
  const Attr& name = attr.items()[0];
  const bool text =
      name.is_tensor() && name.tensor().dtype() == DType::bytes && name.tensor().dims().rank() == 0;
  return text ? find_static_form(name.as_string()) : nullptr;
}

}  // namespace penstock
