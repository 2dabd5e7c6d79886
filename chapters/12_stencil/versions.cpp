// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <cmath>
#include <utility>

#include "chapter/rows.hpp"
#include "measure/anchors.hpp"
#include "stencil.hpp"

using namespace course;

COURSE_LAUNCHERS(StepWave, (step), global, march, tile, vectors, tma, limit);
COURSE_LAUNCHERS(StepHeat, (step_heat), limit);
COURSE_LAUNCHERS(StepLayers, (step_layers), limit);
COURSE_LAUNCHERS(StepTilted, (step), tilted_async, tilted_tma, tilted_order, tilted_ring);
COURSE_LAUNCHERS(StepSeveral, (step), in_time);
COURSE_LAUNCHERS(StepPlane, (step), plane_global, plane_tile, plane_async, plane_tma,
                 plane_vectors);
COURSE_LAUNCHERS(StepPlane, (step_many), plane_global, plane_tile, plane_async, plane_tma);

namespace {

/// Both edges, more than one block each way, and fields smaller than a star.
std::vector<Size> field_tests() {
  std::vector<Size> sizes = {field_size(0, 5, 4, 1), field_size(5, 0, 4, 1),
                             field_size(5, 4, 0, 1)};
  for (const int radius : {1, 2, 3, 4}) {
    sizes.push_back(field_size(6, 18, 132, radius));  // rows of whole vectors
    sizes.push_back(field_size(1, 2, 3, radius, radius % 2));
  }
  sizes.push_back(field_size(3, 34, 40, 2));
  sizes.push_back(field_size(5, 18, 133, 4));
  sizes.push_back(field_size(5, 18, 133, 1, by_periodic));
  sizes.push_back(field_size(5, 17, 136, 4, by_periodic));
  sizes.push_back(field_size(67, 3, 8, 4));  // two pieces along z
  sizes.push_back(field_size(67, 2, 7, 2, by_periodic));
  sizes.push_back(field_size(1, 1, 1, 4, by_periodic));
  return sizes;
}

std::vector<Size> plane_tests() {
  std::vector<Size> sizes = {plane_size(0, 5, 1),   plane_size(5, 0, 1),    plane_size(66, 260, 1),
                             plane_size(26, 75, 8), plane_size(70, 132, 4), plane_size(33, 132, 8)};
  for (const int radius : {2, 3, 5, 6, 7}) sizes.push_back(plane_size(9, 140, radius));
  for (const int radius : {1, 4, 8}) {
    sizes.push_back(plane_size(35, 131, radius, by_periodic));
    sizes.push_back(plane_size(3, 2, radius, radius == 4 ? by_fixed : by_periodic));
  }
  return sizes;
}

Study sequence() {
  Study study{"sequence", "A wave in three dimensions, order 8", Type::f32, make_problem<Wave>()};
  study.versions = {row("01_global", "all from global memory", global::step),
                    row("02_march", "a queue along z", march::step),
                    row("03_tile", "planes in shared memory", tile::step),
                    row("04_vectors", "four points per thread", vectors::step),
                    row("05_tma", "a ring of planes", tma::step),
                    row("80_limit", "two rows per thread, nothing moves", limit::step)};
  study.sizes = {field_size(512, 512, 512, 4)};
  study.cpu_sizes = {field_size(16, 32, 128, 4)};
  study.test_sizes = field_tests();
  study.limit = memory_limit;
  return study;
}

/// 512 x 512 x 512 points, for each radius.
std::vector<Size> each_radius() {
  std::vector<Size> sizes;
  for (const int radius : {1, 2, 3, 4}) sizes.push_back(field_size(512, 512, 512, radius));
  return sizes;
}

Study radii() {
  Study study = at_sizes(sequence(), "radius", "A wave, over the radius", "01-05,80", each_radius(),
                         "radius", "radius");
  study.cpu_sizes = {field_size(8, 32, 128, 1)};
  study.log_axis = false;
  return study;
}

/// A study over the radius, of fields.
Study over_radius(const char* name, const char* title, MakeProblem make) {
  Study study{name, title, Type::f32, std::move(make)};
  study.sizes = each_radius();
  study.cpu_sizes = {field_size(8, 32, 128, 1)};
  study.test_sizes = field_tests();
  study.axis = "radius";
  study.axis_label = "radius";
  study.log_axis = false;
  study.limit = memory_limit;
  return study;
}

Study of_heat() {
  Study study = over_radius("heat", "Heat, over the radius", make_problem<Heat>());
  study.versions = {row("heat_80", "one array read", limit::step_heat).in_file("80_limit")};
  return study;
}

Study of_layers() {
  Study study = over_radius("layers", "A wave with a speed per point", make_problem<Layers>());
  study.versions = {row("layers_80", "three arrays read", limit::step_layers).in_file("80_limit")};
  return study;
}

Study tilted() {
  Study study = over_radius("tilted", "A wave in tilted directions", make_problem<TiltedWave>());
  study.versions = {row("21_tilted_async", "asynchronous copies", tilted_async::step),
                    row("22_tilted_tma", "a tile by the TMA", tilted_tma::step),
                    row("23_tilted_order", "fetch before the work", tilted_order::step),
                    row("24_tilted_ring", "a ring of planes", tilted_ring::step)};
  return study;
}

/// Fields and edges by chance; no choice of a version was tuned on them.
Study any_field() {
  Study study = at_sizes(sequence(), "any", "Any field, radius and edge", "04,05,80", {});
  const auto chance = [](int k, int what) {  // from 0 to below 1
    return static_cast<double>(mix(1129, static_cast<std::uint64_t>(8 * k + what)) >> 11) * 0x1p-53;
  };
  const auto side = [&](int k, int what) {
    return static_cast<std::int64_t>(std::exp2(7 + 3 * chance(k, what)));
  };
  for (int k = 0; k < 16; ++k) {
    const bool whole = chance(k, 4) < 0.8;  // rows of whole vectors
    const std::int64_t cols = side(k, 2), radius = 1 + static_cast<std::int64_t>(4 * chance(k, 3));
    study.sizes.push_back(field_size(side(k, 0), side(k, 1), whole ? (cols + 3) / 4 * 4 : cols,
                                     radius, chance(k, 5) < 0.8 ? by_fixed : by_periodic));
  }
  study.cpu_sizes = {field_size(20, 37, 132, 3)};
  return study;
}

/// A wave of which most has not arrived yet, in ordinary memory and in compressible memory.
Study compressed() {
  Study study{"compressed", "A wave that spreads, in compressible memory", Type::f32,
              make_problem<Pulse>(false)};
  study.versions = {row("ordinary_80", "cudaMalloc", limit::step).in_file("80_limit"),
                    row("compressible_80", "compressible memory", limit::step)
                        .in_file("80_limit")
                        .solving(make_problem<Pulse>(true))};
  for (const int spread : {1, 128, 256, 384, 512, 640, 896})
    study.sizes.push_back(pulse_size(512, 512, 512, 4, spread));
  study.cpu_sizes = {pulse_size(16, 32, 128, 4, 64)};
  study.test_sizes = {pulse_size(24, 32, 64, 4, 20)};
  study.axis = "spread";
  study.axis_label = "diameter of the wave, points";
  study.log_axis = false;
  study.limit = memory_limit;
  return study;
}

/// Points and steps per second of a version that reads and writes the field in each step, as fast
/// as a copy. Several steps at once may pass it.
Limit of_single_steps(const Anchors& anchors, const Problem& problem) {
  const Limit memory = memory_limit(anchors, problem);
  return {"single steps", memory.value / 8, "Gpoint/s",
          "derived: 8 bytes per point and step; " + memory.how};
}

Study times() {
  Study study{"time", "Several steps of heat at once, order 2", Type::f32,
              make_problem<SeveralSteps>()};
  study.versions = {row("06_time", "steps on the chip", in_time::step)};
  for (const int steps : {1, 2, 3, 4}) {
    study.sizes.push_back(steps_size(512, 512, 512, steps));
    study.test_sizes.push_back(steps_size(3, 31, 128, steps));
    study.test_sizes.push_back(steps_size(4, 29, 125, steps, steps % 2));
    study.test_sizes.push_back(steps_size(2, 1, 3, steps, by_periodic));
  }
  study.test_sizes.push_back(steps_size(0, 4, 4, 1));
  study.test_sizes.push_back(steps_size(23, 5, 124, 4));
  study.cpu_sizes = {steps_size(16, 24, 120, 2)};
  study.axis = "steps";
  study.axis_label = "steps";
  study.log_axis = false;
  study.limit = of_single_steps;
  return study;
}

Study planes() {
  Study study{"plane", "A plane, over the radius", Type::f32, make_problem<Heat>()};
  const auto many = [](const char* id, const char* file, StepPlane* launcher) {
    return row(id, "4 x 4 points per thread", launcher).in_file(file);
  };
  study.versions = {row("11_plane_global", "all from global memory", plane_global::step),
                    many("global_4x4", "11_plane_global", plane_global::step_many),
                    row("12_plane_tile", "tile with halo", plane_tile::step),
                    many("tile_4x4", "12_plane_tile", plane_tile::step_many),
                    row("13_plane_async", "asynchronous copies", plane_async::step),
                    many("async_4x4", "13_plane_async", plane_async::step_many),
                    row("14_plane_tma", "a box", plane_tma::step),
                    many("tma_4x4", "14_plane_tma", plane_tma::step_many),
                    row("15_plane_vectors", "a box, by vectors", plane_vectors::step)};
  for (const int radius : {1, 2, 4, 8}) study.sizes.push_back(plane_size(16384, 16384, radius));
  study.cpu_sizes = {plane_size(64, 256, 2)};
  study.test_sizes = plane_tests();
  study.axis = "radius";
  study.axis_label = "radius";
  study.log_axis = false;
  study.limit = memory_limit;
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"12_stencil",
          "a field, one time step later",
          {sequence(), radii(), of_heat(), of_layers(), any_field(), compressed(), times(),
           planes(), tilted()}};
}
