// A system of bodies through time: leapfrog steps, energies, snapshots for ./draw; and --accuracy.
// Steps are made with the chapter's kernels; energy, momentum and angular momentum are watched.
// --accuracy says how far each version is from double.
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "chapter/launchers.hpp"
#include "nbody.hpp"

// The versions. One that was not built is left out.
COURSE_LAUNCHERS(AccelerateFloat, (accelerate), float4_loads, shared_tile, unrolled,
                 bodies_per_thread, fast_rsqrt, folded, limit, third_law, sample_form);
COURSE_LAUNCHERS(AccelerateDouble, (global_memory, fast_root), double_precision);

namespace {

// ---- Errors and device memory ----

/// Ends the program with one line: 1 an error, 2 bad usage, 3 no GPU.
struct Failure : std::runtime_error {
  Failure(const std::string& line, int exit_code) : runtime_error(line), code(exit_code) {}
  int code;
};

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  const bool no_gpu = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  throw Failure(std::string(what) + ": " + cudaGetErrorString(error), no_gpu ? 3 : 1);
}

/// Four numbers of a body: position and mass, velocity, or acceleration.
template <class T>
struct alignas(16) Four {
  T x, y, z, w;
};
static_assert(sizeof(Four<float>) == sizeof(float4), "launchers take it for one");

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(count, 1) * sizeof(T)),
          "cudaMalloc");
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> host(count_);
    check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// ---- Kernels ----

constexpr int block_size = 256;
unsigned blocks_for(std::int64_t n) {
  return static_cast<unsigned>((n + block_size - 1) / block_size);
}

/// velocity += step * acceleration.
template <class T>
__global__ void kick(Four<T>* velocity, const Four<T>* acceleration, int n, T step) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  Four<T> v = velocity[i];
  const Four<T> a = acceleration[i];
  v.x += step * a.x, v.y += step * a.y, v.z += step * a.z;
  velocity[i] = v;
}

/// position += step * velocity.
template <class T>
__global__ void drift(Four<T>* bodies, const Four<T>* velocity, int n, T step) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  Four<T> p = bodies[i];
  const Four<T> v = velocity[i];
  p.x += step * v.x, p.y += step * v.y, p.z += step * v.z;
  bodies[i] = p;
}

/// potential[i] = - the sum over all j other than i of m_j / sqrt(distance^2 + softening^2), in
/// double: the energy's drift is smaller than what float would lose here.
template <class T>
__global__ void find_potential(const Four<T>* bodies, double* potential, int n, double softening2) {
  __shared__ Four<double> tile[block_size];
  const int t = threadIdx.x;
  const int i = blockIdx.x * block_size + t;
  const auto widened = [&](int k) {
    return k < n ? Four<double>{bodies[k].x, bodies[k].y, bodies[k].z, bodies[k].w}
                 : Four<double>{0, 0, 0, 0};
  };
  const Four<double> me = widened(i);
  double sum = 0;
  for (int first = 0; first < n; first += block_size) {
    tile[t] = widened(first + t);
    __syncthreads();
    for (int j = 0; j < block_size; ++j) {
      const Four<double> other = tile[j];
      const double dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const double mass = first + j == i ? 0 : other.w;
      sum -= mass * rsqrt(dx * dx + dy * dy + dz * dz + softening2);
    }
    __syncthreads();
  }
  if (i < n) potential[i] = sum;
}

cudaError_t accelerate(const Four<float>* bodies, Four<float>* acceleration, std::int64_t n,
                       double softening) {
  if (!folded::accelerate) throw Failure("version 08_folded is not in this build", 1);
  return folded::accelerate(reinterpret_cast<const float4*>(bodies),
                            reinterpret_cast<float4*>(acceleration), n,
                            static_cast<float>(softening), nullptr);
}

cudaError_t accelerate(const Four<double>* bodies, Four<double>* acceleration, std::int64_t n,
                       double softening) {
  using namespace double_precision;
  if (!fast_root) throw Failure("studies/double_precision is not in this build", 1);
  return fast_root(reinterpret_cast<const Body*>(bodies), reinterpret_cast<Vector*>(acceleration),
                   n, softening, nullptr);
}

// ---- Models: units in which G = 1 ----

struct System {
  std::vector<Four<double>> bodies, velocities;
  int parts = 1;  ///< equal shares of the bodies that a drawing tells apart
};

