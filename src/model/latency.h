// Queue models of pipelines: how long the consumer waits for an element.
//
// Two models stand side by side. The first is tf.data's, as published (Murray et al., "tf.data: A
// Machine Learning Data Processing Framework", VLDB 2021, section 3.3.2): buffers are M/M/1/k
// queues, so every time is taken for exponential. The second takes the measured rates and their
// variances: the content of a buffer is a Brownian motion between two walls. docs/tuner.md derives
// both.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock {

// Returns the probability that a buffer of `slots` is empty, if producer and consumer are Poisson
// with these rates: equation (1) of the paper. REQUIRES rates > 0, slots >= 0.
double mm1k_empty(double producer_rate, double consumer_rate, int64_t slots);

// One iterator of a linear pipeline, in tf.data's terms.
struct LatencyStage {
  enum class Kind : uint8_t { source, synchronous, interleave, parallel_map, prefetch };
  Kind kind = Kind::source;
  double own_ms = 0;              // processing time for an element that it emits
  double inputs_per_element = 1;  // a batch's size
  int64_t parallelism = 1;
  int64_t buffer_size = 1;
  int64_t cycle_length = 1;  // of an interleave
};

// The latencies are in the order of the stages, from the source to the root. REQUIRES a first stage
// of kind source, which no other stage is.
struct StageLatency {
  double consumer_rate = 0;  // get_next calls per second that the stage gets
  double producer_ms = 0;    // time to make an element, before the buffer
  double output_ms = 0;      // expected wait of get_next
};
std::vector<StageLatency> tfdata_latencies(const std::vector<LatencyStage>& stages,
                                           double consumer_rate);

// Returns the time for one element of the root without any parallelism: the sum.
double sequential_ms(const std::vector<LatencyStage>& stages);
// Returns the same with all stages at work at once: the slowest of them.
double pipelined_ms(const std::vector<LatencyStage>& stages);

// Elements per second of one side of a buffer, and the squared coefficient of variation of the time
// for one element: 0 for a clock, 1 for a Poisson process.
struct Flow {
  double rate = 0;
  double variation = 0;
};

// Returns the rate through a buffer of `slots`: at most the lower of both rates, which a large
// buffer or steady flows reach. A rate may be infinite. REQUIRES rates > 0, slots >= 0.
double buffered_rate(const Flow& producer, const Flow& consumer, int64_t slots);

}  // namespace penstock
