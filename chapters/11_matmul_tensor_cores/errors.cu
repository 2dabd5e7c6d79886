// How far are products in fp32, tf32 and bf16 from the exact product of the same floats, over the
// depth k? C = A B^T, with A and B of 128 rows, beside what is to be expected and the worst case.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "chapter/input.hpp"
#include "ptx.cuh"

namespace {

constexpr int side = 128;                          // rows of A and of B
constexpr int least_k = 1 << 6, most_k = 1 << 16;  // measured: each fourfold the one before
constexpr const char* program = "11_matmul_tensor_cores_errors";

// ---- Kernels ----

/// In fp32: a thread per element of C, one rounding per multiplication and addition.
__global__ void multiply_fp32(const float* a, const float* b, float* c, int k) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0;
  for (int p = 0; p < k; ++p) sum = fmaf(a[row * k + p], b[col * k + p], sum);
  c[row * side + col] = sum;
}

/// The nearest tf32, as a float: its low 13 bits are zero. A tie goes away from zero. "cvt".
__device__ float nearest_tf32(float x) {
  unsigned bits;
#ifdef SIMT
  bits = __float_as_uint(x) + 0x1000u;
#else
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
  return __uint_as_float(bits & ~0x1FFFu);
}

// Each way to get what a tensor core reads out of floats: `count` of them become a register for
// each of the `parts`, whose sum is as near as the type allows.

/// Floats as they are: the hardware does not read their low 13 bits.
struct Tf32Cut {
  using T = float;
  static constexpr int count = 1, parts = 1;
  __device__ static void split(const float* x, unsigned (&part)[1]) {
    part[0] = __float_as_uint(*x);
  }
};

/// x = hi + lo + a remainder: each part is the nearest tf32 to what the parts before it leave.
template <int number_of_parts>
struct Tf32 {
  using T = float;
  static constexpr int count = 1, parts = number_of_parts;
  __device__ static void split(const float* x, unsigned (&part)[parts]) {
    float rest = *x;
    for (int i = 0; i < parts; ++i) {
      const float nearest = nearest_tf32(rest);
      part[i] = __float_as_uint(nearest);
      rest -= nearest;  // exact: both are multiples of the last bit of x
    }
  }
};

/// The same with bf16. A register holds two.
template <int number_of_parts>
struct Bf16 {
  using T = __nv_bfloat16;
  static constexpr int count = 2, parts = number_of_parts;
  __device__ static void split(const float* x, unsigned (&part)[parts]) {
    float2 rest = make_float2(x[0], x[1]);
    for (int i = 0; i < parts; ++i) {
      const __nv_bfloat162 nearest = __floats2bfloat162_rn(rest.x, rest.y);
      memcpy(&part[i], &nearest, sizeof nearest);
      rest.x -= __low2float(nearest);
      rest.y -= __high2float(nearest);
    }
  }
};

/// On a tensor core: a warp per 16 x 8 elements of C. Each lane fills its registers from global
/// memory: of rows l / 4 and l / 4 + 8 registers l % 4 and l % 4 + 4 of the eight of a step.
/// With two parts: hi hi in one sum, hi lo + lo hi in another, so that these keep their digits.
template <class Way>
__global__ void multiply_mma(const float* a, const float* b, float* c, int k) {
  constexpr int parts = Way::parts, half = 4 * Way::count, step = 2 * half;
  const int lane = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.y) * 16 + lane / 4;
  const int col = static_cast<int>(blockIdx.x) * 8;
  const float* const a_row = a + row * k + lane % 4 * Way::count;
  const float* const b_row = b + (col + lane / 4) * k + lane % 4 * Way::count;
  float large[4] = {}, small[4] = {};
  for (int p = 0; p < k; p += step) {
    unsigned left[parts][4], right[parts][2], part[parts];
    for (int i = 0; i < 4; ++i) {
      Way::split(a_row + i % 2 * 8 * k + i / 2 * half + p, part);
      for (int q = 0; q < parts; ++q) left[q][i] = part[q];
    }
    for (int i = 0; i < 2; ++i) {
      Way::split(b_row + i * half + p, part);
      for (int q = 0; q < parts; ++q) right[q][i] = part[q];
    }
    mma<typename Way::T>(large, left[0], right[0][0], right[0][1]);
    if constexpr (parts == 2) {
      mma<typename Way::T>(small, left[0], right[1][0], right[1][1]);
      mma<typename Way::T>(small, left[1], right[0][0], right[0][1]);
    }
  }
  for (int i = 0; i < 4; ++i) {
    c[(row + i / 2 * 8) * side + col + lane % 4 * 2 + i % 2] = large[i] + small[i];
  }
}

