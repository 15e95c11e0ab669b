// Hashes whose values are part of data formats: equal on all machines, for ever.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock {

// FarmHash's Fingerprint64 (farmhashna), as TensorFlow's to_hash_bucket_fast and fingerprint use
// it.
uint64_t farm_fingerprint64(std::string_view text);
// SipHash-2-4 with a key of 128 bits.
uint64_t sip_hash(std::string_view text, uint64_t key0, uint64_t key1);
// MurmurHash64A with the seed of TensorFlow's to_hash_bucket.
uint64_t legacy_hash64(std::string_view text);

}  // namespace penstock
