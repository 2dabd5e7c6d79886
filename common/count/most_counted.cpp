#include "count/most_counted.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace course {
namespace {

/// "uncoalesced: 32 sectors per load request, 4 would do"; empty if `counted` is small enough.
std::string finding(const char* before, double counted, const char* what, double would_do) {
  if (would_do == 0 || counted <= 1.001 * would_do) return "";
  if (would_do <= MostCounted::none) would_do = 0;
  char text[160];
  std::snprintf(text, sizeof text, "%s%.4g %s, %.4g would do", before, counted, what, would_do);
  return text;
}

std::string of_requests(const char* before, const Requests& r, const char* what, double most) {
  if (r.requests == 0) return "";
  const auto requests = static_cast<double>(r.requests);
  return finding(before, static_cast<double>(r.units) / requests, what,
                 most * static_cast<double>(r.words) / requests);
}

double bytes_per_element(const Model& counts, std::int64_t elements) {
  const auto sectors = static_cast<double>(counts.global_loads.units + counts.global_stores.units -
                                           counts.polled_sectors);
  return elements == 0 ? 0 : 32 * sectors / static_cast<double>(elements);
}

double per_32_elements(const Requests& r, std::int64_t elements) {
  return elements == 0 ? 0 : 32 * static_cast<double>(r.requests) / static_cast<double>(elements);
}

double bulk_bytes_per_element(const Model& counts, std::int64_t elements) {
  return elements == 0 ? 0
                       : static_cast<double>(counts.engine_read) / static_cast<double>(elements);
}

double per_64_flops(const Requests& r, double flops) {
  return flops == 0 ? 0 : 64 * static_cast<double>(r.units) / flops;
}

/// Each warp counts the barriers of its block, so the count of one warp is the block's.
double barriers_per_block(const Model& counts) {
  double most = 0;
  for (const Model& kernel : counts.parts) {
    if (kernel.warps == 0) continue;
    most = std::max(most, static_cast<double>(kernel.barriers) / static_cast<double>(kernel.warps));
  }
  return most;
}

}  // namespace

bool MostCounted::any() const {
  return load_sectors + store_sectors + read_wavefronts + write_wavefronts + atomic_wavefronts +
             load_requests + atomic_requests + read_requests + read_wavefronts_per_multiply +
             bytes_per_element + bulk_bytes_per_element + bulk_bytes_per_block +
             barriers_per_block + shared_bytes + launches >
         0;
}

std::string too_many(const MostCounted& most, const Model& counts, std::int64_t elements,
                     double flops) {
  const std::string findings[] = {
      of_requests("uncoalesced: ", counts.global_loads, "sectors per load request",
                  most.load_sectors),
      of_requests("uncoalesced: ", counts.global_stores, "sectors per store request",
                  most.store_sectors),
      finding("", per_32_elements(counts.shared_loads, elements),
              "reads of shared memory per 32 elements", most.read_requests),
      of_requests("bank conflicts: ", counts.shared_loads, "wavefronts per read of shared memory",
                  most.read_wavefronts),
      of_requests("bank conflicts: ", counts.shared_stores, "wavefronts per write of shared memory",
                  most.write_wavefronts),
      of_requests("bank conflicts: ", counts.shared_atomics,
                  "wavefronts per atomic of shared memory", most.atomic_wavefronts),
      finding("", per_32_elements(counts.global_loads, elements), "load requests per 32 elements",
              most.load_requests),
      finding("", per_32_elements(counts.global_atomics, elements), "atomics per 32 elements",
              most.atomic_requests),
      finding("", per_64_flops(counts.shared_loads, flops),
              "wavefronts of shared memory per multiplication of a warp",
              most.read_wavefronts_per_multiply),
      finding("it moves ", bytes_per_element(counts, elements), "bytes per element",
              most.bytes_per_element),
      finding("bulk copies read ", bulk_bytes_per_element(counts, elements), "bytes per element",
              most.bulk_bytes_per_element),
      finding("bulk copies read ", static_cast<double>(counts.engine_read_most) / 1024,
              "KiB per block", most.bulk_bytes_per_block / 1024),
      finding("", barriers_per_block(counts), "barriers per block", most.barriers_per_block),
      finding("", static_cast<double>(counts.shared_bytes), "bytes of shared memory per block",
              most.shared_bytes),
      finding("", static_cast<double>(counts.launches), "launches", most.launches)};
  for (const std::string& text : findings) {
    if (!text.empty()) return text;
  }
  return "";
}