// ---- Ways to multiply ----

void launch_fp32(const float* a, const float* b, float* c, int k) {
  multiply_fp32<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(a, b, c, k);
}
template <class Way>
void launch_mma(const float* a, const float* b, float* c, int k) {
  multiply_mma<Way><<<dim3(side / 8, side / 16), 32>>>(a, b, c, k);
}

enum class Inputs { exact, cut, rounded, split };

struct Way {
  const char* name;
  void (*launch)(const float* a, const float* b, float* c, int k);
  Inputs inputs;
  double unit;   // the largest relative error of an input; if split, of each part
  int step;      // products per sum: those of one instruction
  double whole;  // of so many products, a sum is not too large for the last bit of another
};
constexpr double u32 = 0x1p-24;  // of fp32, rounded to nearest
const Way ways[] = {{"fp32", launch_fp32, Inputs::exact, 0, 1, 0},
                    {"tf32_cut", launch_mma<Tf32Cut>, Inputs::cut, 0x1p-10, 8, 0x1p5},
                    {"tf32", launch_mma<Tf32<1>>, Inputs::rounded, 0x1p-11, 8, 0x1p5},
                    {"bf16", launch_mma<Bf16<1>>, Inputs::rounded, 0x1p-8, 16, 0x1p11},
                    {"bf16x3", launch_mma<Bf16<2>>, Inputs::split, 0x1p-8, 16, 0x1p11},
                    {"tf32x3", launch_mma<Tf32<2>>, Inputs::split, 0x1p-11, 8, 0x1p5}};

// ---- Inputs ----

enum class Numbers { normal, positive, cancelling };
const struct {
  const char* name;
  Numbers family;
} families[] = {{"normal", Numbers::normal},
                {"positive", Numbers::positive},
                {"cancelling", Numbers::cancelling}};

/// A matrix of `side` rows. normal: about normally distributed, mean 0, standard deviation 1.
/// positive: uniform in [0, 1). cancelling: the first half of a row is so; the second half is the
/// first again, moved by at most 2^-7, and with the other sign in one of the two matrices. Sums
/// rise to about k / 8 and fall to almost nothing.
std::vector<float> matrix(Numbers family, std::uint64_t seed, int k, bool turn) {
  std::vector<float> x(static_cast<std::size_t>(side) * static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t bits = course::mix(seed, i);
    if (family == Numbers::normal) {
      x[i] = course::near_normal(bits);
      continue;
    }
    const std::size_t half = static_cast<std::size_t>(k) / 2;
    x[i] = static_cast<float>(bits >> 40) * 0x1p-24f;
    if (family == Numbers::cancelling && i % (2 * half) >= half) {
      const float near = x[i - half] + (x[i] - 0.5f) * 0x1p-6f;
      x[i] = turn ? -near : near;
    }
  }
  return x;
}

// ---- The reference ----

/// R = A B^T and |A| |B|^T, in double. A product of two floats is exact in double; a sum of k errs
/// by at most k 2^-53 of |a| |b|: at most 2^-37, where the smallest error here is about 2^-26.
struct Reference {
  std::vector<double> r, size;
};

Reference reference(const std::vector<float>& a, const std::vector<float>& b, int k) {
  constexpr std::size_t n = side;
  const std::size_t depth = static_cast<std::size_t>(k), slice = std::min<std::size_t>(64, depth);
  Reference of{std::vector<double>(n * n), std::vector<double>(n * n)};
  std::vector<double> column(slice * n);  // of B, so that the inner loop runs along C
  for (std::size_t p0 = 0; p0 < depth; p0 += slice) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t p = 0; p < slice; ++p) column[p * n + j] = double{b[j * depth + p0 + p]};
    }
    for (std::size_t i = 0; i < n; ++i) {
      double* const r = &of.r[i * n];
      double* const size = &of.size[i * n];
      for (std::size_t p = 0; p < slice; ++p) {
        const double x = double{a[i * depth + p0 + p]};
        const double* const y = &column[p * n];
        for (std::size_t j = 0; j < n; ++j) {
          const double product = x * y[j];
          r[j] += product;
          size[j] += std::fabs(product);
        }
      }
    }
  }
  return of;
}

