// crc32c, and TFRecord's masked form of it.

#include "base/crc32c.h"

#include "functions/kernels/parse/parse_family.h"
#include "functions/kernels/text/string_map.h"

namespace penstock {
namespace {

class Crc final : public StringMap<uint32_t> {
 public:
  explicit Crc(const Attrs& attrs) : masked_(attrs["masked"].as_bool()) {}
  uint32_t value(std::string_view text) const override {
    const uint32_t crc = crc32c(std::as_bytes(std::span(text)));
    return masked_ ? (crc >> 15 | crc << 17) + 0xa282ead8u : crc;
  }

 private:
  bool masked_;
};

}  // namespace

void add_crc32c_ops(OpRegistry* registry) {
  OpDef op =
      string_map_op<uint32_t>("crc32c", "the CRC-32C of s; masked: as TFRecord files store it",
                              {option("masked", Param::Kind::boolean, Attr::boolean(false))},
                              [](const Attrs& attrs) -> std::shared_ptr<const StringMap<uint32_t>> {
                                return std::make_shared<Crc>(attrs);
                              });
  op.cost_ns = 50;
  op.group = "parse";
  registry->add(std::move(op));
}

}  // namespace penstock
