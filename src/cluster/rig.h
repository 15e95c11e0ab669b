// The simulated cluster: links, sharing, schedulers, and costs of transfers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cluster {

// Rule by which flows on a link divide its rate. If workers' links can limit (slower than those of
// all servers together), equal and tcp are max-min with the same weights.
enum class Sharing : uint8_t {
  equal,       // 1/n each: the paper's rule for one server
  max_min,     // progressive filling over the links of servers and workers
  round_trip,  // max_min, but a flow over two full links counts half (sharing.h)
  alpha_fair,  // by sharing_exponent (sharing.h)
  queue,       // one FIFO of segments before the link (segment_queue.h)
  tcp,         // weights drawn for each burst; older bursts weigh more than newer ones
};

// Order in which pieces of concurrent transfers of one worker use a shared link.
enum class Pieces : uint8_t {
  behind_new,  // after the first pieces of all other transfers (the paper's rule)
  in_turn,  // round-robin: after pieces that wait, before later arrivals; an equal share for each
  by_priority,  // a transfer of lower priority waits for each piece (P3, ByteScheduler)
};

// Scheduling of one worker's transfers over one link. A transfer is sent in pieces: first at most
// `first_bytes`, then `then_bytes` each.
struct LinkScheduler {
  double first_bytes = 0;  // 0: the whole transfer
  double then_bytes = 0;   // 0: all remaining bytes
  Pieces pieces = Pieces::behind_new;
  // Flow control as in HTTP/2. Without credit from the receiver, a transfer (a stream) may send at
  // most first_bytes, and a worker's connection to the server at most connection_bytes (0: no
  // limit). Credit comes credit_s plus the wait in the reverse queue after bytes have arrived. Both
  // windows grow by `growth` when one was used up, until a stream's reaches most_bytes.
  double credit_s = -1;  // negative: no flow control
  double connection_bytes = 0;
  double growth = 1;
  double most_bytes = 0;
};

struct Rig {
  double server_rate = 0;  // payload bytes/s of each server's link, each way; must be positive
  double worker_rate = 0;  // the same of each worker's link; 0: no limit
  Sharing sharing = Sharing::tcp;
  LinkScheduler scheduler;
  double sharing_exponent = 1;  // alpha_fair: 1 is proportional, large values approach max-min
  // Token bucket: bytes that an idle link passes at once. Negative: 0, and 65536 without servers.
  double burst_bytes = -1;
  double duplex_loss = 0;     // share of a link's rate lost while the reverse direction is busy
  double share_spread = 0;    // tcp: standard deviation of the logarithm of a burst's weight
  double newcomer = 1;        // tcp: weight of a burst relative to the one that began before it
  double queue_bytes = 0;     // capacity of the queue before a link (Sharing::queue)
  double queue_filled = 1;    // share of the queue for which a request or answer waits
  double message_wait_s = 0;  // additional random delay if the queue is not empty: its mean
  double sender_queue_s = 0;  // a server keeps at most this many seconds of its pace in the queue
                              // for one worker (segment_queue.h); 0: no limit
  int32_t server_cores = 0;   // 0: server work never waits (the paper's private cores)
  double server_transfer_s = 0;   // server computing for each transfer, in either direction
  double receive_s = 0;           // the paper's beta: time from last byte to use, for each transfer
  double receive_s_per_byte = 0;  // the paper's alpha
  int32_t worker_lanes = 1;       // ops that one worker computes at the same time
  double compute_factor = 1;      // scales worker durations
  double step_gap_s = 0;          // between a worker's steps
  double step_gap_transfer_s = 0;  // added to it for each transfer of the step
  double model_error = 0.055;  // error of predictions as a share, in addition to the spread of runs
  double stagger_s = 0.05;     // worker k starts after k to k + 1 times this
};

// Sets the policy `name`: sharing, scheduler and their constants; rates, lanes and factors stay.
// Throws INVALID_ARGUMENT that lists the valid names.
// - grpc: whole transfers, one FIFO queue of segments for each link; constants fitted on recordings
//   (docs/cluster-model.md)
// - paper: the paper's rule: WIN bytes, then the rest; equal shares; one lane; private cores
// - fifo: whole transfers, equal shares
// - maxmin: whole transfers, max-min shares
// - rtt: whole transfers, max-min with weights proportional to 1 / round trip
// - alpha-fair: whole transfers, alpha-fair shares; exponent 0.35, as measured
//   (docs/cluster-model.md)
// - http2: stream windows of 64 KiB round-robin, equal shares
// - chttp2: grpc, with windows of 64 KiB for a stream and for the connection that double up to 16
//   MiB; credit comes 0.1 ms plus the queue's wait after arrival
// - grpc-window: the first 4 MiB of a transfer, then pieces of 1 MiB, equal shares
// - processor-sharing: pieces of 16 KiB round-robin: a worker's transfers share its part of a link
// - p3: grpc, slices of 200 kB by priority (combine with an order of layers)
// - one-worker-at-a-time: grpc, but a link serves one worker after the other
// - rdma, mpi: whole transfers, max-min shares, no parsing; mpi with 10 us per message. Not
//   validated
void set_policy(std::string_view name, Rig* rig);
inline constexpr std::string_view kPolicies[] = {"grpc",        "paper",
                                                 "fifo",        "maxmin",
                                                 "rtt",         "alpha-fair",
                                                 "http2",       "chttp2",
                                                 "grpc-window", "processor-sharing",
                                                 "p3",          "one-worker-at-a-time",
                                                 "rdma",        "mpi"};
// Returns whether the policy is not backed by measurements.
bool is_unvalidated(std::string_view policy);

// Parses "1Gbit", "200Mbit", "100MB/s" to bytes/s. Throws INVALID_ARGUMENT for other texts and for
// rates out of 1 B/s to 1e15 B/s.
double parse_rate(std::string_view text);

// Payload share of a link's nominal rate: 1448 of every 1514 bytes on Ethernet.
inline constexpr double kPayloadShare = 1448.0 / 1514.0;

// Reads NET.json (docs/format/net.md) into `rig`; missing keys keep their values. Throws
// INVALID_ARGUMENT for unknown keys and invalid values, DATA_LOSS if the text is not JSON; `file`
// is for messages.
void read_rig(const std::string& file, std::string_view json, Rig* rig);
// Writes NET.json with these keys only; readers fill in the rest. REQUIRES keys that read_rig
// knows.
std::string write_rig(const Rig& rig, const std::vector<std::string>& keys);

}  // namespace penstock::cluster
