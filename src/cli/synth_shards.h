// Writes files of synthetic data: folders, names, several files at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/synth_data.h"

namespace penstock {

// Makes the folder. Throws INVALID_ARGUMENT for numbers out of range.
void prepare_folder(const std::string& folder, int64_t elements, int64_t shards);

// Returns folder/name-00003-of-00016ending.
std::string shard_path(const std::string& folder, const char* name, int64_t shard, int64_t shards,
                       const char* ending = "");

// Writes the shards' files on all cores; `write` makes one from elements [first, last) and returns
// its bytes.
using WriteShard = std::function<int64_t(int64_t shard, int64_t first, int64_t last)>;
SynthSummary write_shards(int64_t elements, int64_t shards, const WriteShard& write);

// Writes a TFRecord file of the elements [first, last); returns its bytes.
int64_t write_records(const std::string& path, int64_t first, int64_t last,
                      const std::function<std::string(int64_t)>& record);
// Writes a file of what `append` adds for each element; returns its bytes.
int64_t write_rows(const std::string& path, int64_t first, int64_t last,
                   const std::function<void(int64_t, std::string*)>& append);

}  // namespace penstock
