#include "cli/synth_shards.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

#include "base/start_thread.h"
#include "io/file.h"
#include "io/record_writer.h"

namespace penstock {

void prepare_folder(const std::string& folder, int64_t elements, int64_t shards) {
  if (elements < 0 || shards < 1 || shards > 99'999) {
    throw Error(Code::invalid_argument, "synth: elements must be 0 or more, shards 1 to 99999: " +
                                            std::to_string(elements) + ", " +
                                            std::to_string(shards));
  }
  make_folder(folder);
}

std::string shard_path(const std::string& folder, const char* name, int64_t shard, int64_t shards,
                       const char* ending) {
  char text[64];
  std::snprintf(text, sizeof text, "/%s-%05d-of-%05d%s", name, static_cast<int>(shard),
                static_cast<int>(shards), ending);
  return folder + text;
}

SynthSummary write_shards(int64_t elements, int64_t shards, const WriteShard& write) {
  std::atomic<int64_t> next{0}, bytes{0};
  const size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 16);
  std::vector<std::exception_ptr> failures(threads);
  auto work = [&](size_t thread) {
    try {
      for (int64_t shard = next++; shard < shards; shard = next++) {
        bytes += write(shard, elements * shard / shards, elements * (shard + 1) / shards);
      }
    } catch (...) {
      failures[thread] = std::current_exception();
      next = shards;
    }
  };
  std::vector<std::thread> pool(threads - 1);
  for (size_t i = 1; i < threads; ++i) {
    if (!start_thread(&pool[i - 1], [&work, i] { work(i); })) break;  // continue with fewer threads
  }
  work(0);
  for (std::thread& thread : pool) {
    if (thread.joinable()) thread.join();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return {shards, elements, bytes};
}

int64_t write_records(const std::string& path, int64_t first, int64_t last,
                      const std::function<std::string(int64_t)>& record) {
  RecordWriter writer(path);
  for (int64_t i = first; i < last; ++i) writer.write(record(i));
  writer.close();
  return writer.file_bytes();
}

int64_t write_rows(const std::string& path, int64_t first, int64_t last,
                   const std::function<void(int64_t, std::string*)>& append) {
  AtomicFile file(path);
  std::string rows;
  for (int64_t i = first; i < last; ++i) {
    append(i, &rows);
    if (rows.size() > 1 << 20) {
      file.append(rows);
      rows.clear();
    }
  }
  file.append(rows);
  file.commit();
  return file.bytes();
}

}  // namespace penstock
