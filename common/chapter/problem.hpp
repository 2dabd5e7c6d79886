#pragma once
/// \file
/// What a chapter computes, in host C++ only: sizes, input and output arrays, the reference, the
/// least traffic.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace course {

/// Named dimensions in reading order, for example {{"n", 1 << 20}} or {{"rows", 64}, {"cols", 48}}.
struct Size {
  std::vector<std::pair<std::string, std::int64_t>> dimensions;

  /// The value of a dimension. \throws std::out_of_range for a name that is not there.
  std::int64_t operator[](const std::string& name) const;
  void set(const std::string& name, std::int64_t value);
  /// "n=2^20", "rows=64 cols=48".
  std::string text() const;
  bool operator==(const Size& other) const { return dimensions == other.dimensions; }
};

/// "2^20" for powers of two from 1024 on, plain digits otherwise.
std::string size_text(std::int64_t value);

enum class Type { f32, f64, i32, u32, i64, u8, u16, bf16 };
/// Bytes of one element.
std::size_t bytes_of(Type type);
/// "f32", "u32", ...: as in result files.
const char* name_of(Type type);

/// The families of inputs. `integers` are so small that float sums of them are exact in any order.
/// `zeros` show which mistakes a test with them hides; never test or time with them.
enum class Input {
  random,
  integers,
  equal,
  ascending,
  descending,
  few_distinct,
  denormal,
  large,
  zeros
};
/// "random", "integers", ...: as in result files.
const char* name_of(Input input);

/// One array of a problem. Inputs are filled by value(input, seed, i, magnitude_every) of
/// input.hpp, on the device, or by `values`.
struct Array {
  std::string name;
  std::int64_t count = 0;
  Type type = Type::f32;
  std::uint64_t seed = 0;
  std::int64_t offset_bytes = 0;  ///< bytes past a 256-byte boundary, for studies of misalignment
  std::int64_t magnitude_every = 0;  ///< k > 0: element k - 1, 2k - 1, ... without its sign
  /// Writes all elements to host memory: for inputs that depend on more than the index.
  std::function<void(void* host)> values = {};
  /// In memory whose lines the GPU may keep compressed between its L2 cache and DRAM. Measurements
  /// put all arrays of a problem there if one says so; checks and the CPU backend do not.
  bool compressible = false;
  bool normal = false;  ///< of Input::random, for floats and bf16: near-normal instead of uniform
  std::int64_t bytes() const { return count * static_cast<std::int64_t>(bytes_of(type)); }
};

/// How far an output may be from the reference: |got - want| <= absolute + relative * |want|,
/// or, with `bits`, not at all.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  bool bits = false;
};

/// One instance of what is computed: a size, a seed and a family of inputs.
class Problem {
 public:
  Problem(Size size, std::uint64_t seed, Input input)
      : size_(std::move(size)), seed_(seed), input_(input) {}
  virtual ~Problem() = default;

  const Size& size() const { return size_; }
  std::int64_t n() const { return size_["n"]; }
  std::uint64_t seed() const { return seed_; }
  Input input() const { return input_; }

  virtual std::vector<Array> inputs() const = 0;
  virtual std::vector<Array> outputs() const = 0;

  /// The least bytes that any correct version must read and write in device memory.
  virtual double bytes_read() const = 0;
  virtual double bytes_written() const = 0;
  double bytes() const { return bytes_read() + bytes_written(); }
  virtual double flops() const { return 0; }
  /// The k-th number that launchers are given besides sizes and arrays, such as alpha and beta.
  virtual double scalar(int k) const;
  /// For launchers that take an object of a class, such as a filter in host memory: a pointer to
  /// that object. It lives as long as the problem.
  virtual const void* object() const { return nullptr; }

  /// What the rate of a row counts: `amount` per launch, shown divided by `scale` and per second.
  struct Work {
    double amount = 0;
    double scale = 1e9;
    const char* unit = "GB/s";
  };
  virtual Work work() const { return {bytes()}; }

  /// The elements of an output that are compared, in ascending order; empty: all. For outputs
  /// whose whole reference would take too long.
  virtual std::vector<std::int64_t> sample(int output) const {
    (void)output;
    return {};
  }

  /// For an output with segments whose elements may come in any order: where each segment begins,
  /// first to last. A segment reaches up to the next one, or to the end. It is sorted before it is
  /// compared, and the reference has it in ascending order. Only for outputs of Type::u32 that are
  /// compared as a whole. Empty: each element has its place.
  virtual std::vector<std::int64_t> any_order(int output) const {
    (void)output;
    return {};
  }

  /// Writes the reference of outputs()[output], computed in double, to values[0 .. count): all of
  /// it, or the elements of sample(output), one after the other.
  virtual void expected(int output, double* values) const = 0;
  virtual Tolerance tolerance(int output) const = 0;

 private:
  Size size_;
  std::uint64_t seed_;
  Input input_;
};

/// Calls body(first, last) on ranges that cover [0, n), one host thread per range. A range has at
/// least `least` indices; the default is worth a thread if an index takes some nanoseconds.
template <class Body>
void parallel_for(std::int64_t n, Body body, std::int64_t least = 1 << 16);

/// Adds up what body(first, last) returns for ranges that cover [0, n), one host thread per range.
template <class Total, class Body>
Total total_of(std::int64_t n, Body body);

}  // namespace course

#include <algorithm>
#include <mutex>
#include <thread>

template <class Body>
void course::parallel_for(std::int64_t n, Body body, std::int64_t least) {
  const std::int64_t parts =
      std::clamp<std::int64_t>(n / least, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(body, n * part / parts, n * (part + 1) / parts);
  }
  body(std::int64_t{0}, n / parts);
  for (std::thread& thread : threads) thread.join();
}

template <class Total, class Body>
Total course::total_of(std::int64_t n, Body body) {
  Total total = 0;
  std::mutex mutex;
  parallel_for(n, [&](std::int64_t first, std::int64_t last) {
    const Total part = body(first, last);
    const std::lock_guard<std::mutex> lock(mutex);
    total += part;
  });
  return total;
}
