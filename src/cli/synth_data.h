// Synthetic data sets with the sizes of real ones.
//
// The same arguments give the same bytes on any number of threads. Missing folders are made; files
// of the same names are replaced. Throws INVALID_ARGUMENT for arguments out of range, and the
// errors of AtomicFile; leaves no partial file.
#pragma once

#include <cstdint>
#include <string>

namespace penstock {

struct SynthSummary {
  int64_t files = 0;
  int64_t elements = 0;
  int64_t bytes = 0;
};

// ImageNet as written by TensorFlow's script: train-00000-of-00016 and so on, TFRecords of Examples
// with JPEG images of about 500x375 pixels and 100 KB, one in five without chroma subsampling.
// `split` is the prefix of the files' names. REQUIRES 0 <= elements, 1 <= shards <= 99999; so do
// the others.
SynthSummary synth_imagenet(const std::string& folder, int64_t elements, uint64_t seed,
                            int64_t shards = 16, const std::string& split = "train");

// DIR/train/CLASS/0000012.JPEG in ten class folders, as in ImageNet.
SynthSummary synth_images(const std::string& folder, int64_t elements, uint64_t seed);

// COCO as written for the TPU models: TFRecords train-... of Examples with a JPEG image, up to
// eight objects (none in one of 50 images), their boxes, classes, crowd flags and masks as PNG.
SynthSummary synth_coco(const std::string& folder, int64_t elements, uint64_t seed,
                        int64_t shards = 16);

// Clicks in Criteo's form, 40 fields separated by tabs, some of them empty: day_0.tsv and the same
// rows as day_0.gz, and so on.
SynthSummary synth_clicks(const std::string& folder, int64_t elements, uint64_t seed,
                          int64_t shards = 4);

// Pairs of sentences in the formats that translation systems read: train.en and train.de; pairs-*
// as JSON lines {en, de}; ids-* as records of 3 x 48 + 3 int32; packed-* as TFRecords; with
// vocab.en, vocab.de and the SentencePiece model pieces.model.
SynthSummary synth_translation(const std::string& folder, int64_t elements, uint64_t seed,
                               int64_t shards = 4);

// Documents: tar archives of .txt members; JSON lines {text} under web, code, wiki and books;
// tokens.bin of uint16; pieces.model.
SynthSummary synth_documents(const std::string& folder, int64_t elements, uint64_t seed,
                             int64_t shards = 4);

// Speech: clips/*.flac of 1 to 16 s at 16 kHz, train.jsonl {audio, text, duration}, letters.txt,
// and mean.npy and std.npy of 80 channels.
SynthSummary synth_speech(const std::string& folder, int64_t elements, uint64_t seed);

// text-00000-of-00004.txt and so on: each line has an id, words, a decimal number and a class,
// separated by tabs.
SynthSummary synth_text(const std::string& folder, int64_t elements, uint64_t seed,
                        int64_t shards = 4);

// numbers-00000-of-00004 and so on, TFRecords of Examples {id: int64, label: int64, dense:
// float[16], ids: int64[0..20]}; and numbers.csv with a header and the columns id, label, dense_0
// to dense_3 of all of them.
SynthSummary synth_numbers(const std::string& folder, int64_t elements, uint64_t seed,
                           int64_t shards = 4);

}  // namespace penstock