/// Uniform in (0, 1), from a counter: the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  double operator()() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
  }
  /// A vector of this length in any direction.
  Four<double> direction(double length) {
    constexpr double pi = 3.14159265358979323846;
    const double z = 2 * (*this)() - 1, angle = 2 * pi * (*this)();
    const double across = length * std::sqrt(1 - z * z);
    return {across * std::cos(angle), across * std::sin(angle), length * z, 0};
  }

 private:
  std::uint64_t state_;
};

/// Adds a Plummer sphere of `count` bodies: mass / (1 + (r / scale)^2)^(5/2) at radius r,
/// velocities in equilibrium. Method: Aarseth, Henon, Wielen, Astronomy and Astrophysics 37 (1974),
/// appendix.
void add_plummer(System& system, std::int64_t count, double mass, double scale, Random& random) {
  constexpr double farthest = 10;  // in scales: 1.5 % of the mass would lie outside
  const double each = mass / static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    double r = farthest;
    while (r >= farthest) r = 1 / std::sqrt(std::pow(random(), -2.0 / 3) - 1);
    Four<double> p = random.direction(scale * r);
    p.w = each;
    double part = 0, height = 1;  // of the escape velocity: density part^2 (1 - part^2)^(7/2)
    while (height > part * part * std::pow(1 - part * part, 3.5)) {
      part = random();
      height = 0.1 * random();
    }
    const double escape = std::sqrt(2 * mass / scale) * std::pow(1 + r * r, -0.25);
    system.bodies.push_back(p);
    system.velocities.push_back(random.direction(part * escape));
  }
}

/// Moves the centre of mass to the origin, and brings it to rest.
void centre(System& system) {
  Four<double> p{}, v{};
  for (std::size_t i = 0; i < system.bodies.size(); ++i) {
    const Four<double>& body = system.bodies[i];
    const Four<double>& velocity = system.velocities[i];
    const double m = body.w;
    p.x += m * body.x, p.y += m * body.y, p.z += m * body.z, p.w += m;
    v.x += m * velocity.x, v.y += m * velocity.y, v.z += m * velocity.z;
  }
  for (Four<double>& body : system.bodies) {
    body.x -= p.x / p.w, body.y -= p.y / p.w, body.z -= p.z / p.w;
  }
  for (Four<double>& velocity : system.velocities) {
    velocity.x -= v.x / p.w, velocity.y -= v.y / p.w, velocity.z -= v.z / p.w;
  }
}

/// Total mass 1, scale 3 pi / 16: energy -1/4 without softening.
System plummer(std::int64_t n, Random& random) {
  System system;
  add_plummer(system, n, 1, 3 * 3.14159265358979323846 / 16, random);
  centre(system);
  return system;
}

/// A galaxy of mass 1: half of it in a round bulge, half in a disc that turns about the z axis.
/// The disc's velocities are those of circles in the gravity of all bodies, which our own kernel
/// finds.
System galaxy(std::int64_t n, double softening, Random& random) {
  constexpr double bulge_scale = 0.25, disc_scale = 0.6, thickness = 0.04, pi = 3.14159265358979;
  System system;
  const std::int64_t round = n / 4;
  add_plummer(system, round, round > 0 ? 0.5 : 0, bulge_scale, random);
  for (std::int64_t i = round; i < n; ++i) {
    // the radius of an exponential disc is a sum of two exponential numbers
    const double r = -disc_scale * std::log(random() * random()), angle = 2 * pi * random();
    const double height = thickness * std::log(random() / random());
    const double each = (round > 0 ? 0.5 : 1.0) / static_cast<double>(n - round);
    system.bodies.push_back({r * std::cos(angle), r * std::sin(angle), height, each});
    system.velocities.push_back({0, 0, 0, 0});
  }
  const DeviceArray<Four<double>> bodies(system.bodies), acceleration(system.bodies.size());
  check(accelerate(bodies.data(), acceleration.data(), n, softening), "accelerate");
  const std::vector<Four<double>> a = acceleration.host();
  for (std::size_t i = static_cast<std::size_t>(round); i < system.bodies.size(); ++i) {
    const Four<double>& p = system.bodies[i];
    const double r = std::hypot(p.x, p.y);
    const double inwards = -(a[i].x * p.x + a[i].y * p.y) / r;
    const double speed = std::sqrt(std::max(inwards, 0.0) * r);
    const Four<double> jitter = random.direction(0.1 * speed);
    system.velocities[i] = {-speed * p.y / r + jitter.x, speed * p.x / r + jitter.y, jitter.z, 0};
  }
  return system;
}

