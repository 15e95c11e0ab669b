#include "cluster/corrections.h"

namespace penstock::cluster {

const std::array<Correction, 7> kCorrections{{
    {"lanes as recorded", [](const Rig& from, Rig* to) { to->worker_lanes = from.worker_lanes; }},
    {"transfers whole", [](const Rig& from, Rig* to) { to->scheduler = from.scheduler; }},
    {"one queue of segments a link",
     [](const Rig& from, Rig* to) {
       to->sharing = from.sharing;
       to->sender_queue_s = from.sender_queue_s;
       if (to->queue_bytes == 0) {
         to->queue_bytes = from.queue_bytes;
         to->queue_filled = 0;
       }
     }},
    {"requests and answers wait in it",
     [](const Rig& from, Rig* to) {
       to->queue_filled = from.queue_bytes > 0 ? from.queue_filled : 0;
       to->message_wait_s = from.message_wait_s;
       if (to->queue_bytes == 0) to->queue_bytes = from.queue_bytes;
     }},
    {"links carry less when both ways are busy",
     [](const Rig& from, Rig* to) { to->duplex_loss = from.duplex_loss; }},
    {"servers of shared cores",
     [](const Rig& from, Rig* to) {
       to->server_cores = from.server_cores;
       to->server_transfer_s = from.server_transfer_s;
     }},
    {"gap between steps",
     [](const Rig& from, Rig* to) {
       to->step_gap_s = from.step_gap_s;
       to->step_gap_transfer_s = from.step_gap_transfer_s;
     }},
}};

}  // namespace penstock::cluster
