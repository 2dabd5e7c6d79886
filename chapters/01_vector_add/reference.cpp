// The loop that the whole chapter makes fast, and its check. Needs no CUDA.
#include "reference.hpp"

#include "vector_add.hpp"

static void add_on_the_cpu(const float* a, const float* b, float* c, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  course::Reference reference;
  reference.chapter = "01_vector_add";
  reference.what = "c = a + b";
  reference.make = [](const course::Size& size, std::uint64_t seed, course::Input input) {
    return std::make_unique<VectorAdd>(size, seed, input);
  };
  reference.solve = [](const course::Problem& problem, course::HostArrays& arrays) {
    add_on_the_cpu(arrays.inputs[0].data(), arrays.inputs[1].data(), arrays.outputs[0].data(),
                   problem.n());
  };
  for (const std::int64_t n : {0, 1, 257, 1000003, 1 << 24})
    reference.sizes.push_back({{{"n", n}}});
  return course::run_reference(argc, argv, reference);
}
