#include "functions/kernels/text/unigram_encoder.h"

#include <doctest/doctest.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "base/source_dir_test.h"
#include "data/charged.h"

using namespace penstock;

namespace {

std::string read(const std::string& name) {
  std::ifstream in(source_dir() + "/tests/golden/functions/tokenize/" + name, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Words of the model, letters, marks that join with letters, white space of all kinds, wide and
// narrow forms, and bytes that are no text.
std::string draw(std::mt19937& random, const sentencepiece::SentencePieceProcessor& library) {
  const char* const odd[] = {" ",
                             "  ",
                             "\t",
                             "\n",
                             "\xc2\xa0",
                             "\xe3\x80\x80",
                             "\xcc\x81",
                             "\xcc\x88",
                             "e\xcc\x81",
                             "\xef\xbc\xa1",
                             "\xe2\x84\xa2",
                             "\xef\xac\x81",
                             "\xe4\xb8\xad",
                             "\xf0\x9f\x98\x80",
                             "\xe2\x96\x81",
                             "\xff",
                             "\xc3",
                             "\xed\xa0\x80",
                             "\xc0\x80",
                             "\xf5\x80\x80\x80",
                             "<s>",
                             "<unk>",
                             "\xe2\x80\x8b"};
  std::string out;
  const size_t parts = random() % (random() % 50 == 0 ? 1000 : 30);
  for (size_t i = 0; i < parts; ++i) {
    switch (random() % 5) {
      case 0: out += odd[random() % std::size(odd)]; break;
      case 1: out += static_cast<char>(random() % 128); break;
      case 2: out += ' '; break;
      case 3: out += static_cast<char>('a' + random() % 26); break;
      default: {
        const auto pieces = static_cast<uint32_t>(library.GetPieceSize());
        out += library.IdToPiece(static_cast<int>(random() % pieces));
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("unigram models give what the library gives") {
  const uint32_t seed = std::random_device()();
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (const char* name : {"sp_unigram.model", "sp_unigram_identity.model"}) {
    const std::string model = read(name);
    sentencepiece::SentencePieceProcessor library;
    REQUIRE(library.LoadFromSerializedProto(model).ok());
    const auto ours = UnigramEncoder::from(model);
    REQUIRE(ours);
    for (int round = 0; round < 20'000; ++round) {
      const std::string text = draw(random, library);
      std::vector<int> right;
      REQUIRE(library.Encode(text, &right).ok());
      ChargedVector<int32_t> got;
      ours->encode(text, &got);
      INFO(name << ": " << text);
      REQUIRE(std::ranges::equal(got, right));
    }
  }
}

TEST_CASE("other models are left to the library, damaged ones too") {
  CHECK_FALSE(UnigramEncoder::from(read("sp_bpe.model")));
  CHECK_FALSE(UnigramEncoder::from(read("sp_unigram_bytes.model")));
  CHECK_FALSE(UnigramEncoder::from(""));
  CHECK_FALSE(UnigramEncoder::from("\x0a\xff"));
  const std::string model = read("sp_unigram.model");
  for (size_t size = 0; size < model.size(); size += 1 + size / 7) {
    ChargedVector<int32_t> ids;
    if (const auto cut = UnigramEncoder::from(std::string_view(model).substr(0, size)))
      cut->encode("some text \xe2\x84\xa2", &ids);
  }
}
