#include "cli/corrections.h"

#include <cstdio>
#include <string>

#include "cluster/corrections.h"

namespace penstock::cli {
namespace {

constexpr int kNameWidth = 52;

void print_row(const std::string& name, const std::vector<cluster::Profile>& kinds,
               cluster::Question question, const cluster::Rig& rig) {
  question.rig = rig;
  std::printf("%-*s", kNameWidth, name.c_str());
  for (const cluster::Point& p : cluster::predict(kinds, question))
    std::printf(" %7.2f", p.steps_per_s);
  std::printf("\n");
}

}  // namespace

void print_corrections(const std::vector<cluster::Profile>& kinds,
                       const cluster::Question& question) {
  const cluster::Rig& ours = question.rig;
  cluster::Rig paper = ours;
  cluster::set_policy("paper", &paper);
  std::printf("payload rate of a server's link: %.1f Mbit/s each way\n\n", ours.server_rate * 8e-6);
  std::printf("%-*s", kNameWidth, "steps/s by workers");
  for (const int32_t w : question.workers) std::printf(" %7d", w);
  std::printf("\n");
  print_row("the paper's rule", kinds, question, paper);
  for (const cluster::Correction& c : cluster::kCorrections) {
    cluster::Rig rig = paper;
    c.take(ours, &rig);
    print_row(std::string("  with: ") + c.name, kinds, question, rig);
  }
  print_row("all of them", kinds, question, ours);
  for (const cluster::Correction& c : cluster::kCorrections) {
    cluster::Rig rig = ours;
    c.take(paper, &rig);
    print_row(std::string("  without: ") + c.name, kinds, question, rig);
  }
}

}  // namespace penstock::cli