/// Turns a system about the x axis and moves it.
void place(System& system, double angle, Four<double> to, Four<double> velocity) {
  const double c = std::cos(angle), s = std::sin(angle);
  const auto turn = [&](Four<double>& v, const Four<double>& shift) {
    v = {v.x + shift.x, c * v.y - s * v.z + shift.y, s * v.y + c * v.z + shift.z, v.w};
  };
  for (Four<double>& p : system.bodies) turn(p, to);
  for (Four<double>& v : system.velocities) turn(v, velocity);
}

/// Two galaxies of mass 1 on a parabola: what their centres have of energy is just none.
System galaxies(std::int64_t n, double softening, Random& random) {
  constexpr double apart = 6, nearest = 0.8, mass = 2;
  System one = galaxy(n - n / 2, softening, random), two = galaxy(n / 2, softening, random);
  const double speed = std::sqrt(2 * mass / apart);
  const double across = std::sqrt(2 * mass * nearest) / apart;
  const double along = std::sqrt(speed * speed - across * across);
  place(one, 0.4, {-apart / 2, 0, 0, 0}, {along / 2, across / 2, 0, 0});
  place(two, -1.0, {apart / 2, 0, 0, 0}, {-along / 2, -across / 2, 0, 0});
  one.bodies.insert(one.bodies.end(), two.bodies.begin(), two.bodies.end());
  one.velocities.insert(one.velocities.end(), two.velocities.begin(), two.velocities.end());
  one.parts = 2;
  centre(one);
  return one;
}

// ---- What should stay as it is ----

struct State {
  double kinetic = 0, potential = 0;
  double momentum[3] = {}, angular[3] = {};
  double momentum_scale = 0, angular_scale = 0;  ///< sums of the magnitudes
  double energy() const { return kinetic + potential; }
};

double distance(const double* a, const double* b) {
  return std::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                   (a[2] - b[2]) * (a[2] - b[2]));
}

/// How far a state has come from another: of the energy, of all momenta, of all angular momenta.
struct Drift {
  double energy, momentum, angular;
};
Drift drift_between(const State& first, const State& now) {
  const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  return {ratio(now.energy() - first.energy(), std::fabs(first.energy())),
          ratio(distance(now.momentum, first.momentum), first.momentum_scale),
          ratio(distance(now.angular, first.angular), first.angular_scale)};
}

template <class T>
class Simulation {
 public:
  Simulation(const System& system, double softening, double step)
      : n_(static_cast<std::int64_t>(system.bodies.size())),
        softening_(softening),
        step_(step),
        bodies_(converted(system.bodies)),
        velocities_(converted(system.velocities)),
        accelerations_(system.bodies.size()),
        potential_(system.bodies.size()) {
    find_accelerations();
  }

  /// Half a kick, a drift, half a kick: second order, and symplectic: it nearly keeps an energy
  /// that differs a little from the true one, which is why that one wavers and does not run away.
  void advance() {
    const int n = static_cast<int>(n_);
    kick<T><<<blocks_for(n_), block_size>>>(velocities_.data(), accelerations_.data(), n,
                                            static_cast<T>(step_ / 2));
    drift<T><<<blocks_for(n_), block_size>>>(bodies_.data(), velocities_.data(), n,
                                             static_cast<T>(step_));
    find_accelerations();
    kick<T><<<blocks_for(n_), block_size>>>(velocities_.data(), accelerations_.data(), n,
                                            static_cast<T>(step_ / 2));
    check(cudaGetLastError(), "kick or drift");
  }

  std::vector<Four<T>> bodies() const { return bodies_.host(); }

  State state() const {
    find_potential<T><<<blocks_for(n_), block_size>>>(
        bodies_.data(), potential_.data(), static_cast<int>(n_), softening_ * softening_);
    check(cudaGetLastError(), "find_potential");
    const std::vector<double> potential = potential_.host();
    const std::vector<Four<T>> bodies = bodies_.host(), velocities = velocities_.host();
    State state;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Four<T>&p = bodies[i], &v = velocities[i];
      const double m = p.w;
      const double momentum[3] = {m * v.x, m * v.y, m * v.z};
      const double angular[3] = {p.y * momentum[2] - p.z * momentum[1],
                                 p.z * momentum[0] - p.x * momentum[2],
                                 p.x * momentum[1] - p.y * momentum[0]};
      const double zero[3] = {};
      state.kinetic += 0.5 * (momentum[0] * v.x + momentum[1] * v.y + momentum[2] * v.z);
      state.potential += 0.5 * m * potential[i];
      for (int k = 0; k < 3; ++k) {
        state.momentum[k] += momentum[k];
        state.angular[k] += angular[k];
      }
      state.momentum_scale += distance(momentum, zero);
      state.angular_scale += distance(angular, zero);
    }
    return state;
  }

 private:
  static std::vector<Four<T>> converted(const std::vector<Four<double>>& values) {
    std::vector<Four<T>> result;
    for (const Four<double>& v : values) {
      result.push_back(
          {static_cast<T>(v.x), static_cast<T>(v.y), static_cast<T>(v.z), static_cast<T>(v.w)});
    }
    return result;
  }
  void find_accelerations() {
    check(accelerate(bodies_.data(), accelerations_.data(), n_, softening_), "accelerate");
  }

  std::int64_t n_;
  double softening_, step_;
  DeviceArray<Four<T>> bodies_, velocities_, accelerations_;
  DeviceArray<double> potential_;
};

