// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include "chapter/rows.hpp"
#include "measure/anchors.hpp"
#include "stencil.hpp"

using namespace course;

COURSE_LAUNCHERS(StepWave, (step), global, march, tile, vectors, tma, limit);
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

Study radii() {
  Study study = at_sizes(sequence(), "radius", "A wave, over the radius", "01-05,80",
                         {field_size(512, 512, 512, 1), field_size(512, 512, 512, 2),
                          field_size(512, 512, 512, 3), field_size(512, 512, 512, 4)},
                         "radius", "radius");
  study.cpu_sizes = {field_size(8, 32, 128, 1)};
  study.log_axis = false;
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
  return {"12_stencil", "a field, one time step later", {sequence(), radii(), times(), planes()}};
}
