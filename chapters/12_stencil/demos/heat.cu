// Heat in a plane, step by step until it rests: the device decides when.
//
// The left edge is held at 1, the others at 0. A Jacobi step replaces each point by the mean of its
// four neighbours. Its kernel also reduces the largest change of any point: a maximum per block,
// then one atomicMax() per block. A kernel of one thread compares it with the limit and sets a
// flag. Later steps read the flag and return. So the host launches 50 steps and waits for one copy
// of 12 bytes; a host that decides must wait for a copy after each step.
//
//   nvcc -std=c++17 -arch=sm_90 heat.cu -o heat
//   ./heat

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// Ends the program if a CUDA call failed: one line names the call and its error, or says what this
/// machine lacks. Exit code 3: no usable GPU; 1: any other error.
void check(cudaError_t status, const char* call, int line) {
  if (status == cudaSuccess) return;
  int driver = 0;  // the newest CUDA that the driver supports (13000 is 13.0), 0 without a driver
  cudaDriverGetVersion(&driver);
  if (status == cudaErrorNoDevice) {
    std::fprintf(stderr, "no NVIDIA GPU found: its driver sees none (CUDA_VISIBLE_DEVICES set?)\n");
  } else if (status == cudaErrorInsufficientDriver && driver == 0) {
    std::fprintf(stderr, "no NVIDIA driver found: CUDA needs an NVIDIA GPU and its driver\n");
  } else if (status == cudaErrorInsufficientDriver) {
    std::fprintf(stderr, "NVIDIA driver too old: it serves CUDA %d.%d, not %d.%d; update it\n",
                 driver / 1000, driver % 100 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 100 / 10);
  } else {
    std::fprintf(stderr, "%s:%d: %s failed: %s: %s\n", __FILE__, line, call,
                 cudaGetErrorName(status), cudaGetErrorString(status));
    std::exit(1);
  }
  std::exit(3);
}
#define CHECK(call) check((call), #call, __LINE__)

constexpr int rows = 40, cols = 60;  // the points that change
constexpr int pitch = cols + 2;      // the field has a rim of one point, which stays
constexpr int points = (rows + 2) * pitch;
constexpr int block_cols = 32, block_rows = 8, warps = block_cols * block_rows / 32;
constexpr int batch = 50, most_batches = 200;
constexpr float limit = 1e-4f;    // the largest change of the last step is below it
constexpr double allowed = 1e-5;  // difference from the host's field
/// The largest change falls by 0.2 % per step, and rounding moves it by about as much.
constexpr int allowed_steps = 2;

/// What the device knows of the iteration. All zeros at first.
struct State {
  unsigned change;  // the largest change of this step so far, as the bits of a float
  int steps;        // counted until the field rests
  int done;
};

/// Floats that are not negative are in the order of their bits as unsigned integers. NaN is then
/// above all numbers, so a field with a NaN never rests.
__device__ unsigned bits_of_size(float x) { return __float_as_uint(fabsf(x)); }

/// The largest value of all threads of the block, for thread 0. All threads call it.
__device__ unsigned block_max(unsigned x) {
  __shared__ unsigned each[warps];
  const int t = threadIdx.y * block_cols + threadIdx.x;
  for (int step = 16; step > 0; step /= 2) x = max(x, __shfl_down_sync(~0u, x, step));
  if (t % 32 == 0) each[t / 32] = x;
  __syncthreads();
  if (t == 0) {
    for (int warp = 1; warp < warps; ++warp) x = max(x, each[warp]);
  }
  return x;
}

/// One step from now to next, and its largest change to state->change. One thread per point. Does
/// nothing once the field rests: the flag is the same for all threads, because no step writes it.
__global__ void step_heat(const float* now, float* next, State* state) {
  if (state->done) return;
  const int x = blockIdx.x * block_cols + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
  unsigned change = 0;
  if (x < cols && y < rows) {  // the other threads stay for the barrier
    const int at = (y + 1) * pitch + x + 1;
    const float mean = 0.25f * (now[at - 1] + now[at + 1] + now[at - pitch] + now[at + pitch]);
    next[at] = mean;
    change = bits_of_size(mean - now[at]);
  }
  change = block_max(change);
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicMax(&state->change, change);
}