// ---- Command line ----

struct Options {
  std::string model = "plummer", out;
  std::int64_t n = 4096, steps = 1024, every = 64, seed = 1;
  double dt = 1.0 / 128, softening = 1.0 / 64;
  bool use_double = false, force = false, csv = false, drift = false, help = false;
  bool accuracy = false;
};

constexpr const char* usage =
    R"(usage: 06_nbody_simulate [options]
  --model NAME      plummer (a round cluster) or galaxies (two that collide); plummer
  --n N             bodies; 4096
  --steps N         steps of time; 1024
  --dt X            length of a step; 0.0078125 (1/128)
  --softening X     length below which gravity fades; 0.015625 (1/64)
  --double          compute in double
  --seed N          other bodies of the same model; 1
  --every N         print energies and write a snapshot every N steps; 64
  --out FOLDER      write snapshots there: a line of text, then x y z m of each body as float32
  --csv             snapshots as CSV instead
  --force           replace the snapshots that are in FOLDER
  --drift           print the drift of energy and momentum as CSV, and nothing else
  --accuracy N      print the errors of each version for a Plummer sphere of N bodies as CSV
  --help
)";

[[noreturn]] void bad(const std::string& line) { throw Failure(line + " (--help lists all)", 2); }

std::int64_t whole(const std::string& name, const std::string& text, std::int64_t least,
                   std::int64_t most) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno != 0 || value < least || value > most) {
    bad(name + " '" + text + "': a whole number from " + std::to_string(least) + " to " +
        std::to_string(most) + " is needed");
  }
  return value;
}

double positive(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0) || !std::isfinite(value)) {
    bad(name + " '" + text + "': a number above zero is needed");
  }
  return value;
}

Options parse(const std::vector<std::string>& arguments) {
  constexpr std::int64_t most_bodies = 1 << 26, most = std::int64_t{1} << 40;
  Options o;
  std::string unfit;  // the last option that says nothing about --accuracy
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string& name = arguments[k];
    if (name != "--accuracy" && name != "--seed" && name != "--softening") unfit = name;
    const auto value = [&]() -> const std::string& {
      if (k + 1 == arguments.size()) bad(name + " needs a value");
      return arguments[++k];
    };
    if (name == "--model") {
      o.model = value();
      if (o.model != "plummer" && o.model != "galaxies") {
        bad("--model '" + o.model + "' is neither plummer nor galaxies");
      }
    } else if (name == "--n") {
      o.n = whole(name, value(), 1, most_bodies);
    } else if (name == "--accuracy") {
      o.n = whole(name, value(), 1, most_bodies);
      o.accuracy = true;
    } else if (name == "--steps") {
      o.steps = whole(name, value(), 0, most);
    } else if (name == "--every") {
      o.every = whole(name, value(), 1, most);
    } else if (name == "--seed") {
      o.seed = whole(name, value(), 0, most);
    } else if (name == "--dt") {
      o.dt = positive(name, value());
    } else if (name == "--softening") {
      o.softening = positive(name, value());
    } else if (name == "--out") {
      o.out = value();
      if (o.out.empty()) bad("--out needs the name of a folder");
    } else if (name == "--double") {
      o.use_double = true;
    } else if (name == "--csv") {
      o.csv = true;
    } else if (name == "--force") {
      o.force = true;
    } else if (name == "--drift") {
      o.drift = true;
    } else if (name == "--help" || name == "-h") {
      o.help = true;
    } else {
      bad("no option '" + name + "'");
    }
  }
  if (o.out.empty() && (o.csv || o.force)) bad("--csv and --force are for --out FOLDER");
  if (o.accuracy && !o.help && !unfit.empty()) {
    bad("--accuracy goes with --seed and --softening, not with " + unfit);
  }
  if (o.drift && !o.out.empty()) bad("--drift writes no snapshots: leave out --out");
  return o;
}

