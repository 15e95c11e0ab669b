// fingerprint64, fingerprint, and the hash buckets.

#include <cstring>

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/fingerprint.h"
#include "functions/kernels/text/string_map.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

class Fingerprint final : public StringMap<uint64_t> {
 public:
  uint64_t value(std::string_view text) const override { return farm_fingerprint64(text); }
};

template <uint64_t (*hash)(std::string_view)>
class Bucket final : public StringMap<int64_t> {
 public:
  explicit Bucket(const Attrs& attrs)
      : buckets_(static_cast<uint64_t>(attrs["num_buckets"].as_int())) {}
  int64_t value(std::string_view text) const override {
    return static_cast<int64_t>(hash(text) % buckets_);
  }

 private:
  uint64_t buckets_;
};

class KeyedBucket final : public StringMap<int64_t> {
 public:
  explicit KeyedBucket(const Attrs& attrs)
      : buckets_(static_cast<uint64_t>(attrs["num_buckets"].as_int())) {
    const std::vector<int64_t> key = attrs["key"].as_ints();
    key0_ = static_cast<uint64_t>(key[0]);
    key1_ = static_cast<uint64_t>(key[1]);
  }
  int64_t value(std::string_view text) const override {
    return static_cast<int64_t>(sip_hash(text, key0_, key1_) % buckets_);
  }

 private:
  uint64_t buckets_, key0_, key1_;
};

Spec infer_bucket(const InferContext& context) {
  if (const int64_t n = context.attrs["num_buckets"].as_int(); n < 1)
    throw TypeError{-1, "num_buckets", "must be positive: " + std::to_string(n)};
  if (context.attrs.has("key")) {
    size_t words = 0;
    try {
      words = context.attrs["key"].as_ints().size();
    } catch (const Error&) {
    }
    if (words != 2) throw TypeError{-1, "key", "must be two integers"};
  }
  return infer_string_map<int64_t>(context);
}

template <typename State>
std::shared_ptr<const StringMap<int64_t>> make_bucket(const Attrs& attrs) {
  return std::make_shared<State>(attrs);
}

void add_bucket(OpRegistry* registry, std::string name, std::string doc, std::vector<Param> more,
                std::shared_ptr<const StringMap<int64_t>> (*make)(const Attrs&)) {
  std::vector<Param> params{required("num_buckets", Param::Kind::integer)};
  params.insert(params.end(), more.begin(), more.end());
  OpDef op = string_map_op<int64_t>(std::move(name), std::move(doc), std::move(params), make);
  op.infer = infer_bucket;
  op.cost_ns = 30;
  registry->add(std::move(op));
}

// -- fingerprint: of each row along axis 0

Spec infer_fingerprint(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  if (!type.shape.has_rank()) return Spec::tensor(DType::uint8, Shape::of_rank(2));
  if (type.shape.is_scalar()) context.fail(0, "is " + type.text() + ", expected rows");
  return Spec::tensor(DType::uint8, {type.shape[0], 8});
}

void fingerprint_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  if (in.dims().rank() == 0) fail_row("fingerprint", "expected rows, got a scalar");
  const int64_t rows = in.dims()[0];
  auto* out = call.outputs[0].allocate_as<uint8_t>({rows, 8});
  for (int64_t i = 0; i < rows; ++i) {
    const Tensor row = in.item(i);
    ChargedString joined;
    std::string_view bytes(reinterpret_cast<const char*>(row.data()),
                           static_cast<size_t>(row.data_bytes()));
    if (in.dtype() == DType::bytes) {
      // One string is taken whole; several by the prints of each.
      for (int64_t k = 0; k < row.entries_count(); ++k) {
        const uint64_t print = farm_fingerprint64(row.entry<BytesView>(k).view());
        joined.append(reinterpret_cast<const char*>(&print), sizeof print);
      }
      bytes = row.entries_count() == 1 ? row.entry<BytesView>().view() : joined;
    }
    const uint64_t print = farm_fingerprint64(bytes);
    std::memcpy(out + i * 8, &print, sizeof print);
  }
}

}  // namespace

void add_hash_ops(OpRegistry* registry) {
  add_bucket(registry, "to_hash_bucket_fast", "FarmHash Fingerprint64 of s, modulo num_buckets", {},
             make_bucket<Bucket<farm_fingerprint64>>);
  add_bucket(registry, "to_hash_bucket",
             "MurmurHash64A of s with TensorFlow's seed, modulo num_buckets", {},
             make_bucket<Bucket<legacy_hash64>>);
  add_bucket(registry, "to_hash_bucket_strong",
             "SipHash-2-4 of s with a key of two integers, modulo num_buckets",
             {required("key", Param::Kind::any)}, make_bucket<KeyedBucket>);
  OpDef print =
      string_map_op<uint64_t>("fingerprint64", "FarmHash Fingerprint64 of s", {},
                              [](const Attrs&) -> std::shared_ptr<const StringMap<uint64_t>> {
                                return std::make_shared<Fingerprint>();
                              });
  print.cost_ns = 20;
  registry->add(std::move(print));
  OpDef rows;
  rows.name = "fingerprint";
  rows.params = {required("x", Param::Kind::tensor)};
  rows.doc = "Fingerprint64 of the bytes of each row of x, as 8 bytes, little endian: uint8[n, 8]";
  rows.infer = infer_fingerprint;
  rows.row = fingerprint_row;
  rows.cost_ns = 100;
  rows.group = "text";
  registry->add(std::move(rows));
}

}  // namespace penstock
