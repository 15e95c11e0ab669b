#include "fleet/fleet.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace penstock {
namespace {

std::string combination_of(const JobFacts& job) {
  std::string out;
  for (const auto& [op, bytes] : job.bytes) out += (out.empty() ? "" : " ") + op;
  return out;
}

}  // namespace

void RatioSum::add(const BytesThrough& one) {
  if (one.in <= 0) return;
  ++jobs;
  smaller += one.out < one.in;
  bytes.in += one.in;
  bytes.out += one.out;
}

void FleetSum::add(const JobFacts& job) {
  Fleet& f = fleet_;
  ++f.jobs;
  f.pipeline_cpu_seconds += job.pipeline_cpu_seconds;
  f.process_cpu_seconds += job.process_cpu_seconds;
  for (const auto& [op, bytes] : job.bytes) {
    ++f.operators[op];
    f.bytes[op] += bytes;
  }
  ++f.combinations[combination_of(job)];
  f.parallel_jobs += job.is_parallel;
  f.prefetch_jobs += job.bytes.contains("prefetch");
  f.cache_jobs += job.has_cache;
  SizeClass& size =
      job.source_bytes > 0
          ? *std::ranges::find_if(
                f.sizes, [&](const SizeClass& c) { return job.source_bytes <= c.most_bytes; })
          : f.sizes.back();
  ++size.jobs;
  size.process_cpu_seconds += job.process_cpu_seconds;
  f.whole.add(job.whole);
  f.maps.add(job.maps);
  f.filters.add(job.filters);
  Repeated& program = f.programs[job.program];
  if (program.jobs++ == 0) program.first_cpu_seconds = job.pipeline_cpu_seconds;
  program.pipeline_cpu_seconds += job.pipeline_cpu_seconds;
  if (job.elements == 0) return;
  ++f.measured_jobs;
  for (WaitClass& c : f.waits) c.jobs += job.exposed_seconds > c.seconds;
  ++f.holders[job.holder];
  f.hardware_jobs += job.is_hardware_bound;
  f.software_jobs += job.is_software_bound;
  if (job.saved_seconds <= 0) return;
  const auto place = std::ranges::upper_bound(f.fixes, job.saved_seconds, std::greater(),
                                              &JobFacts::saved_seconds);
  f.fixes.insert(place, job);
  if (f.fixes.size() > Fleet::kMostFixes) f.fixes.pop_back();
}

void FleetSum::add_read(std::variant<JobFacts, LeftOut> read) {
  if (LeftOut* const left = std::get_if<LeftOut>(&read)) {
    fleet_.left_out.push_back(std::move(*left));
    return;
  }
  const JobFacts& job = std::get<JobFacts>(read);
  if (seen_.insert(job.content).second)
    add(job);
  else
    fleet_.left_out.push_back(
        {job.file, LeftOut::Why::doubled, "the same bytes as an earlier file"});
}

void FleetSum::add_files(const std::vector<std::string>& paths, int threads) {
  constexpr size_t kAtOnce = 1024;  // facts that are held
  for (size_t first = 0; first < paths.size(); first += kAtOnce) {
    const size_t count = std::min(kAtOnce, paths.size() - first);
    std::vector<std::optional<std::variant<JobFacts, LeftOut>>> read(count);
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next++; i < count; i = next++) read[i] = read_job(paths[first + i]);
    };
    std::vector<std::jthread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(work);
    work();
    others.clear();  // joins them
    for (auto& one : read) add_read(std::move(*one));
  }
}

Reuse reuse_of(const Fleet& fleet, size_t most) {
  Reuse out;
  std::vector<double> saved;
  for (const auto& [hash, program] : fleet.programs) {
    ++out.programs;
    out.repeated_jobs += program.jobs - 1;
    saved.push_back(program.pipeline_cpu_seconds - program.first_cpu_seconds);
    out.saved_cpu_seconds += saved.back();
  }
  std::ranges::sort(saved, std::greater());
  for (size_t i = 0; i < std::min(most, saved.size()); ++i) out.saved_by_most += saved[i];
  return out;
}

}  // namespace penstock
