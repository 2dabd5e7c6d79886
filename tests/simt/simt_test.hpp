#pragma once
/// \file
/// Shared by the tests of the CPU backend: device arrays, findings, counts, source lines, children.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "errors.hpp"
#include "findings.hpp"

namespace simt_test {

/// "file:line" of the line of `file` (in this folder) that ends in the comment `// HERE name`.
std::string here(const std::string& file, const std::string& name);

/// One test. When it ends, all its findings must have been taken. A failed kernel is sticky in its
/// process: ctest gives each test a process of its own.
class Device : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Expects exactly one kind of finding (or one of several: "bounds|lifetime") in `kernel`, with
  /// all `parts` in the text of one of them.
  void expect_finding(const std::string& kinds, const std::string& kernel,
                      const std::vector<std::string>& parts);
  /// Waits for the device and expects no finding and no error.
  void expect_clean();
};

/// The counts of the kernel `name`, which has run since counting began.
const simt::KernelCount& kernel_count(const std::vector<simt::KernelCount>& counts,
                                      const std::string& name);
/// The counts of one marked line; all zero, and a failure, if there are none.
simt::LineCount line_count(const std::vector<simt::KernelCount>& counts, const std::string& kernel,
                           const std::string& where, const std::string& access,
                           simt::Space space = simt::Space::global);

/// The exit code and the output of a program.
struct Ended {
  int code;  ///< exit code, or 128 + signal
  std::string output;
};
/// Runs this test program again with other arguments and environment ("NAME=VALUE").
Ended run_self(const std::vector<std::string>& arguments,
               const std::vector<std::string>& environment = {});

/// The body of a child started by run_self() with the argument "--child=name". Returns its exit
/// code.
using Child = int (*)();
struct RegisterChild {
  RegisterChild(const char* name, Child child);
};

/// Device memory with the right to fill and read it.
template <class T>
class Array {
 public:
  explicit Array(std::size_t n) : n_(n) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T)), cudaSuccess);
  }
  explicit Array(const std::vector<T>& host) : Array(host.size()) {
    EXPECT_EQ(cudaMemcpy(data_, host.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  Array(std::size_t n, T value) : Array(std::vector<T>(n, value)) {}
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data_); }

  T* get() const { return data_; }
  operator T*() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> result(n_);
    EXPECT_EQ(cudaMemcpy(result.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return result;
  }
  T first() const {
    T value;
    EXPECT_EQ(cudaMemcpy(&value, data_, sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
  }

 private:
  T* data_ = nullptr;
  std::size_t n_;
};

/// 0, 1, 2, ... as T.
template <class T>
std::vector<T> iota(std::size_t n) {
  std::vector<T> result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = static_cast<T>(i);
  return result;
}

}  // namespace simt_test
