// Sound in files: everything that libsndfile reads (WAV, FLAC, OGG, AIFF, ...), by content.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/charged.h"

namespace penstock {

struct Sound {
  int64_t frames = 0;
  int64_t channels = 0;
  int64_t rate = 0;              // frames a second
  ChargedVector<float> samples;  // [frames, channels], in [-1, 1] where stored as integers
};

// Reads a whole file. Errors: INVALID_ARGUMENT for what is no sound, is not supported or (with
// `wav_only`) is no WAV file of integers or floats; DATA_LOSS for a cut or damaged file, which
// libsndfile would partly give; RESOURCE_EXHAUSTED for more than max_samples. Thread-safe.
Sound decode_sound(const char* who, std::string_view file, bool wav_only, int64_t max_samples);

// A WAV file of 16-bit integers; beyond [-1, 1) saturates, NaN is 0. REQUIRES rate in 1 to 2^31.
ChargedString encode_wav(const float* samples, int64_t frames, int64_t channels, int64_t rate);

}  // namespace penstock