Totals totals_of(const Model& counts) {
  constexpr double resident_warps = 512;  // 8 SMs of 64 warps
  const Requests* const global[] = {&counts.global_loads, &counts.global_stores,
                                    &counts.global_atomics};
  const Requests* const shared[] = {&counts.shared_loads, &counts.shared_stores,
                                    &counts.shared_atomics};
  Totals totals;
  totals.sectors = static_cast<double>(counts.engine_read + counts.engine_written) / 32 -
                   static_cast<double>(counts.polled_sectors);
  double words = -static_cast<double>(counts.polled_words);
  for (const Requests* r : global) {
    totals.sectors += static_cast<double>(r->units);
    words += static_cast<double>(r->words);
  }
  for (const Requests* r : shared) {
    totals.wavefronts += static_cast<double>(r->units);
    words += static_cast<double>(r->words);
  }
  totals.in_turn = std::ceil(std::max(static_cast<double>(counts.busiest), words / resident_warps));
  return totals;
}

namespace {

double lanes_at_work(const Model& counts) {
  const double requests =
      static_cast<double>(counts.global_loads.requests + counts.global_stores.requests +
                          counts.global_atomics.requests + counts.shared_loads.requests +
                          counts.shared_stores.requests + counts.shared_atomics.requests);
  return static_cast<double>(counts.lanes) / std::max(1.0, requests);
}

/// "; 1 of 32 lanes at work, 1 block, 2048 launches"
std::string at_work(const Model& counts) {
  char text[120];
  std::snprintf(text, sizeof text, "; %llu block%s, %llu launch%s, %.2g of 32 lanes at work",
                static_cast<unsigned long long>(counts.blocks), counts.blocks == 1 ? "" : "s",
                static_cast<unsigned long long>(counts.launches), counts.launches == 1 ? "" : "es",
                lanes_at_work(counts));
  return text;
}

}  // namespace

std::string too_few_at_work(const Totals& solution, const Room& room, const Model& counts) {
  constexpr double few = 16;  // so few requests fit any design
  const double in_turn = totals_of(counts).in_turn;
  if (in_turn <= room.in_turn * solution.in_turn + few) return "";
  char text[120];
  std::snprintf(text, sizeof text,
                "one after the other: %.0f requests to memory in turn, %.0f would do", in_turn,
                solution.in_turn);
  return text + at_work(counts);
}

std::string too_much(const Totals& solution, const Room& room, const Model& counts) {
  const Totals yours = totals_of(counts);
  const double most_sectors = room.sectors * solution.sectors,
               saved = std::max(0.0, solution.sectors - yours.sectors),
               most_wavefronts =
                   std::max(room.wavefronts * solution.wavefronts, solution.sectors + 4 * saved);
  const double over = yours.sectors / most_sectors,
               over_shared = most_wavefronts == 0 ? 0 : yours.wavefronts / most_wavefronts;
  if (!(over > 1) && !(over_shared > 1)) return "";
  char text[120];
  if (over >= over_shared) {
    std::snprintf(text, sizeof text, "it moves %.0f sectors in all, %.0f would do", yours.sectors,
                  solution.sectors);
  } else {
    std::snprintf(text, sizeof text, "shared memory takes %.0f wavefronts in all, %.0f would do",
                  yours.wavefronts, solution.wavefronts);
  }
  constexpr double part_of_a_warp = 8;  // lanes
  return text + std::string(lanes_at_work(counts) <= part_of_a_warp ? at_work(counts) : "");
}

}  // namespace course
