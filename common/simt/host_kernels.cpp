/// \file
/// The host side of the CUDA runtime: attributes of kernels, and what a launch needs to know.

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "errors.hpp"
#include "host.hpp"

namespace simt {
namespace {

std::mutex mutex;                   // of the tables below
std::atomic<bool> any_set = false;  // is there anything in them

struct KernelSettings {
  std::size_t shared_bytes = 0;
  bool large_clusters = false;
};
// Programs set attributes for a function pointer, under any name; the engine knows a launch by the
// text before its <<<. So each launch stores the attributes of its address under that text.
std::map<const void*, KernelSettings> by_address;
std::map<std::string, KernelSettings> kernels;

/// "course::sum< float, 256 >" and "&sum<float,256>" name the same kernel.
std::string plain_name(const char* kernel) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string name;
  for (const char* c = kernel; *c != '\0'; ++c) {
    if (c[0] == ':' && c[1] == ':') {
      while (!name.empty() && in_word(name.back())) name.pop_back();
      ++c;
    } else if (!std::isspace(static_cast<unsigned char>(*c)) && *c != '&') {
      name += *c;
    }
  }
  return name;
}
std::string without_arguments(const std::string& name) { return name.substr(0, name.find('<')); }

/// Of this kernel or, if its template arguments are spelled differently, of the template.
KernelSettings settings_of(const char* kernel) {
  const std::string name = plain_name(kernel);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = kernels.find(name);
  if (found != kernels.end()) return found->second;
  KernelSettings settings;
  for (const auto& [other, its] : kernels) {
    if (without_arguments(other) != without_arguments(name)) continue;
    settings.shared_bytes = std::max(settings.shared_bytes, its.shared_bytes);
    settings.large_clusters = settings.large_clusters || its.large_clusters;
  }
  return settings;
}

/// For a pointer that the program has no name for.
KernelSettings settings_of(const void* kernel) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = by_address.find(kernel);
  return found == by_address.end() ? KernelSettings{} : found->second;
}

std::uint64_t volume(dim3 d) { return std::uint64_t{d.x} * d.y * d.z; }

int blocks_per_sm(int threads, std::size_t shared_bytes) {
  const Limits& l = limits();
  if (threads > 1024 || shared_bytes > l.shared_opt_in) return 0;
  const unsigned whole_warps = (static_cast<unsigned>(threads) + 31) / 32 * 32;
  const std::size_t by_memory = shared_per_sm / (shared_bytes + shared_reserved);
  return static_cast<int>(
      std::min<std::size_t>({l.blocks_per_sm, l.threads_per_sm / whole_warps, by_memory}));
}

}  // namespace

std::size_t shared_allowed(const char* kernel) {
  return std::max(limits().shared_per_block, settings_of(kernel).shared_bytes);
}

std::size_t shared_in_all(const char* kernel) {
  const bool opted_in = settings_of(kernel).shared_bytes != 0;
  return opted_in ? limits().shared_opt_in : limits().shared_per_block;
}

// ---- What the templates of cuda_runtime_api.h call ----

void use_settings(const Launch& launch) {
  if (!any_set || launch.function == nullptr) return;
  const std::string plain = plain_name(launch.kernel);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = by_address.find(launch.function);
  if (found != by_address.end()) {
    kernels[plain] = found->second;
  } else if (Dl_info info; dladdr(launch.function, &info) != 0) {
    kernels[plain] = {};
  }  // else it is `this`, whose member is meant
}

cudaError_t set_kernel_attribute(const void* kernel, const char* name, cudaFuncAttribute attribute,
                                 int value) {
  if (kernel == nullptr) return end(cudaErrorInvalidDeviceFunction);
  const auto set = [&](const auto& change) {
    const std::string plain = plain_name(name);
    const std::lock_guard<std::mutex> lock(mutex);
    any_set = true;
    change(by_address[kernel]);
    kernels[plain] = by_address[kernel];
  };
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || static_cast<std::size_t>(value) > limits().shared_opt_in) {
      return end(cudaErrorInvalidValue);
    }
    set([&](KernelSettings& its) { its.shared_bytes = static_cast<std::size_t>(value); });
  } else if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
    set([&](KernelSettings& its) { its.large_clusters = value != 0; });
  } else if (attribute != cudaFuncAttributePreferredSharedMemoryCarveout &&
             attribute != cudaFuncAttributeClusterSchedulingPolicyPreference) {
    return end(cudaErrorInvalidValue);
  }
  return end(cudaSuccess);
}
cudaError_t get_kernel_attributes(cudaFuncAttributes* attributes, const void* kernel) {
  if (attributes == nullptr) return end(cudaErrorInvalidValue);
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(std::max(limits().shared_per_block, settings_of(kernel).shared_bytes));
  attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  return end(cudaSuccess);
}
cudaError_t occupancy(int* blocks, int threads, std::size_t shared_bytes) {
  if (blocks == nullptr || threads <= 0) return end(cudaErrorInvalidValue);
  *blocks = blocks_per_sm(threads, shared_bytes);
  return end(cudaSuccess);
}
cudaError_t largest_block(int* blocks, int* threads, std::size_t (*shared_bytes)(void*, int),
                          void* data, int limit) {
  if (blocks == nullptr || threads == nullptr) return end(cudaErrorInvalidValue);
  const int most = limit <= 0 || limit > 1024 ? 1024 : limit;
  int best = 0;
  *blocks = *threads = 0;
  for (int count = most; count > 0; count = (count - 1) / 32 * 32) {
    const int per_sm = blocks_per_sm(count, shared_bytes(data, count));
    if (per_sm * count <= best) continue;
    best = per_sm * count;
    *threads = count;
    *blocks = per_sm * static_cast<int>(limits().sms);
  }
  return end(cudaSuccess);
}
cudaError_t prepare_launch(Launch* launch, const cudaLaunchAttribute* attributes, unsigned count) {
  use_settings(*launch);
  for (unsigned k = 0; k < count; ++k) {
    const cudaLaunchAttributeValue& value = attributes[k].val;
    if (attributes[k].id == cudaLaunchAttributeCooperative) {
      launch->cooperative = value.cooperative != 0;
    } else if (attributes[k].id == cudaLaunchAttributeClusterDimension) {
      launch->cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
    }
  }
  const std::uint64_t blocks = volume(launch->grid), threads = volume(launch->block);
  const unsigned most = settings_of(launch->kernel).large_clusters ? 16 : 8;
  if (volume(launch->cluster) > most) return end(cudaErrorInvalidClusterSize);
  if (launch->cooperative && threads > 0 && threads <= 1024) {
    const int per_sm = blocks_per_sm(static_cast<int>(threads), launch->shared_bytes);
    if (blocks > std::uint64_t{limits().sms} * static_cast<unsigned>(per_sm)) {
      return end(cudaErrorCooperativeLaunchTooLarge);
    }
  }
  return end(cudaSuccess);
}

}  // namespace simt

using namespace simt;

// ---- Kernels without a type ----

namespace {
cudaError_t no_type(const char* call) {
  std::fprintf(stderr,
               "simt: %s: a pointer to void does not tell what arguments a kernel takes; such "
               "launches need a GPU\n",
               call);
  return end(cudaErrorInvalidDeviceFunction);
}
}  // namespace
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return set_kernel_attribute(kernel, "", attribute, value);
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return end(cudaSuccess); }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return get_kernel_attributes(attributes, kernel);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          std::size_t shared_bytes) {
  return occupancy(blocks, threads, shared_bytes);
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return no_type("cudaLaunchKernel");
}
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t,
                                        cudaStream_t) {
  return no_type("cudaLaunchCooperativeKernel");
}
