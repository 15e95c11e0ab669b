// Throughput of a cluster for each number of servers and workers: `penstock predict`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/optimus.h"
#include "cluster/order.h"
#include "cluster/placement.h"
#include "cluster/predict.h"

namespace penstock::cluster {

// Appends the notes that are new.
void add_notes(const std::vector<std::string>& from, std::vector<std::string>* to);

// Prepares the kinds of workers for the simulation, except for the number of servers: the batch,
// the collectives of an all-reduce, the order of transfers. Throws INVALID_ARGUMENT.
std::vector<Profile> prepared_kinds(std::vector<Profile> kinds, Order order, double batch_scale,
                                    const Question& question);

// The kinds of workers for each requested number of servers.
using Placed = std::vector<std::vector<Profile>>;

// Places the variables on each number of servers. Without `placement`, the recorded one stays where
// the number of servers is the recorded one; an all-reduce has no servers. Adds the profiles'
// notes.
Placed place_kinds(const std::vector<Profile>& kinds, const std::vector<int32_t>& servers,
                   std::optional<Placement> placement, const Question& question,
                   std::vector<std::string>* notes);

// Predicts every size. `runs` are those that Model::optimus is fitted to. `watch.simulation` counts
// the simulations of all sizes.
void predict_sizes(const Placed& placed, const Question& question,
                   const std::vector<MeasuredRun>& runs, const Watch& watch);

// Returns a note if the transfers alone take longer than the measured step.
std::optional<std::string> step_time_note(const std::vector<Point>& points,
                                          const Question& question);

}  // namespace penstock::cluster