/// Counts the step before, and sets the flag if it was the last one. One thread.
__global__ void decide(State* state) {
  if (state->done) return;
  ++state->steps;
  state->done = state->change < __float_as_uint(limit);
  state->change = 0;
}

/// The field at first: 0, but the rim on the left is 1.
template <class T>
std::vector<T> first_field() {
  std::vector<T> field(points);
  for (int y = 1; y <= rows; ++y) field[static_cast<std::size_t>(y) * pitch] = 1;
  return field;
}

/// One step on the host. \returns the largest change.
double step_on_host(const std::vector<double>& now, std::vector<double>* next) {
  double largest = 0;
  for (int y = 1; y <= rows; ++y) {
    for (int x = 1; x <= cols; ++x) {
      const std::size_t at = static_cast<std::size_t>(y) * pitch + x;
      (*next)[at] = 0.25 * (now[at - 1] + now[at + 1] + now[at - pitch] + now[at + pitch]);
      largest = std::max(largest, std::abs((*next)[at] - now[at]));
    }
  }
  return largest;
}

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;  // NaN stays
  }
  return largest;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "heat: bad argument '%s'; usage: heat\n", argv[1]);
    return 2;
  }
  std::vector<float> result = first_field<float>();
  const std::size_t bytes = result.size() * sizeof(float);
  float* field[2] = {};
  State* state = nullptr;
  for (float*& memory : field) {  // both, because a step does not write the rim
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemcpy(memory, result.data(), bytes, cudaMemcpyHostToDevice));
  }
  CHECK(cudaMalloc(&state, sizeof(State)));
  CHECK(cudaMemset(state, 0, sizeof(State)));

  const dim3 block(block_cols, block_rows);
  const dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
  State known = {};
  int batches = 0;
  for (; !known.done && batches < most_batches; ++batches) {
    for (int k = 0; k < batch; ++k) {
      const int step = batches * batch + k;
      step_heat<<<grid, block>>>(field[step % 2], field[(step + 1) % 2], state);
      CHECK(cudaGetLastError());
      decide<<<1, 1>>>(state);
      CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(&known, state, sizeof known, cudaMemcpyDeviceToHost));  // waits for the batch
  }
  // Steps after the last one wrote nothing, so its field is still where it was written.
  CHECK(cudaMemcpy(result.data(), field[known.steps % 2], bytes, cudaMemcpyDeviceToHost));
  for (float* const memory : field) CHECK(cudaFree(memory));
  CHECK(cudaFree(state));

  // On the host in double: the field after as many steps, the step at which it rests, and the field
  // that rests for good.
  std::vector<double> now = first_field<double>(), next = now, same_step;
  int host_steps = 0, step = 0;
  for (double change = 1; change > 1e-12 || step < known.steps;) {
    change = step_on_host(now, &next);
    now.swap(next);
    ++step;
    if (step == known.steps) same_step = now;
    if (host_steps == 0 && change < double(limit)) host_steps = step;
  }
  if (!known.done) {
    std::printf("WRONG: no rest after %d steps\n", batch * most_batches);
    return 1;
  }
  const double difference = largest_difference(result, same_step);
  const double left = largest_difference(result, now);
  std::printf("%d x %d points; a step changes no point by %.0e or more\n", rows, cols, limit);
  std::printf("device: after %d steps; host in double: after %d\n", known.steps, host_steps);
  std::printf("launched: %d steps in %d batches, %d of them after the flag was set\n",
              batch * batches, batches, batch * batches - known.steps);
  std::printf("copies to the host: %d of %zu bytes; one per step if the host decides: %d\n",
              batches, sizeof(State), known.steps);
  std::printf("difference from the host's field after as many steps: %.1e (allowed: %.0e)\n",
              difference, allowed);
  std::printf("distance from the field that rests for good: %.1e, %.0f times the limit:\n", left,
              left / limit);
  std::printf("  a small change per step does not mean that little is left to change.\n");
  const bool right = difference <= allowed && std::abs(known.steps - host_steps) <= allowed_steps;
  if (!right) std::printf("WRONG: another field, or another number of steps\n");
  return right ? 0 : 1;
}