template <class T>
double norm(const std::vector<T>& x) {
  double sum = 0;
  for (const T value : x) sum += double{value} * double{value};
  return std::sqrt(sum);
}

// ---- What to expect ----
//
// The worst case. Inputs: each of the two factors of a product has a relative error of at most u,
// so the product one of at most 2u + u^2. u is 2^-p for a significand of p bits that is rounded to
// nearest, twice as much if the rest is cut off: fp32 has 24 bits, tf32 11, bf16 8. Of two parts,
// x = hi + lo, at most u^2 of x is left; and the product lo lo, at most (u + u^2)^2, is left out.
// Sums: n roundings to nearest in a row cost at most g(n) = n u32 / (1 - n u32) of the sum of the
// magnitudes. fp32: n = k. What a tensor core does, the PTX ISA leaves open ("at least single
// precision"). It was measured ("Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science
// 7:e330, 2021; "Accurate models of NVIDIA tensor cores", arXiv:2512.07004): s products and the sum
// so far are shifted to the exponent of the largest, and what is below 2 u32 of that, or less, is
// cut off; they are added, and the sum is cut off. That costs at most (s + 2) 2 u32 for s products;
// with s of 4 and more, n = 3k.
// This holds for each element, relative to |a| |b|; and so for the norms, relative to ||A|| ||B||.
//
// What is likely, for the norm. Significands are about uniform on a logarithmic scale. Rounding to
// nearest then has mean 0 and standard deviation 0.39 u, the root of ln 2 / 4.5. Cutting off takes
// u / 3 of x (on average, weighed with x^2), and has half that deviation.
//
// Inputs: 2k independent errors give 0.39 u sqrt(2k) rms(a) rms(b) in an element of C, and
// ||A|| ||B|| is k rms(a) rms(b) per element: the quotient is 0.39 u sqrt(2 / k). Of two parts, the
// remainders of both factors and lo lo are left, each about (0.39 u)^2: sqrt(3 / k) of that. If cut
// off, both factors shrink by u / 3, and so C by 2u / 3, however large k is.
//
// Sums: after step q of k / s the sum is S_q. Its size: that of a random walk, sqrt(q s); or
// q s / 4; or rising to k / 8 and falling again. Each rounding errs by 0.39 u32 S_q at random. A
// tensor core cuts off, so each S_q loses 2 u32 / 3 as well, always towards zero: these losses add
// up. (Which s, and two bits more than a float has when it shifts: of compute capability 9.0.)
// A product loses a quarter of that when S_q has grown so large that the product's last bits are
// cut off: for bf16 from about 2^11 products on, for tf32, whose products are longer, from 2^5 on.
// These losses add up if products have the sign of S_q, or else cancel. And where they occur, S_q
// has only two bits left to lose, 3/4. `late` is how much of this comes true up to k.

/// The largest possible error, of an element and of the norm.
double worst_case(const Way& way, int k) {
  const double u = way.unit;
  const auto g = [](double n) { return n * u32 / (1 - n * u32); };
  if (way.inputs == Inputs::exact) return g(k);
  if (way.inputs != Inputs::split) return 2 * u + u * u + (1 + u) * (1 + u) * g(3.0 * k);
  // hi is at most (1 + u) |x| and lo at most (u + u^2) |x|; 1 more: the sum of both sums
  const double hi = 1 + u, lo = u + u * u;
  return 2 * u * u + u * u * u * u + lo * lo + hi * hi * g(3.0 * k + 1) +
         2 * hi * lo * g(6.0 * k + 1);
}

