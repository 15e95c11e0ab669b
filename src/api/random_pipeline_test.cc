// The generator grows a pipeline stage by stage from one table. A row says which kind of element it
// takes and which it makes, so that every row can follow every other that fits. A new operator
// joins by a row here.

#include "api/random_pipeline_test.h"

#include <vector>

namespace penstock {
namespace {

enum class Kind { number, vector, row, ragged, sparse, optional, pair, nothing, dataset };

struct Growth {
  Kind from, to;
  // Appended to the pipeline, or put around it where it contains $d. $k is 1 to 5, $s 0 to 99, $t 0
  // to 39, each drawn once.
  const char* text;
};

constexpr Kind n = Kind::number;

const Growth kSources[] = {
    {n, n, "range($t)"},
    {n, n, "range($s)"},
    {n, n, "from_tensor_slices([5, 3, $s, 1, 0, $k])"},
    {n, Kind::row, "from_tensor_slices(ragged([[1], [], [$k, 2, 3], [$s]]))"},
    {n, Kind::row, "from_tensor_slices(ragged([[1], [2, 3]])) | repeat($k)"},
    {n, Kind::sparse,
     "from_tensor_slices(sparse(indices=[[0, 1], [2, 0], [2, 3]], values=[5, 6, $s], shape=[4, "
     "5]))"},
    {n, Kind::vector, "from_list([[1, 2], [$k], [], [4, $s, 6]]) | repeat(2)"},
};

const Growth kStages[] = {
    // One element for one.
    {n, n, " | map(x -> x * $k + 1)"},
    {n, n, " | map(x -> x - $k, num_parallel_calls=3)"},
    {n, n, " | map(x -> 60 // (x - $k))"},  // fails at one value
    {n, n, " | map(x -> if x % 2 == 0 then x else 7 // (x - $k))"},
    {n, n, " | map(x -> 60 // (x - $k), on_error=skip(max_count=2))"},
    {n, n, " | map(x -> 60 // (x % $k), on_error=replace($s))"},
    {n, n, " | map(x -> x + random_uniform(high=50, dtype=int64, seed=$s))"},
    {n, n, " | map(x -> {a: x, b: x * 2}) | shuffle(4, seed=$s) | map({a, **_} -> a)"},
    {n, n, " | enumerate() | map((i, x) -> i * 3 + x)"},
    {n, n,
     " | enumerate() | map((i, x) -> {a: (), b: i + x, c: none}) | shuffle(3, seed=$s)"
     " | map({b, **_} -> b)"},
    // Nothing at all.
    {n, n, " | take(-1)"},
    {n, n, " | skip(0)"},
    {n, n, " | repeat(1)"},
    {n, n, " | prefetch(0)"},
    {n, n, " | map(x -> x)"},
    {n, n, " | filter(x -> true)"},
    {n, n, " | scan($k, (s, x) -> (s + x % 7, s * 3 + x))"},
    {n, n, " | map(x -> reduce(range(abs(x) % 4), 0, (s, y) -> s + y * x))"},
    // Some of the elements, or each several times.
    {n, n, " | filter(x -> x % $k != 1)"},
    {n, n, " | filter(x -> x % 3 != 1 and x % 5 != 2 or x > $t)"},
    {n, n, " | map(x -> if x % 3 == 1 and x > $k then x * 2 else x - $t)"},
    {n, n,
     " | map(x -> let (a, b) = if x > $k then (x, [x, 1]) else (x % 7, [2, x // 3]); a + sum(b))"},
    {n, n,
     " | map(x -> {a: x + $k, b: int64(exp(sin(cos(sin(float32(x))))) * 9.0) + 2 * x})"
     " | filter({a, **_} -> a != $t) | map({b, **_} -> b)"},
    {n, n,
     " | map(x -> {a: x, b: x * x, c: int64(exp(sin(cos(sin(float32(x + $k))))) * 99.0)})"
     " | filter(e -> e.b > 3) | map(e -> e.a + e.b - e.c)"},
    {n, n, " | take($t)"},
    {n, n, " | take_while(x -> x % 17 != $s)"},
    {n, n, " | skip($k)"},
    {n, n, " | shard($k, 0)"},
    {n, n, " | repeat(2)"},
    {n, n, " | echo($k)"},
    {n, n, " | unique()"},
    {n, n, " | ignore_errors()"},
    {n, n, " | assert_cardinality($t)"},
    {n, n, " | shuffle(1$k, seed=$s)"},
    {n, n, " | apply(d -> d | with_options() | skip(1))"},
    // Stages that add threads, or memory of other passes.
    {n, n, " | prefetch($k)"},
    {n, n, " | cache()"},
    // Groups of elements.
    {n, n, " | batch($k) | map(b -> sum(b))"},
    {n, n, " | batch($k, drop_remainder=true) | map(b -> sum(b), num_parallel_calls=2)"},
    {n, n, " | batch($k) | rebatch([2, 3]) | unbatch()"},
    {n, n,
     " | group_by_window(x -> x % 3, (k, w) -> w | batch(2), window_size=$k) | map(b -> sum(b))"},
    {n, n,
     " | group_by_reducer(x -> x % 5, init=k -> k, reduce=(s, x) -> s + x, finalize=s -> s * 2)"},
    {n, n,
     " | rejection_resample(x -> abs(x) % 2, target_dist=[0.3, 0.7], seed=$s)"
     " | map((c, x) -> x * 2 + int64(c))"},
    // Datasets inside.
    {n, n, " | flat_map(x -> range(x % 4) | map(y -> x + y))"},
    {n, n, " | flat_map(x -> range(x, x + $k) | filter(y -> y % 3 != 0))"},
    {n, n, " | flat_map(x -> range(abs(x) % 7) | map(y -> 20 // (y - x)))"},
    {n, n, " | flat_map(x -> range(9) | map(y -> x - y) | batch($k)) | map(b -> sum(b))"},
    {n, n,
     " | flat_map(x -> range(abs(x) % 6) | map(y -> x + y) | skip(0) | map(z -> z * $k + x) | "
     "skip(1))"},
    {n, n,
     " | interleave(x -> range(abs(x) % 5) | map(y -> {a: y, b: y * 3, c: exp(float32(y))})"
     " | shuffle(3, seed=$s) | map(e -> x - e.b), cycle_length=2, num_parallel_calls=2)"},
    {n, n,
     " | interleave(x -> range(7) | map(y -> {a: y, b: int64(exp(sin(cos(sin(float32(y + x % "
     "9))))) * "
     "99.0)}) | filter({a, **_} -> a != x % $k) | map({b, **_} -> b), cycle_length=$k)"},
    {n, n, " | interleave(x -> range(abs(x) % 5), cycle_length=$k, block_length=2)"},
    {n, n,
     " | interleave(x -> range(abs(x) % 5) | map(y -> x * 10 + y), cycle_length=3, "
     "num_parallel_calls=2)"},
    {n, n,
     " | window($k, shift=2, drop_remainder=true)"
     " | flat_map(w -> w | map(x -> 60 // (x - 3)) | batch(3)) | map(b -> sum(b))"},
    {n, n, " | window($k) | map(w -> reduce(w, 1, (s, x) -> s * 3 + x))"},
    // Several inputs.
    {n, n, " | concatenate(range($k))"},
    {n, Kind::pair, "let d = $d\nzip(d, d | map(x -> x + 1))"},
    {n, n, "sample_from_datasets([$d, counter($k, 3) | take(9)], weights=[$k.0, 2.0], seed=$s)"},
    {n, n,
     "choose_from_datasets([$d, range(9)], random(seed=$s) | take(40) | map(x -> x % 2), "
     "stop_on_empty_dataset=false)"},
    {n, n,
     "concatenate($d, range(50) | map(x -> x + $k) | global_shuffle(seed=$s) | batch($k)"
     " | map(b -> sum(b)))"},
    {n, n, "concatenate($d, range(9) | assert_cardinality($t) | global_shuffle(seed=$s))"},
    {n, n,
     "concatenate($d, range(9) | repeat(2) | assert_cardinality($t) | global_shuffle(seed=$s)"
     " | shard(2, 1))"},
    {n, n,
     "concatenate($d, from_tensor_slices([7, 8, 9]) | assert_cardinality($k) | batch(2)"
     " | map(b -> sum(b)))"},
    // Pairs.
    {n, Kind::pair, " | map(x -> (x, x % $k))"},
    {Kind::pair, n, " | map((a, b) -> a * 7 + b)"},
    {Kind::pair, Kind::pair, " | shuffle($k, seed=$s)"},
    {Kind::pair, Kind::pair, " | filter((a, b) -> a % 3 != b)"},
    {Kind::pair, Kind::pair, " | batch($k) | unbatch()"},
    {Kind::pair, Kind::vector, " | map((a, b) -> fill([abs(a) % 3], b))"},
    // Vectors, each of its own length.
    {n, Kind::vector, " | map(x -> fill([abs(x) % 4], x))"},
    {n, Kind::vector, " | map(x -> arange(abs(x) % 6), num_parallel_calls=2)"},
    {n, Kind::vector, " | map(x -> fill([1 + abs(x) % 7 // $k], x))"},
    {n, Kind::row,
     " | flat_map(x -> from_tensor_slices(from_tensor([[x, x + 1], [x, 60 // (x - $k)]])))"},
    {Kind::vector, n, " | map(v -> sum(v) + size(v))"},
    {Kind::vector, n, " | unbatch()"},
    {Kind::vector, n, " | map(v -> v[$k])"},  // fails where there is none
    {Kind::vector, Kind::vector, " | shuffle($k, seed=$s) | prefetch(2)"},
    {Kind::vector, Kind::vector, " | filter(v -> size(v) != 2)"},
    {Kind::vector, Kind::vector, " | cache() | repeat(2)"},
    {Kind::vector, Kind::vector, " | padded_batch($k) | unbatch()"},
    {Kind::vector, n, " | batch($k) | map(b -> sum(b))"},  // fails where lengths differ
    {Kind::vector, n,
     " | bucket_by_sequence_length(v -> size(v), boundaries=[2, 4], batch_sizes=[2, 3, $k])"
     " | map(b -> sum(b))"},
    {Kind::vector, n,
     " | pack_sequences(7, window=$k)"
     " | map({tokens, segment_ids, **_} -> sum(tokens) * 10 + int64(max(segment_ids)))"},
    {Kind::vector, Kind::ragged, " | ragged_batch($k)"},
    {Kind::vector, Kind::ragged, " | ragged_batch($k, drop_remainder=true)"},
    {Kind::vector, Kind::sparse, " | sparse_batch($k, [4])"},  // fails where one is longer
    {Kind::vector, Kind::vector, " | map(v -> v * $k + 1)"},
    {Kind::vector, Kind::vector, " | map(v -> identity(v))"},
    {Kind::vector, n, " | map(v -> v[0])"},  // fails where it is empty
    {Kind::vector, n, " | scan(0, (s, v) -> (s + size(v), s + sum(v)))"},
    {Kind::vector, n, " | map(v -> if size(v) > 1 then v[1] else -1)"},
    {Kind::vector, Kind::pair, " | map(v -> (size(v), sum(map_fn(v, y -> y + 1))))"},
    // Groups of vectors: one that does not fit the others is an error.
    {Kind::vector, n, " | batch($k, drop_remainder=true) | map(b -> sum(b))"},
    {Kind::vector, n, " | batch($k, on_error=skip(max_count=3)) | map(b -> sum(b))"},
    {Kind::vector, n, " | padded_batch($k, [2]) | map(b -> sum(b))"},
    {Kind::vector, Kind::sparse, " | sparse_batch($k, [2])"},
    {Kind::vector, n, " | batch(1) | rebatch([$k, 2]) | map(b -> sum(b))"},
    {Kind::vector, n,
     " | bucket_by_sequence_length(v -> size(v), boundaries=[2], batch_sizes=[2, $k], "
     "no_padding=true) | map(b -> sum(b))"},
    {Kind::vector, Kind::vector, " | window(4) | flat_map(w -> w | batch($k)) | unbatch()"},
    {Kind::vector, n,
     " | group_by_window(v -> sum(v) % 2, (k, w) -> w | batch($k), window_size=4)"
     " | map(b -> sum(b))"},
    // Rows of ragged tensors: vectors, but for what batches make of them.
    {Kind::row, Kind::vector, " | map(r -> r * $k + 1)"},
    {Kind::row, Kind::row, " | filter(r -> size(r) != 1)"},
    {Kind::row, Kind::row, " | shuffle($k, seed=$s)"},
    {Kind::row, Kind::row, " | prefetch($k) | cache()"},
    {Kind::row, n, " | map(r -> sum(r) + size(r))"},
    {Kind::row, n, " | unbatch()"},
    {Kind::row, n, " | scan(0, (s, r) -> (s + size(r), s + sum(r)))"},
    {Kind::row, Kind::ragged, " | batch($k)"},
    // Ragged tensors.
    {Kind::ragged, Kind::row, " | unbatch()"},
    {Kind::ragged, Kind::ragged, " | map(b -> b + 1)"},
    {Kind::ragged, Kind::ragged, " | shuffle(2, seed=$s) | repeat(2)"},
    {Kind::ragged, Kind::ragged, " | rebatch($k)"},
    {Kind::ragged, Kind::vector, " | map(b -> ragged_reduce_sum(b, axis=1))"},
    {Kind::ragged, n, " | map(b -> sum(to_tensor(b)))"},
    // Sparse tensors.
    {Kind::sparse, Kind::sparse, " | shuffle($k, seed=$s)"},
    {Kind::sparse, Kind::sparse, " | cache() | repeat(2)"},
    {Kind::sparse, Kind::sparse, " | prefetch($k) | take($t)"},
    {Kind::sparse, n, " | map(s -> sum(to_tensor(s)))"},
    // Optionals.
    {n, Kind::optional, " | map(x -> if x % 2 == 0 then optional_of(x) else optional_none(int64))"},
    {Kind::optional, n, " | map(o -> if has_value(o) then get_value(o) else -1)"},
    {Kind::optional, n, " | map(o -> get_value(o))"},  // fails where there is none
    {Kind::optional, Kind::optional, " | filter(o -> has_value(o)) | repeat(2)"},
    {Kind::optional, Kind::optional, " | shuffle($k, seed=$s) | prefetch(2)"},
    {Kind::optional, Kind::optional, " | cache()"},
    // Elements without components. The filter looks at the number: an error of a value that no
    // stage
    // looks at may go with the value.
    {n, Kind::nothing, " | filter(x -> x != $s) | map(x -> ())"},
    {n, Kind::nothing, " | filter(x -> x != $s) | map(x -> ()) | echo(2)"},
    {Kind::nothing, Kind::nothing, " | shuffle($k, seed=$s) | take($t)"},
    {Kind::nothing, Kind::nothing, " | prefetch($k) | repeat(2)"},
    {Kind::nothing, Kind::nothing, " | cache() | skip(1)"},
    {Kind::nothing, Kind::nothing, " | batch($k)"},
    {Kind::nothing, Kind::nothing, " | shard($k, 0) | concatenate(range(3) | map(x -> ()))"},
    {Kind::nothing, n, " | enumerate() | map((i, _) -> i)"},
    {Kind::nothing, n, " | map(_ -> $s)"},
    // Datasets as values.
    {n, Kind::dataset, " | map(x -> range(abs(x) % 5))"},
    {n, Kind::dataset, " | map(x -> range(abs(x) % 5) | map(y -> 12 // (y - x)))"},
    {n, Kind::dataset, " | window($k, shift=$k, stride=2)"},
    {n, Kind::dataset, " | window($k)"},
    {Kind::dataset, Kind::dataset, " | filter(d -> cardinality(d) > 1)"},
    {Kind::dataset, Kind::dataset, " | shuffle(3, seed=$s)"},
    {Kind::dataset, Kind::dataset, " | map(d -> d | take(2))"},
    {Kind::dataset, Kind::dataset, " | take($t) | prefetch($k)"},
    {Kind::dataset, n, " | flat_map(d -> d)"},
    {Kind::dataset, n, " | flat_map(d -> d | take(2))"},
    {Kind::dataset, n, " | interleave(d -> d, cycle_length=$k)"},
    {Kind::dataset, n, " | map(d -> reduce(d, 1, (s, x) -> s * 3 + x))"},
    {Kind::dataset, n, " | map(d -> cardinality(d))"},
    {n, n,
     " | map(x -> (x, range(abs(x) % 3))) | shuffle($k, seed=$s)"
     " | flat_map((x, d) -> d | map(y -> x + y))"},
};

std::string filled(std::string text, std::mt19937_64& random) {
  auto put = [&](const char* name, uint64_t value) {
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
      text.replace(at, 2, std::to_string(value));
  };
  put("$k", 1 + random() % 5);
  put("$s", random() % 100);
  put("$t", random() % 40);
  return text;
}

}  // namespace

std::string random_pipeline(std::mt19937_64& random) {
  const Growth& source = kSources[random() % std::size(kSources)];
  std::string text = filled(source.text, random);
  Kind kind = source.to;
  bool statement = false;  // what begins with `let` cannot stand inside another call
  for (uint64_t left = 1 + random() % 8; left > 0 || kind == Kind::dataset; left -= left > 0) {
    std::vector<const Growth*> fitting;
    for (const Growth& g : kStages)
      if (g.from == kind && !(statement && g.text[0] != ' ')) fitting.push_back(&g);
    const Growth& g = *fitting[random() % fitting.size()];
    const std::string grown = filled(g.text, random);
    const size_t inner = grown.find("$d");
    statement |= grown.starts_with("let");
    text = inner == std::string::npos ? text + grown
                                      : grown.substr(0, inner) + text + grown.substr(inner + 2);
    kind = g.to;
  }
  return text;
}

}  // namespace penstock
