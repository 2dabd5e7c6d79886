// Two bodies on an orbit, a hundred turns: which method keeps the energy.
//
// A step of Euler's method takes positions and velocities of the same moment. The others take
// turns: a kick changes the velocity, a drift the position. In double, so that only the methods
// differ.
//
//   nvcc two_bodies.cu -o two_bodies
//   ./two_bodies

#include <cmath>
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

enum Method { euler, kick_drift, leapfrog };

/// What is integrated: r is the way from one body to the other, v its change; all masses together
/// are 1, and so is the long half axis of the ellipse. A turn takes 2 pi, the energy is -1/2.
struct Orbit {
  double x, y, vx, vy;
};

__host__ __device__ double energy(const Orbit& o) {
  return (o.vx * o.vx + o.vy * o.vy) / 2 - 1 / sqrt(o.x * o.x + o.y * o.y);
}

/// v += step * acceleration.
__device__ void kick(Orbit& o, double step) {
  const double r2 = o.x * o.x + o.y * o.y;
  const double pull = step / (r2 * sqrt(r2));
  o.vx -= pull * o.x;
  o.vy -= pull * o.y;
}

/// r += step * v.
__device__ void drift(Orbit& o, double step) {
  o.x += step * o.vx;
  o.y += step * o.vy;
}

struct Run {
  Method method;
  int steps_a_turn;
};

/// One thread a run. errors[run * turns + k] = the largest error of the energy during turn k.
__global__ void integrate(const Run* runs, double* errors, int count, int turns, Orbit start) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const Run run = runs[t];
  const double step = 2 * 3.14159265358979323846 / run.steps_a_turn, before = energy(start);
  Orbit o = start;
  for (int turn = 0; turn < turns; ++turn) {
    double largest = 0;
    for (int k = 0; k < run.steps_a_turn; ++k) {
      if (run.method == euler) {
        const Orbit old = o;
        kick(o, step);
        o.x += step * old.vx;
        o.y += step * old.vy;
      } else if (run.method == kick_drift) {
        kick(o, step);
        drift(o, step);
      } else {
        kick(o, step / 2);
        drift(o, step);
        kick(o, step / 2);
      }
      largest = fmax(largest, fabs(energy(o) - before));
    }
    errors[t * turns + turn] = largest;
  }
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "two_bodies: bad argument '%s'; usage: two_bodies\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  constexpr int turns = 100;
  const char* const names[] = {"Euler", "kick, drift", "half kick, drift, half kick"};
  const std::vector<Run> runs = {{euler, 256},      {euler, 512},    {kick_drift, 256},
                                 {kick_drift, 512}, {leapfrog, 256}, {leapfrog, 512}};
  const int count = static_cast<int>(runs.size());
  // An ellipse of eccentricity 1/2, from where the bodies are nearest.
  const Orbit start = {0.5, 0, 0, std::sqrt(3.0)};

  Run* device_runs = nullptr;
  double* device_errors = nullptr;
  std::vector<double> errors(count * turns);
  CHECK(cudaMalloc(&device_runs, count * sizeof(Run)));
  CHECK(cudaMalloc(&device_errors, errors.size() * sizeof(double)));
  CHECK(cudaMemcpy(device_runs, runs.data(), count * sizeof(Run), cudaMemcpyHostToDevice));
  integrate<<<1, 32>>>(device_runs, device_errors, count, turns, start);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(errors.data(), device_errors, errors.size() * sizeof(double),
                   cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_runs));
  CHECK(cudaFree(device_errors));

  std::printf("energy %.3f; its largest error\n", energy(start));
  std::printf("%-28s %12s %12s %12s %12s\n", "a step", "steps per turn", "in turn 1", "in turn 10",
              "in turn 100");
  for (int t = 0; t < count; ++t) {
    const double* const mine = &errors[t * turns];
    std::printf("%-28s %12d %12.1e %12.1e %12.1e\n", names[runs[t].method], runs[t].steps_a_turn,
                mine[0], mine[9], mine[99]);
  }
  const auto last = [&](int t) { return errors[t * turns + turns - 1]; };
  const bool runs_away = last(0) > 2 * errors[0] && last(1) > 2 * errors[turns];
  const bool stays = last(2) < 1.5 * errors[2 * turns] && last(4) < 1.5 * errors[4 * turns];
  const double first_order = last(2) / last(3), second_order = last(4) / last(5);
  std::printf("steps half as long: error / %.1f by kick, drift; / %.1f by half kicks\n",
              first_order, second_order);
  const bool orders =
      first_order > 1.6 && first_order < 2.5 && second_order > 3.5 && second_order < 4.5;
  return runs_away && stays && orders ? 0 : 1;
}