/// The error of the norm that is likely. condition: ||A|| ||B|| / ||R||.
double expected(const Way& way, Numbers family, int k, double condition) {
  constexpr double spread = 0.39;
  const double u = way.unit, steps = static_cast<double>(k) / way.step;

  double random = 0, shrink = 0;  // of the inputs
  if (way.inputs == Inputs::rounded) random = spread * u * std::sqrt(2.0 / k);
  if (way.inputs == Inputs::split) random = spread * u * spread * u * std::sqrt(3.0 / k);
  if (way.inputs == Inputs::cut) {
    random = spread * u / 2 * std::sqrt(2.0 / k);
    shrink = 2 * u / 3 / condition;
  }

  const double late = k > way.whole ? (1 - way.whole / k) * (1 - way.whole / k) : 0;
  const double of_sum = 1 - late / 4, of_products = way.step * late / 4;
  // The sum of S_q^2, divided by (k rms(a) rms(b))^2, and that of S_q, with what products lose.
  double squares = 0, sum = 0;
  switch (family) {
    case Numbers::normal:
      squares = 0.5 / way.step;
      sum = std::sqrt(steps / (3.0 * way.step)) * of_sum;
      break;
    case Numbers::positive:
      squares = steps * 3 / 16;
      sum = steps * 3 / 8 * (of_sum + of_products);
      break;
    case Numbers::cancelling:
      squares = steps * 3 / 64;
      sum = steps * 3 / 16 * of_sum;
      break;
  }
#ifdef SIMT
  constexpr bool cuts = false;  // the CPU backend rounds the sums of tensor cores to nearest
#else
  const bool cuts = way.inputs != Inputs::exact;
#endif
  if (cuts) shrink += 2 * u32 / 3 * sum;
  return std::hypot(random, spread * u32 * std::sqrt(squares), shrink);
}

// ---- Errors of the program and device memory ----

/// Ends the program with one line: 1 an error, 2 bad usage, 3 no GPU that can do it.
struct Failure : std::runtime_error {
  Failure(const std::string& line, int exit_code) : runtime_error(line), code(exit_code) {}
  int code;
};

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  const bool no_gpu = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  throw Failure(std::string(what) + ": " + cudaGetErrorString(error), no_gpu ? 3 : 1);
}

class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "cudaMalloc");
  }
  explicit DeviceArray(const std::vector<float>& host) : DeviceArray(host.size()) {
    check(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  float* data() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(float); }
  std::vector<float> host() const {
    std::vector<float> host(count_);
    check(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host;
  }

 private:
  float* data_ = nullptr;
  std::size_t count_;
};

// ---- Measuring ----

struct Options {
  std::string out;
  bool help = false;
#ifdef SIMT
  int last_k = 1 << 8;  // the CPU backend checks each access, which takes time
#else
  int last_k = most_k;
#endif
};

struct Row {
  const char* family;
  int k;
  const char* way;
  double norm_error, norm_expected, largest_error, bound, condition;
};

void check(const Row& row) {
  const auto fail = [&](const char* what, double value) {
    char line[160];
    std::snprintf(line, sizeof line, "%s, k = %d, %s: the %s is %.3g, its bound %.3g", row.family,
                  row.k, row.way, what, value, row.bound);
    throw Failure(line, 1);
  };
  if (!(row.norm_error <= row.bound)) fail("error of the norm", row.norm_error);
  if (!(row.largest_error <= row.bound)) fail("largest error", row.largest_error);
}

void print(const Row& row) {
  std::printf("%-10s  2^%-2.0f  %-8s %10.1e %10.1e %10.1e %10.1e %10.1e\n", row.family,
              std::log2(row.k), row.way, row.norm_error, row.norm_expected, row.largest_error,
              row.bound, row.norm_error * row.condition);
  std::fflush(stdout);
}

/// All ways at one depth.
std::vector<Row> measure(const char* name, Numbers family, int k) {
  const std::vector<float> a = matrix(family, 1, k, false), b = matrix(family, 2, k, true);
  const Reference exact = reference(a, b, k);
  const double norms = norm(a) * norm(b), condition = norms / norm(exact.r);
  const DeviceArray a_there(a), b_there(b), c_there(exact.r.size());
  std::vector<Row> rows;
  for (const Way& way : ways) {
    check(cudaMemset(c_there.data(), 0xFF, c_there.bytes()), "cudaMemset");  // NaN
    way.launch(a_there.data(), b_there.data(), c_there.data(), k);
    check(cudaGetLastError(), way.name);
    const std::vector<float> c = c_there.host();
    std::vector<double> error(c.size());
    double largest = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      error[i] = double{c[i]} - exact.r[i];
      const double relative = std::fabs(error[i]) / exact.size[i];
      if (!(relative <= largest)) largest = relative;  // a NaN, too; the norm keeps it
    }
    rows.push_back({name, k, way.name, norm(error) / norms, expected(way, family, k, condition),
                    largest, worst_case(way, k), condition});
    print(rows.back());
    check(rows.back());
  }
  return rows;
}

