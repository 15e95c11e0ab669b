#include "datasets/disk_cache.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>

#include "datasets/snapshot_cursor.h"
#include "io/file_system.h"
#include "io/snapshot.h"
#include "plan/user_code.h"
#include "runtime/indexed.h"
#include "runtime/named_files.h"

namespace penstock {
namespace {

constexpr const char* kSuffix = ".snapshot";

void say_without(const std::string& folder, const std::string& reason) {
  std::fprintf(stderr, "penstock: cache: %s: %s; going on without it\n", folder.c_str(),
               reason.c_str());
}

// Does nothing if there is no such file, or it may not be removed.
void remove_file(const std::string& path) {
  const ResolvedName at = resolve_name("remove", path);
  at.files->remove(at.name);
}

struct Entry {
  std::string path;
  int64_t used_ns;
  int64_t bytes;
};

// Takes whole entries away, those longest unused first, until the others fit. Whoever reads one
// keeps it to the end.
void evict(const std::string& folder, const std::string& kept, int64_t limit_bytes) {
  const ResolvedName at = resolve_name("list", folder);
  std::vector<FolderEntry> listed;
  try {
    listed = at.files->list(at.name);
  } catch (const Error&) {
    return;  // the next pass that writes an entry tries again
  }
  std::vector<Entry> entries;
  int64_t total = 0;
  for (const FolderEntry& file : listed) {
    if (!file.name.ends_with(kSuffix)) continue;
    const std::string path = joined_name(at.name, file.name);
    const FileStatus status = at.files->status(path);
    entries.push_back({path, status.time_ns, status.bytes});
    total += status.bytes;
  }
  std::ranges::sort(entries, {}, &Entry::used_ns);
  for (const Entry& e : entries) {
    if (total <= limit_bytes) return;
    if (e.path == kept || !at.files->remove(e.path)) continue;
    total -= e.bytes;
  }
}

// What the passes of one pipeline know of their entry.
struct EntryState : CachedPasses {
  std::mutex mutex;
  std::optional<uint64_t> epoch;  // of a whole pass: others give its rows, from the entry or anew
};

// A pass that hands on what its input gives.
struct Pass {
  std::shared_ptr<EntryState> state;
  uint64_t epoch = 0;       // ours
  uint64_t fill_epoch = 0;  // whose rows they are
  int64_t given = 0;
  // Given up: an error among its rows, or no file to write them to.
  int64_t phase = EntryMark::filling;
  bool partial = false;      // the rows before it are another plan's: `given` counts from there
  bool transparent = false;  // its marks
};

// Writes down what its input gives, where it has a writer. Taken up from a checkpoint it has none:
// the rows before are not there. It hands on the rest, and the next pass writes.
class WritingCursor final : public Cursor {
 public:
  WritingCursor(CursorPtr input, int64_t expected, const DiskCacheOptions& options,
                std::string path, std::unique_ptr<FileLock> lock,
                std::unique_ptr<SnapshotWriter> writer, Pass pass)
      : options_(options),
        path_(std::move(path)),
        expected_(expected),
        input_(std::move(input)),
        lock_(std::move(lock)),
        writer_(std::move(writer)),
        pass_(std::move(pass)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    const Poll poll = input_->pull(out, pull);
    if (poll == Poll::end) attempt([&] { complete(); });
    if (poll != Poll::ready) return poll;
    pass_.given += out->rows;
    if (!out->errors.empty()) {
      stop();
    } else {
      attempt([&] { add(*out); });
    }
    if (pass_.fill_epoch != pass_.epoch) out->origin = out->origin.with_epoch(pass_.epoch);
    set_mark(
        out,
        EntryMark{pass_.phase, pass_.given, pass_.fill_epoch, pass_.partial, pass_.transparent},
        {input_->position()});
    return Poll::ready;
  }

 private:
  void add(const Block& block) {
    if (writer_) writer_->write(block);
    if (writer_ && options_.size_limit_bytes > 0 && writer_->bytes() > options_.size_limit_bytes) {
      throw Error(Code::resource_exhausted, "the entry is larger than size_limit, " +
                                                std::to_string(options_.size_limit_bytes) +
                                                " bytes");
    }
    if (pass_.given == expected_) complete();
  }

  void complete() {
    const bool wrote = writer_ != nullptr;
    if (wrote) writer_->close();
    stop();
    pass_.phase = EntryMark::complete;
    {
      std::lock_guard lock(pass_.state->mutex);
      pass_.state->epoch = pass_.fill_epoch;
    }
    if (wrote && options_.size_limit_bytes > 0)
      evict(options_.folder, path_, options_.size_limit_bytes);
  }