// ---- Snapshots ----

namespace fs = std::filesystem;

bool is_snapshot(const fs::path& file) {
  return file.filename().string().rfind("snapshot_", 0) == 0;
}

/// Makes the folder. Snapshots that are there are an error, or removed with --force.
void prepare_folder(const Options& o) {
  std::error_code error;
  fs::create_directories(o.out, error);
  if (error || !fs::is_directory(o.out)) {
    throw Failure("--out " + o.out + ": cannot be made a folder", 2);
  }
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(o.out, error)) {
    if (is_snapshot(entry.path())) old.push_back(entry.path());
  }
  if (error) throw Failure("--out " + o.out + ": " + error.message(), 2);
  if (!old.empty() && !o.force) {
    throw Failure("--out " + o.out + " has snapshots already: name another folder, or --force", 2);
  }
  for (const fs::path& file : old) fs::remove(file, error);
}

template <class T>
void write_snapshot(const Options& o, const System& system, const std::vector<Four<T>>& bodies,
                    std::int64_t step) {
  char name[40], header[200];
  std::snprintf(name, sizeof name, "snapshot_%08lld.%s", static_cast<long long>(step),
                o.csv ? "csv" : "bin");
  const fs::path path = fs::path(o.out) / name;
  std::snprintf(header, sizeof header, "# nbody n=%zu step=%lld time=%.9g parts=%d model=%s %s\n",
                bodies.size(), static_cast<long long>(step), static_cast<double>(step) * o.dt,
                system.parts, o.model.c_str(), o.csv ? "csv" : "float32");
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) throw Failure(path.string() + ": " + std::strerror(errno), 1);
  bool good = std::fputs(header, file) >= 0;
  if (o.csv) good = good && std::fputs("x,y,z,m\n", file) >= 0;
  for (const Four<T>& b : bodies) {
    const float values[4] = {static_cast<float>(b.x), static_cast<float>(b.y),
                             static_cast<float>(b.z), static_cast<float>(b.w)};
    if (o.csv) {
      good = good && std::fprintf(file, "%.9g,%.9g,%.9g,%.9g\n", values[0], values[1], values[2],
                                  values[3]) > 0;
    } else {
      good = good && std::fwrite(values, sizeof values, 1, file) == 1;
    }
  }
  good = std::fclose(file) == 0 && good;
  if (!good) throw Failure(path.string() + ": could not be written; is the disk full?", 1);
}

// ---- What the program does ----

void show_progress(const char* what, std::int64_t done, std::int64_t all) {
  if (!isatty(STDERR_FILENO)) return;
  if (done < all) {
    std::fprintf(stderr, "\r%s %lld of %lld ", what, static_cast<long long>(done),
                 static_cast<long long>(all));
  } else {
    std::fprintf(stderr, "\r%40s\r", "");
  }
}

System system_of(const Options& o) {
  Random random(static_cast<std::uint64_t>(o.seed));
  return o.model == "plummer" ? plummer(o.n, random) : galaxies(o.n, o.softening, random);
}

template <class T>
void simulate(const Options& o) {
  if (!o.out.empty()) prepare_folder(o);
  const System system = system_of(o);
  Simulation<T> simulation(system, o.softening, o.dt);
  const State first = simulation.state();
  if (o.drift) {
    std::puts("step,energy_drift,momentum_drift,angular_momentum_drift");
  } else {
    std::printf("%s, %lld bodies, %lld steps of %g, softening %g, %s\n", o.model.c_str(),
                static_cast<long long>(o.n), static_cast<long long>(o.steps), o.dt, o.softening,
                sizeof(T) == 4 ? "float" : "double");
    std::puts(
        "    step      time    kinetic  potential      total  energy by momentum by  angular by");
  }
  for (std::int64_t step = 0; step <= o.steps; ++step) {
    if (step > 0) simulation.advance();
    show_progress("step", step, o.steps);
    if (step % o.every != 0 && step != o.steps) continue;
    const State now = step == 0 ? first : simulation.state();
    if (!std::isfinite(now.energy())) {
      throw Failure("step " + std::to_string(step) +
                        ": the energy is no number any more; take a smaller --dt",
                    1);
    }
    const Drift by = drift_between(first, now);
    if (o.drift) {
      std::printf("%lld,%.4g,%.4g,%.4g\n", static_cast<long long>(step), by.energy, by.momentum,
                  by.angular);
    } else {
      std::printf("%8lld %9.4f %10.6f %10.6f %10.6f %10.2e %11.2e %11.2e\n",
                  static_cast<long long>(step), static_cast<double>(step) * o.dt, now.kinetic,
                  now.potential, now.energy(), by.energy, by.momentum, by.angular);
    }
    std::fflush(stdout);
    if (!o.out.empty()) write_snapshot(o, system, simulation.bodies(), step);
  }
  if (!o.out.empty()) {
    std::printf("snapshots in %s; to see them: chapters/06_nbody/draw %s\n", o.out.c_str(),
                o.out.c_str());
  }
}