/// The CSV file of --out. Opened first: a name that cannot be written costs no measurement.
class Table {
 public:
  explicit Table(const std::string& name) : name_(name) {
    if (name.empty()) return;
    file_ = std::fopen(name.c_str(), "wb");
    if (!file_) throw Failure("--out " + name + ": " + std::strerror(errno), 2);
  }
  ~Table() {
    if (file_) std::fclose(file_);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  void write(const std::string& line) {
    if (file_ && std::fputs((line + "\n").c_str(), file_) < 0) fail();
  }
  void close() {
    std::FILE* const file = file_;
    file_ = nullptr;
    if (file && std::fclose(file) != 0) fail();
  }

 private:
  void fail() const { throw Failure("--out " + name_ + ": could not be written", 1); }
  std::string name_;
  std::FILE* file_ = nullptr;
};

std::string line_of(const Row& row) {
  char line[200];
  std::snprintf(line, sizeof line, "%s,%d,%s,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g", row.family, row.k,
                row.way, row.norm_error, row.bound, row.largest_error, row.bound, row.norm_expected,
                row.condition);
  return line;
}

void run(const Options& o) {
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0), "no usable NVIDIA GPU");
  if (gpu.major < 8) {
    throw Failure("tf32 and bf16 need compute capability 8.0; the " + std::string(gpu.name) +
                      " has " + std::to_string(gpu.major) + "." + std::to_string(gpu.minor),
                  3);
  }
  Table table(o.out);
  table.write("# errors of products of 128 x k matrices (" + std::string(gpu.name) + ")");
  table.write(
      "family,k,way,norm_error,norm_bound,largest_error,largest_bound,norm_expected,condition");
  std::printf("%-10s  %-4s  %-8s %10s %10s %10s %10s %10s\n", "family", "k", "way", "norm",
              "expected", "largest", "worst case", "of C");
  for (const auto& [name, family] : families) {
    for (int k = least_k; k <= o.last_k; k *= 4) {
      for (const Row& row : measure(name, family, k)) table.write(line_of(row));
    }
  }
  table.close();
  std::puts(
      "norm: ||C - R|| / (||A|| ||B||); largest: of all elements, |c - r| / (|a| |b|);\n"
      "of C: ||C - R|| / ||R||. R is the exact product of the floats.");
#ifdef SIMT
  std::puts("CPU backend: it rounds the sums of tensor cores to nearest; a GPU cuts them off.");
#endif
}

// ---- Command line ----

constexpr const char* usage =
    R"(usage: 11_matmul_tensor_cores_errors [options]
  --to K        the largest depth, a power of two from 2^6 to 2^16, as 4096 or 2^12; 2^16, or 2^8 on
                the CPU backend
  --out FILE    write the table as CSV, too
  --help
)";

[[noreturn]] void bad(const std::string& line) { throw Failure(line + " (--help lists all)", 2); }

int depth(const std::string& text) {
  const bool is_power = text.rfind("2^", 0) == 0;
  const char* const digits = text.c_str() + (is_power ? 2 : 0);
  char* end = nullptr;
  const long value = std::strtol(digits, &end, 10);
  const bool is_number = *digits >= '0' && *digits <= '9' && *end == '\0';
  for (int k = least_k, power = 6; is_number && k <= most_k; k *= 2, ++power) {
    if (value == (is_power ? power : k)) return k;
  }
  bad("--to '" + text + "': a power of two from 2^6 to 2^16 is needed");
}

Options parse(const std::vector<std::string>& arguments) {
  Options o;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) bad(name + " needs a value");
      return arguments[++i];
    };
    if (name == "--to") {
      o.last_k = depth(value());
    } else if (name == "--out") {
      o.out = value();
      if (o.out.empty()) bad("--out needs the name of a file");
    } else if (name == "--help" || name == "-h") {
      o.help = true;
    } else {
      bad("no option '" + name + "'");
    }
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options o = parse(std::vector<std::string>(argv + 1, argv + argc));
    if (o.help) {
      std::fputs(usage, stdout);
    } else {
      run(o);
    }
    return 0;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s: %s\n", program, failure.what());
    return failure.code;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: not enough memory\n", program);
    return 1;
  }
}
