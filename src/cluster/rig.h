// The cluster that is simulated: links, sharing, schedulers, and what transfers cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cluster {

// How the flows on a link divide its rate.
enum class Sharing : uint8_t {
  equal,       // 1/n each: the paper's rule for one server
  max_min,     // progressive filling over the links of servers and workers
  round_trip,  // the same, a flow over two full links counts half (sharing.h)
  alpha_fair,  // by sharing_exponent (sharing.h)
  queue,  // one FIFO of segments before the link (segment_queue.h); equal shares where links of
          // workers are slower than the servers'
  tcp,    // shares drawn anew for each burst, bursts under way ahead of new ones
};

// Where the next piece of a transfer goes that shares a link with others of its worker.
enum class Pieces : uint8_t {
  behind_new,   // behind the first pieces of all others (the paper's rule)
  in_turn,      // behind what waits, before what comes later: an equal share of the link
  by_priority,  // a transfer of lower priority waits for each piece (P3, ByteScheduler)
};

// How one worker's transfers over one link follow each other: pieces of a transfer of at most
// `first_bytes`, then of `then_bytes`.
struct LinkScheduler {
  double first_bytes = 0;  // 0: whole
  double then_bytes = 0;   // 0: all the rest
  Pieces pieces = Pieces::behind_new;
  // Flow control as HTTP/2 has it: of a transfer (a stream) at most first_bytes, of a worker's
  // connection to the server at most connection_bytes (0: no limit) may be sent before the receiver
  // gives credit, credit_s and the wait in the other way's queue after bytes have arrived. Both
  // windows grow by `growth` when one was used up, until a stream's is of most_bytes.
  double credit_s = -1;  // negative: no flow control, pieces follow at once
  double connection_bytes = 0;
  double growth = 1;
  double most_bytes = 0;
};

struct Rig {
  double server_rate = 0;  // payload bytes/s of each server's link, each way; must be positive
  double worker_rate = 0;  // the same of each worker's link; 0: it does not limit
  Sharing sharing = Sharing::tcp;
  LinkScheduler scheduler;
  double sharing_exponent = 1;  // alpha_fair: 1 is proportional, large goes to max-min
  // What a rested link carries at once: a token bucket. Negative: 0, and 65536 without servers.
  double burst_bytes = -1;
  double duplex_loss = 0;     // share of a link's rate lost while the other way is busy, too
  double share_spread = 0;    // tcp: standard deviation of the logarithm of a burst's weight
  double newcomer = 1;        // tcp: weight of a burst beside the one that began before it
  double queue_bytes = 0;     // what the queue before a link holds (Sharing::queue)
  double queue_filled = 1;    // share of what is in it that a request or answer waits for
  double message_wait_s = 0;  // what it waits besides where that is not empty: mean of drawn waits
  double sender_queue_s = 0;  // a server has no more in it for a worker than these seconds of its
                              // pace (segment_queue.h); 0: no limit
  int32_t server_cores = 0;   // 0: server work never waits (the paper's private cores)
  double server_transfer_s = 0;    // server computing for each transfer, either way
  double receive_s = 0;            // the paper's beta: from last byte to use, each transfer
  double receive_s_per_byte = 0;   // the paper's alpha
  int32_t worker_lanes = 1;        // ops of one worker that compute at the same time
  double compute_factor = 1;       // scales worker durations
  double step_gap_s = 0;           // between a worker's steps
  double step_gap_transfer_s = 0;  // added to it for each transfer of the step
  double model_error = 0.055;      // what predictions miss, as a share, beside the spread of runs
  double stagger_s = 0.05;         // worker k starts k times this late, and up to as much more
};

// Sets the policy `name`: sharing, scheduler and the constants that belong to it; rates, lanes and
// factors stay. Throws INVALID_ARGUMENT with the names there are.
// - grpc: transfers whole, one FIFO queue of segments a link; constants fitted on recordings
//   (docs/cluster-model.md)
// - paper: the paper's rule: WIN bytes, then to the end; equal shares; one lane; private cores
// - fifo: transfers whole, equal shares
// - maxmin: transfers whole, max-min shares
// - rtt: transfers whole, max-min with weights that go as 1 / round trip
// - alpha-fair: transfers whole, alpha-fair shares; exponent 0.35, as measured
//   (docs/cluster-model.md)
// - http2: stream windows of 64 KiB taken in turn, equal shares
// - chttp2: as grpc, with windows of 64 KiB for a stream and the connection that double up to
//   16 MiB; credit comes 0.1 ms and the queue's wait after arrival
// - grpc-window: the first 4 MiB of a transfer, then pieces of 1 MiB, equal shares
// - processor-sharing: pieces of 16 KiB in turn: a worker's transfers share its part of a link
// - p3: as grpc, slices of 200 kB by priority (give them an order of layers)
// - one-worker-at-a-time: as grpc, but a link serves one worker after the other
// - rdma, mpi: transfers whole, max-min shares, no parsing; mpi with 10 us a message. Not validated
void set_policy(std::string_view name, Rig* rig);
// Whether nothing measured stands behind the policy.
bool is_unvalidated(std::string_view policy);

// "1Gbit", "200Mbit", "100MB/s" in bytes/s. Throws INVALID_ARGUMENT for other texts and for rates
// out of 1 B/s to 1e15 B/s.
double parse_rate(std::string_view text);

// The part of a link's nominal rate that is payload: 1448 bytes of each 1514 on Ethernet.
inline constexpr double kPayloadShare = 1448.0 / 1514.0;

// Reads NET.json (docs/format/net.md) over what `rig` holds. Throws INVALID_ARGUMENT for unknown
// keys and values that make no sense, DATA_LOSS for text that is no JSON; `file` is for messages.
void read_rig(const std::string& file, std::string_view json, Rig* rig);
// NET.json of these keys only, the rest is left to who reads it. REQUIRES keys that read_rig knows.
std::string write_rig(const Rig& rig, const std::vector<std::string>& keys);

}  // namespace penstock::cluster
