#pragma once
/// \file
/// The calls by which code that runs as a CUDA thread tells the engine which memory it accesses.
/// The compiler adds them to ordinary loads and stores (hooks.cpp); these are for the other ones.

#include <cstddef>
#include <cstdint>

/// For functions of the backend that instrumented files include: their own accesses are not the
/// kernel's. Never inlined into instrumented code, so a return address points into the kernel.
#if defined(__clang__)
#define SIMT_RAW __attribute__((noinline, no_sanitize("thread", "coverage")))
/// For functions in which threads synchronize: two calls in two branches must stay two.
#define SIMT_CONVERGENT __attribute__((convergent))
#else
#define SIMT_RAW __attribute__((noinline, no_sanitize_thread, no_sanitize_coverage))
#define SIMT_CONVERGENT
#endif

/// For thin wrappers around the engine: always inlined, so that the engine's return address is the
/// kernel's line.
#define SIMT_INLINE inline __attribute__((always_inline))

/// The contents of the gaps before variables of the device: the engine finds the gaps by it.
#define SIMT_GAP_TEXT "a gap before a variable of the device, for the checks of simt"
#define SIMT_MANAGED_GAP_TEXT "a gap before a managed variable, for the checks of simt"

namespace simt {

/// Registers a structure of the program for the counters: see structures.py. `padding`: for each
/// byte 0 if it belongs to no member; nullptr: unknown.
void know_type(std::size_t bytes, std::size_t alignment, const unsigned char* padding = nullptr);

enum class Access : std::uint8_t { load, store, atomic };

/// Reports that the running CUDA thread accesses `size` bytes at `address`; checks and counts it.
/// `pc`: return address into the kernel. `strong`: an atomic or volatile access, which may race
/// with other strong ones. Does nothing outside kernels.
void access(const volatile void* address, std::size_t size, Access kind, const void* pc,
            bool strong = false);

}  // namespace simt
