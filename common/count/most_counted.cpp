#include "count/most_counted.hpp"

#include <algorithm>
#include <cstdio>

namespace course {
namespace {

/// "uncoalesced: 32 sectors per load request, 4 would do"; empty if `counted` is few enough.
std::string finding(const char* before, double counted, const char* what, double would_do) {
  if (would_do == 0 || counted <= 1.001 * would_do) return "";
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
  const auto sectors = static_cast<double>(counts.global_loads.units + counts.global_stores.units);
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

/// Each warp of a block counts its own barriers, so a warp's are the block's.
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
  return load_sectors + store_sectors + read_wavefronts + write_wavefronts + load_requests +
             atomic_requests + read_requests + read_wavefronts_per_multiply + bytes_per_element +
             bulk_bytes_per_element + barriers_per_block >
         0;
}

std::string too_many(const MostCounted& most, const Model& counts, std::int64_t elements,
                     double flops) {
  const std::string findings[] = {
      of_requests("uncoalesced: ", counts.global_loads, "sectors per load request",
                  most.load_sectors),
      of_requests("uncoalesced: ", counts.global_stores, "sectors per store request",
                  most.store_sectors),
      of_requests("bank conflicts: ", counts.shared_loads, "wavefronts per read of shared memory",
                  most.read_wavefronts),
      of_requests("bank conflicts: ", counts.shared_stores, "wavefronts per write of shared memory",
                  most.write_wavefronts),
      finding("", per_32_elements(counts.global_loads, elements), "load requests per 32 elements",
              most.load_requests),
      finding("", per_32_elements(counts.global_atomics, elements), "atomics per 32 elements",
              most.atomic_requests),
      finding("", per_32_elements(counts.shared_loads, elements),
              "reads of shared memory per 32 elements", most.read_requests),
      finding("", per_64_flops(counts.shared_loads, flops),
              "wavefronts of shared memory per multiplication of a warp",
              most.read_wavefronts_per_multiply),
      finding("it moves ", bytes_per_element(counts, elements), "bytes per element",
              most.bytes_per_element),
      finding("bulk copies read ", bulk_bytes_per_element(counts, elements), "bytes per element",
              most.bulk_bytes_per_element),
      finding("", barriers_per_block(counts), "barriers per block", most.barriers_per_block)};
  for (const std::string& text : findings) {
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace course