  template <typename F>
  void attempt(F&& f) {
    if (pass_.phase != EntryMark::filling) return;
    try {
      f();
    } catch (const Error& e) {
      say_without(options_.folder, e.message());
      stop();
    }
  }

  void stop() {
    pass_.phase = EntryMark::given_up;
    writer_.reset();
    lock_.reset();
  }

  const DiskCacheOptions options_;
  const std::string path_;
  const int64_t expected_;  // rows of a whole pass, negative: not known
  CursorPtr input_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<SnapshotWriter> writer_;
  Pass pass_;
};

// A damaged entry is removed: it is made anew. `*epoch` is the one that its rows were drawn in.
bool is_whole(const std::string& path, const Spec& spec, uint64_t* epoch) {
  if (!file_status(path).exists()) return false;
  try {
    const SnapshotInfo info = read_snapshot_info(path);
    *epoch = info.epoch;
    if (info.rows >= 0 && info.spec == spec) return true;
  } catch (const Error& e) {
    if (e.code() != Code::data_loss && e.code() != Code::unimplemented) throw;
  }
  remove_file(path);
  return false;
}

// What processes that were killed left of this entry.
void remove_leftovers(FileSystem& files, const std::string& folder, const std::string& name) {
  const std::string begin = name + ".tmp-";
  try {
    for (const FolderEntry& file : files.list(folder)) {
      if (file.name.starts_with(begin)) files.remove(joined_name(folder, file.name));
    }
  } catch (const Error&) {
    // File systems without folders have none before the first entry.
  }
}

struct Place {
  std::string path;
  bool whole = false;
  uint64_t epoch = 0;                      // of a whole one
  std::unique_ptr<FileLock> lock;          // ours to write, with
  std::unique_ptr<SnapshotWriter> writer;  // this
};

Place find_place(const PlanNode& node, const DiskCacheOptions& options, uint64_t epoch) {
  Place out;
  const ResolvedName folder = resolve_name("write", options.folder);
  folder.files->make_folder(folder.name);
  const std::string name = identity_with_files(*node.inputs[0]);
  const std::string entry = joined_name(folder.name, name);
  out.path = entry + kSuffix;
  out.whole = is_whole(out.path, node.spec, &out.epoch);
  if (!out.whole) {
    out.lock = folder.files->try_lock(entry + ".lock");
    // Written in between?
    out.whole = out.lock && is_whole(out.path, node.spec, &out.epoch);
  }
  if (out.whole) {
    folder.files->touch(out.path);  // used now
  } else if (out.lock) {
    remove_leftovers(*folder.files, folder.name, name + kSuffix);
    out.writer = std::make_unique<SnapshotWriter>(out.path, node.spec, options.compression, epoch);
  }
  return out;
}

// Whatever is wrong with the folder, there is a place: one to write nothing to.
Place place_of(const PlanNode& node, const DiskCacheOptions& options, uint64_t epoch) {
  try {
    return find_place(node, options, epoch);
  } catch (const Error& e) {
    say_without(options.folder, e.message());
  }
  return {};
}

// The rows of an entry. Where it is damaged, those that follow are computed again, and written
// again: what was given is not lost, nor given twice.
class EntryCursor final : public Cursor {
 public:
  // `compute` gives the cursor of all rows, after the error of an entry.
  using Compute = std::function<CursorPtr(const Error&)>;
  EntryCursor(CursorPtr entry, int64_t to_skip, Compute compute)
      : rows_(std::move(entry)), to_skip_(to_skip), compute_(std::move(compute)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    identify();
    while (reads_entry()) {
      const int64_t most = to_skip_ > 0 ? std::min(pull.max_rows, to_skip_) : pull.max_rows;
      const Poll poll = rows_->pull(out, {most, pull.waker});
      if (poll != Poll::ready) return poll;
      if (!out->errors.empty()) {
        compute_again(Error(*out->errors[0].error));
        break;
      }
      given_ += out->rows;
      if (to_skip_ == 0) return poll;
      to_skip_ -= out->rows;
    }
    return rows_->pull(out, pull);
  }

 private:
  bool reads_entry() const { return compute_ != nullptr; }

  void compute_again(const Error& error) {
    rows_ = compute_(error);
    compute_ = nullptr;
    rows_->drop_rows(given_ + to_skip_);
    identify();
  }

  // The cursor within counts nothing: this one does.
  void identify() {
    if (rows_->identity().node) return;
    Identity same = identity();
    same.counters = nullptr;
    rows_->set_identity(std::move(same));
  }

