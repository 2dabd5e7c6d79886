#include "count/model.hpp"

#include <algorithm>

#include "simt/findings.hpp"

namespace course {
namespace {

void add(Requests& to, const Requests& from) {
  to.requests += from.requests;
  to.units += from.units;
  to.words += from.words;
}

Model model_of(const simt::KernelCount& kernel) {
  using simt::Space;
  const auto requests = [&](Space space, const char* access) {
    Requests sum{kernel.requests(space, access), kernel.units(space, access)};
    for (const simt::LineCount& line : kernel.lines) {
      if (line.space == space && line.access == std::string(access))
        sum.words += line.requests * std::max(1u, line.bytes / 4);
    }
    return sum;
  };
  Model model;
  model.kernel = kernel.kernel;
  model.global_loads = requests(Space::global, "load");
  model.global_stores = requests(Space::global, "store");
  model.global_atomics = requests(Space::global, "atomic");
  model.shared_loads = requests(Space::shared, "load");
  model.shared_stores = requests(Space::shared, "store");
  model.shared_atomics = requests(Space::shared, "atomic");
  if (kernel.blocks > 0) {
    model.warps = kernel.blocks * ((kernel.threads / kernel.blocks + 31) / 32);
  }
  model.barriers = kernel.barriers;
  model.warp_steps = kernel.warp_steps;
  model.lane_steps = kernel.lane_steps;
  model.busiest = kernel.busiest;
  model.polled_words = kernel.polled_words;
  model.polled_sectors = kernel.polled_sectors;
  model.shared_bytes = kernel.shared_bytes;
  model.launches = kernel.launches;
  model.blocks = kernel.blocks;
  model.by_kernels = kernel.by_kernels;
  for (const simt::LineCount& line : kernel.lines) {
    model.exact = model.exact && line.exact;
    model.lanes += line.lanes;
  }
  return model;
}

}  // namespace

Model counts_during(const std::function<void()>& launch) {
  simt::take_counts();  // those of earlier launches
  simt::take_engine_bytes();
  simt::take_besides();
  simt::set_counting(true);
  launch();
  simt::set_counting(false);
  Model model;
  const std::vector<simt::KernelCount> kernels = simt::take_counts();
  for (const simt::KernelCount& kernel : kernels) {
    const Model part = model_of(kernel);
    add(model.global_loads, part.global_loads);
    add(model.global_stores, part.global_stores);
    add(model.global_atomics, part.global_atomics);
    add(model.shared_loads, part.shared_loads);
    add(model.shared_stores, part.shared_stores);
    add(model.shared_atomics, part.shared_atomics);
    model.warps += part.warps;
    model.barriers += part.barriers;
    model.warp_steps += part.warp_steps;
    model.lane_steps += part.lane_steps;
    model.busiest += part.busiest;
    model.polled_words += part.polled_words;
    model.polled_sectors += part.polled_sectors;
    model.lanes += part.lanes;
    model.shared_bytes = std::max(model.shared_bytes, part.shared_bytes);
    model.launches += part.launches;
    model.blocks += part.blocks;
    model.by_kernels += part.by_kernels;
    model.exact = model.exact && part.exact;
    model.parts.push_back(part);
  }
  const simt::EngineBytes engine = simt::take_engine_bytes();
  model.engine_read = engine.read;
  model.engine_written = engine.written;
  model.engine_read_most = engine.read_most;
  const simt::Besides besides = simt::take_besides();
  model.products = besides.products;
  model.to_host = besides.to_host;
  model.copied = besides.copied;
  model.report = simt::table(kernels);
  return model;
}

std::string report_legend(const std::vector<Model>& models) {
  simt::TableShows shows;
  const auto any = [](const Requests& loads, const Requests& stores, const Requests& atomics) {
    return loads.requests + stores.requests + atomics.requests > 0;
  };
  for (const Model& m : models) {
    shows.global = shows.global || any(m.global_loads, m.global_stores, m.global_atomics);
    shows.shared = shows.shared || any(m.shared_loads, m.shared_stores, m.shared_atomics);
    shows.exact = shows.exact && m.exact;
  }
  return simt::legend(shows);
}

}  // namespace course
