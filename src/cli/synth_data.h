// Made-up data sets that weigh what real ones weigh.
//
// The same arguments give the same bytes on any number of threads. Folders are made where missing;
// files of the same names are replaced. Errors: INVALID_ARGUMENT for arguments out of range, those
// of AtomicFile, and no half file.
#pragma once

#include <cstdint>
#include <string>

namespace penstock {

struct SynthSummary {
  int64_t files = 0;
  int64_t elements = 0;
  int64_t bytes = 0;
};

// ImageNet as TensorFlow's script writes it: train-00000-of-00016 and so on, TFRecords of Examples
// with JPEG images of about 500x375 pixels and 100 KB, one in five without chroma subsampling.
// 0 <= elements, 1 <= shards <= 99999, as for the others.
SynthSummary synth_imagenet(const std::string& folder, int64_t elements, uint64_t seed,
                            int64_t shards = 16);

// text-00000-of-00004.txt and so on: a line is id, words, a decimal number and a class, between
// tabs.
SynthSummary synth_text(const std::string& folder, int64_t elements, uint64_t seed,
                        int64_t shards = 4);

// numbers-00000-of-00004 and so on, TFRecords of Examples {id: int64, label: int64, dense:
// float[16], ids: int64[0..20]}; and numbers.csv with the columns id, label, dense_0 to dense_3 of
// all of them, under a header.
SynthSummary synth_numbers(const std::string& folder, int64_t elements, uint64_t seed,
                           int64_t shards = 4);

}  // namespace penstock