  CursorPtr rows_;
  int64_t to_skip_;  // before a checkpoint
  Compute compute_;  // null once it has been called
  int64_t given_ = 0;
};

// What the input gives, written down where there is a place for it.
std::unique_ptr<WritingCursor> open_writing(const PlanPtr& node, const OpenContext& context,
                                            const StreamPosition& at,
                                            const DiskCacheOptions& options, Place place,
                                            Pass pass) {
  OpenContext below = context.deeper();
  below.epoch = pass.fill_epoch;
  below.at = at;
  CursorPtr input = below.open(node->inputs[0]);
  return std::make_unique<WritingCursor>(std::move(input), counted_elements(*node), options,
                                         place.path, std::move(place.lock), std::move(place.writer),
                                         std::move(pass));
}

CursorPtr open_entry(const PlanPtr& node, const OpenContext& context,
                     const DiskCacheOptions& options, const Place& place, int64_t to_skip,
                     bool transparent) {
  OpenContext fresh = context;
  fresh.at = {};
  auto compute = [node, fresh, options, path = place.path, epoch = place.epoch,
                  transparent](const Error& e) {
    std::fprintf(stderr, "penstock: cache: %s; computing the elements again\n",
                 e.message().c_str());
    if (e.code() == Code::data_loss) remove_file(path);
    Place anew = e.code() == Code::data_loss ? place_of(*node, options, epoch) : Place();
    if (anew.whole) anew = Place();  // somebody else's by now, of another epoch maybe
    Pass pass{fresh.run->state().keep<EntryState>(node.get()), fresh.epoch, epoch};
    pass.transparent = transparent;
    if (!anew.writer) pass.phase = EntryMark::given_up;
    return open_writing(node, fresh, {}, options, std::move(anew), std::move(pass));
  };
  return std::make_unique<EntryCursor>(
      open_snapshot_cursor({place.path}, node, fresh, SnapshotLineage::kept, transparent), to_skip,
      std::move(compute));
}

}  // namespace

bool CachedPasses::same_in_each_pass(const PlanNode& cache, const OpenContext& context) {
  if (context.nested || !context.run->options().marks) return false;
  if (!same_) same_ = plan_effects(*cache.inputs[0]) == Effects::pure;
  return *same_;
}

void check_identities(const NodeDraft& draft) {
  const std::string code = find_unidentified_code(draft.input());
  if (!code.empty()) NodeDraft::fail({}, code, Code::failed_precondition);
}

DiskCacheOptions disk_cache_options(const PlanNode& node, std::string folder) {
  const Attr& limit = node.arg("size_limit");
  return {std::move(folder), node.arg("compression").as_string(),
          limit.is_none() ? 0 : limit.as_int()};
}

CursorPtr open_disk_cache(const PlanPtr& node, const OpenContext& context,
                          const DiskCacheOptions& options) {
  if (context.nested)
    throw Error(Code::invalid_argument, "a cache on disk cannot stand inside a function");
  Pass pass{context.run->state().keep<EntryState>(node.get()), context.epoch, context.epoch};
  {
    std::lock_guard lock(pass.state->mutex);
    pass.fill_epoch = pass.state->epoch.value_or(context.epoch);
    pass.transparent = node->op->caches && pass.state->same_in_each_pass(*node, context);
  }
  if (context.is_before_cache(*node)) {
    pass.phase = EntryMark::given_up;
    pass.partial = true;
    const StreamPosition at{context.at.mark, 0};
    return open_writing(node, context, at, options, {}, std::move(pass));
  }
  const auto from = context.resumed<EntryMark>(*node);
  const bool partial = from && from->partial;
  Place place = partial ? Place() : place_of(*node, options, pass.fill_epoch);
  if (!place.writer) pass.phase = EntryMark::given_up;
  if (place.whole)
    return open_entry(node, context, options, place, from ? from->delivered : 0, pass.transparent);
  if (!from || from->phase == EntryMark::reading) {
    auto out = open_writing(node, context, {}, options, std::move(place), std::move(pass));
    if (from) out->drop_rows(from->delivered);
    return out;
  }
  pass.given = from->delivered;
  pass.fill_epoch = from->fill_epoch;
  pass.phase = from->phase;
  pass.partial = partial;
  if (pass.phase == EntryMark::complete) {
    std::lock_guard lock(pass.state->mutex);
    pass.state->epoch = pass.fill_epoch;
  }
  const StreamPosition at = context.resume(*node)->input();
  return open_writing(node, context, at, options, {}, std::move(pass));
}

}  // namespace penstock