/// Errors of a version: median, the 99th of 100, and the largest, each relative to the length of a
/// body's acceleration.
void print_errors(const char* version, const std::vector<Four<double>>& got,
                  const std::vector<Four<double>>& want) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double a[3] = {got[i].x, got[i].y, got[i].z}, b[3] = {want[i].x, want[i].y, want[i].z};
    const double zero[3] = {}, length = distance(b, zero);
    errors.push_back(length > 0 ? distance(a, b) / length : distance(a, b));
  }
  std::sort(errors.begin(), errors.end());
  const auto part = [&](std::size_t hundredths) {
    return errors[(errors.size() - 1) * hundredths / 100];
  };
  std::printf("%s,%.3g,%.3g,%.3g\n", version, part(50), part(99), errors.back());
  std::fflush(stdout);
}

void measure_accuracy(const Options& o) {
  using namespace double_precision;
  Options plain = o;
  plain.model = "plummer";
  const System system = system_of(plain);
  std::vector<Four<float>> bodies;
  std::vector<Four<double>> same;  // the rounded positions, so that only the arithmetic differs
  for (const Four<double>& p : system.bodies) {
    bodies.push_back({static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z),
                      static_cast<float>(p.w)});
    const Four<float>& b = bodies.back();
    same.push_back({b.x, b.y, b.z, b.w});
  }
  const DeviceArray<Four<float>> in(bodies), out(bodies.size());
  const DeviceArray<Four<double>> wide_in(same), wide_out(same.size());
  const auto run_double = [&](double_precision::AccelerateDouble* launch) {
    check(launch(reinterpret_cast<const Body*>(wide_in.data()),
                 reinterpret_cast<Vector*>(wide_out.data()), o.n, o.softening, nullptr),
          "accelerate");
    return wide_out.host();
  };
  if (!global_memory) throw Failure("studies/double_precision is not in this build", 1);
  const std::vector<Four<double>> want = run_double(global_memory);
#ifdef SIMT
  std::puts("# CPU backend: roots are rounded to float here; a GPU's are an approximation");
#endif
  std::puts("version,median,percentile_99,largest");
  const std::pair<const char*, AccelerateFloat*> versions[] = {
      {"03_float4", float4_loads::accelerate},
      {"04_shared_tile", shared_tile::accelerate},
      {"05_unrolled", unrolled::accelerate},
      {"06_bodies_per_thread", bodies_per_thread::accelerate},
      {"07_fast_rsqrt", fast_rsqrt::accelerate},
      {"08_folded", folded::accelerate},
      {"80_limit", limit::accelerate},
      {"81_third_law", third_law::accelerate},
      {"sample_form", sample_form::accelerate}};
  for (const auto& [name, launch] : versions) {
    if (!launch) continue;
    check(launch(reinterpret_cast<const float4*>(in.data()), reinterpret_cast<float4*>(out.data()),
                 o.n, static_cast<float>(o.softening), nullptr),
          name);
    std::vector<Four<double>> got;
    for (const Four<float>& a : out.host()) got.push_back({a.x, a.y, a.z, a.w});
    print_errors(name, got, want);
  }
  if (fast_root) print_errors("fast_root (double)", run_double(fast_root), want);
}

int run(const std::vector<std::string>& arguments) {
  const Options o = parse(arguments);
  if (o.help) {
    std::fputs(usage, stdout);
    return 0;
  }
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "no usable NVIDIA GPU");
  if (o.accuracy) {
    measure_accuracy(o);
  } else if (o.use_double) {
    simulate<double>(o);
  } else {
    simulate<float>(o);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const Failure& failure) {
    std::fprintf(stderr, "06_nbody_simulate: %s\n", failure.what());
    return failure.code;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "06_nbody_simulate: not enough memory for so many bodies\n");
    return 1;
  }
}
