#pragma once
/// \file
/// Instructions of the tensor cores and what goes with them, by small named functions, each with
/// its section of the PTX ISA.

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <cuda/ptx>

/// The address of shared memory as instructions take it: 32 bits.
__device__ inline unsigned shared_address(const void* p) {
#ifdef SIMT
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p));
#else
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
#endif
}

/// The first multiple of 1024 bytes from here on in shared memory: where swizzled tiles begin.
__device__ inline char* aligned_to_1024(char* p) {
  return p + (1024 - shared_address(p) % 1024) % 1024;
}

// ---- Barriers ----

/// Waits for the end of the phase of this parity. "mbarrier.try_wait".
__device__ inline void wait(std::uint64_t* barrier, unsigned parity) {
  while (!cuda::ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

/// Arrives at the barrier at the same place of block `rank` of the cluster. "mbarrier.arrive".
__device__ inline void arrive_at(std::uint64_t* barrier, unsigned rank) {
#ifdef SIMT
  simt::mbarrier_arrive(static_cast<std::uint64_t*>(simt::map_shared(barrier, rank)));
#else
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}"
      :
      : "r"(shared_address(barrier)), "r"(rank)
      : "memory");
#endif
}

// ---- Boxes of a matrix: "cp.async.bulk.tensor" ----

/// Orders a box into shared memory; its bytes count at the barrier.
__device__ inline void load_box(void* to, const CUtensorMap* map, int col, int row,
                                std::uint64_t* barrier) {
  const std::int32_t at[] = {col, row};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, to, map, at,
                                  barrier);
}

/// The same into all blocks of the cluster whose bits are set, at the same place, and counted at
/// the barrier at the same place.
__device__ inline void load_box_to_all(void* to, const CUtensorMap* map, int col, int row,
                                       std::uint64_t* barrier, std::uint16_t blocks) {
#ifdef SIMT
  const std::int32_t at[] = {col, row};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, to, map, at,
                                  barrier, blocks);
#else
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
      :
      : "r"(shared_address(to)), "l"(map), "r"(col), "r"(row), "r"(shared_address(barrier)),
        "h"(blocks)
      : "memory");
#endif
}

/// Orders a box of shared memory into the matrix. Belongs to the thread's next group.
__device__ inline void store_box(const CUtensorMap* map, int col, int row, const void* from) {
  const std::int32_t at[] = {col, row};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared, map, at, from);
}

// ---- Registers: "setmaxnreg" ----

template <int registers>
__device__ inline void fewer_registers() {
#ifndef SIMT
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
#endif
}
template <int registers>
__device__ inline void more_registers() {
#ifndef SIMT
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
#endif
}

// ---- wgmma: a warpgroup multiplies tiles that lie in shared memory ----

/// What wgmma reads: rows of 128 bytes below each other, swizzled, at a multiple of 1024 bytes; its
/// first bytes may be skipped. "Matrix-descriptor".
__device__ inline std::uint64_t matrix_at(const void* tile) {
#ifdef SIMT
  return reinterpret_cast<std::uintptr_t>(tile) >> 4;
#else
  constexpr std::uint64_t eight_rows = 1024 >> 4;  // from one group of eight rows to the next
  constexpr std::uint64_t swizzled_128 = 1;
  return (shared_address(tile) >> 4 & 0x3FFF) | std::uint64_t{1} << 16 | eight_rows << 32 |
         swizzled_128 << 62;
#endif
}

/// Registers and shared memory are ready for wgmma. "wgmma.fence".
__device__ inline void wgmma_fence() {
#ifndef SIMT
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
/// Those begun since the last call are a group. "wgmma.commit_group".
__device__ inline void wgmma_commit() {
#ifdef SIMT
  simt::later_commit();
#else
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits until at most `pending` groups are not over. "wgmma.wait_group".
template <int pending>
__device__ inline void wgmma_wait() {
#ifdef SIMT
  simt::later_wait(pending);
  __syncwarp();  // ".sync"
#else
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#endif
}

#ifdef SIMT
/// Row `row` of what wgmma reads: 32 bytes.
template <class T>
__device__ inline void read_row(T (&to)[32 / sizeof(T)], std::uint64_t matrix, int row) {
  // Both chunks lie in the same 32 bytes; in odd rows the second one comes first.
  const std::uintptr_t at = (matrix << 4) + static_cast<unsigned>(row * 128);
  const std::uintptr_t first = at ^ (at >> 7 & 7) << 4;
  unsigned char bytes[32];
  simt::read_by_proxy(bytes, reinterpret_cast<const void*>(first & ~std::uintptr_t{31}), 32);
  memcpy(to, bytes + first % 32, 16);
  memcpy(to + 16 / sizeof(T), bytes + (first ^ 16) % 32, 16);
}
/// What the tensor cores see of an element: of a float the 19 highest bits.
__device__ inline double seen(float x) {
  unsigned bits;
  memcpy(&bits, &x, sizeof bits);
  bits &= 0xFFFFE000u;
  memcpy(&x, &bits, sizeof bits);
  return x;
}
__device__ inline double seen(__nv_bfloat16 x) { return static_cast<float>(x); }
/// What the running thread has of d += A B^T.
template <class T, int n>
__device__ void multiply_now(void* to, std::uint64_t a, std::uint64_t b) {
  constexpr int k = 32 / sizeof(T);
  float* const d = static_cast<float*>(to);
  const int lane = static_cast<int>(threadIdx.x) % 32,
            warp = static_cast<int>(threadIdx.x) / 32 % 4;
  T left[2][k], right[k];
  for (int r = 0; r < 2; ++r) read_row(left[r], a, 16 * warp + lane / 4 + 8 * r);
  for (int i = 0; i < n / 4; ++i) {
    read_row(right, b, i / 2 * 8 + lane % 4 * 2 + i % 2);
    for (int r = 0; r < 2; ++r) {
      float& sum = d[i / 2 * 4 + 2 * r + i % 2];
      double exact = sum;
      for (int x = 0; x < k; ++x) exact += seen(left[r][x]) * seen(right[x]);
      sum = static_cast<float>(exact);
    }
  }
}
#else
// The names of 32, 60, 64, 120, 124 and 128 registers, and the registers.
#define WGMMA_D32                                                         \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15," \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_D60                                                                     \
  WGMMA_D32                                                                           \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47," \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59"
#define WGMMA_D64 WGMMA_D60 ", %60, %61, %62, %63"
#define WGMMA_D120                                                                        \
  WGMMA_D64                                                                               \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,"     \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,"       \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110," \
  "%111, %112, %113, %114, %115, %116, %117, %118, %119"
#define WGMMA_D124 WGMMA_D120 ", %120, %121, %122, %123"
#define WGMMA_D128 WGMMA_D124 ", %124, %125, %126, %127"
#define WGMMA_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_8(d, i) WGMMA_4(d, i), WGMMA_4(d, i + 4)
#define WGMMA_16(d, i) WGMMA_8(d, i), WGMMA_8(d, i + 8)
#define WGMMA_32(d, i) WGMMA_16(d, i), WGMMA_16(d, i + 16)
#define WGMMA_60(d, i) WGMMA_32(d, i), WGMMA_16(d, i + 32), WGMMA_8(d, i + 48), WGMMA_4(d, i + 56)
#define WGMMA_64(d, i) WGMMA_60(d, i), WGMMA_4(d, i + 60)
#define WGMMA_120(d, i) \
  WGMMA_64(d, i), WGMMA_32(d, i + 64), WGMMA_16(d, i + 96), WGMMA_8(d, i + 112)
#define WGMMA_124(d, i) WGMMA_120(d, i), WGMMA_4(d, i + 120)
#define WGMMA_128(d, i) WGMMA_124(d, i), WGMMA_4(d, i + 124)
#define WGMMA(shape_and_types, names, registers, a_name, b_name, scales)                           \
  asm volatile("wgmma.mma_async.sync.aligned." shape_and_types " {" names "}, " a_name ", " b_name \
               ", " scales ";"                                                                     \
               : registers(d, 0)                                                                   \
               : "l"(a), "l"(b))
// d += A B^T for the shapes of a type: the scales of D, A and B, and not transposed.
#define WGMMA_OF(k_and_types, scales)                                            \
  if constexpr (n == 64) {                                                       \
    WGMMA("m64n64" k_and_types, WGMMA_D32, WGMMA_32, "%32", "%33", scales);      \
  } else if constexpr (n == 120) {                                               \
    WGMMA("m64n120" k_and_types, WGMMA_D60, WGMMA_60, "%60", "%61", scales);     \
  } else if constexpr (n == 128) {                                               \
    WGMMA("m64n128" k_and_types, WGMMA_D64, WGMMA_64, "%64", "%65", scales);     \
  } else if constexpr (n == 240) {                                               \
    WGMMA("m64n240" k_and_types, WGMMA_D120, WGMMA_120, "%120", "%121", scales); \
  } else if constexpr (n == 248) {                                               \
    WGMMA("m64n248" k_and_types, WGMMA_D124, WGMMA_124, "%124", "%125", scales); \
  } else {                                                                       \
    static_assert(n == 256, "64, 120, 128, 240, 248 or 256 columns");            \
    WGMMA("m64n256" k_and_types, WGMMA_D128, WGMMA_128, "%128", "%129", scales); \
  }
#endif

/// d += A B^T, begun by the four warps of a warpgroup: A has 64 rows, B n rows, both 32 bytes of k.
/// Warp w has rows 16 w to 16 w + 15 of d, and lane l of it columns 8 j + l % 4 * 2 and the next:
/// d[4 j], d[4 j + 1] in row l / 4, d[4 j + 2], d[4 j + 3] in row l / 4 + 8. "wgmma.mma_async".
template <class T, int n>
__device__ inline void wgmma(float (&d)[n / 2], std::uint64_t a, std::uint64_t b) {
#ifdef SIMT
  simt::later(multiply_now<T, n>, d, a, b);
#else
  if constexpr (sizeof(T) == 4) {
    WGMMA_OF("k8.f32.tf32.tf32", "1, 1, 1")
  } else {
    WGMMA_OF("k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
  }
#endif
}

// ---- Matrices of 8 rows of 16 bytes, in shared memory and in the registers of a warp ----

/// Loads four of them: lane l gives the place of row l % 8 of matrix l / 8, and gets of each matrix
/// bytes l % 4 * 4 and the next three of row l / 4. "ldmatrix".
__device__ inline void load_matrices(unsigned (&m)[4], const void* row) {
#ifdef SIMT
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t from =
        __shfl_sync(~0u, reinterpret_cast<std::uintptr_t>(row), 8 * i + lane / 4);
    m[i] = *reinterpret_cast<const unsigned*>(from + static_cast<unsigned>(lane % 4 * 4));
  }
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(shared_address(row))
               : "memory");
#endif
}
/// Stores four of them. "stmatrix".
__device__ inline void store_matrices(void* row, unsigned m0, unsigned m1, unsigned m2,
                                      unsigned m3) {
#ifdef SIMT
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned m[] = {m0, m1, m2, m3};
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t to =
        __shfl_sync(~0u, reinterpret_cast<std::uintptr_t>(row), 8 * i + lane / 4);
    *reinterpret_cast<unsigned*>(to + static_cast<unsigned>(lane % 4 * 4)) = m[i];
  }
#else
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
      "r"(m0), "r"(m1), "r"(m2), "r"(m3)
      : "memory");
#endif
}

#ifdef SIMT
/// The operands of a lane.
struct Fragments {
  float* d;
  const unsigned* a;
  unsigned b[2];
};
/// All lanes' mma at once.
template <class T>
SIMT_RAW void multiply_fragments(simt::WarpCall& call) {
  constexpr int k = 4 / sizeof(T);  // elements in a register
  const auto of = [&](int lane) { return reinterpret_cast<const Fragments*>(call.value[lane]); };
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, col = lane % 4 * 2 + i % 2;
      double exact = of(lane)->d[i];
      for (int word = 0; word < 8; ++word) {
        T left[k], right[k];
        memcpy(left, &of(row % 8 * 4 + word % 4)->a[row / 8 + word / 4 * 2], sizeof left);
        memcpy(right, &of(col * 4 + word % 4)->b[word / 4], sizeof right);
        for (int x = 0; x < k; ++x) exact += seen(left[x]) * seen(right[x]);
      }
      of(lane)->d[i] = static_cast<float>(exact);
    }
  }
}
#endif

/// d += A B^T by one warp: A has 16 rows, B 8, both 32 bytes of k. Fragments as load_matrices()
/// brings them: A's rows 0 to 7, rows 8 to 15, and the same of its next 16 bytes; B's first and
/// second 16 bytes. Lane l has columns l % 4 * 2 and the next: d[0], d[1] in row l / 4, d[2], d[3]
/// in row l / 4 + 8. "mma".
template <class T>
__device__ inline void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#ifdef SIMT
  const Fragments mine = {d, a, {b0, b1}};
  simt::warp_call(~0u, reinterpret_cast<std::uintptr_t>(&mine), 0, 32, multiply_fragments<T>,
                  "mma");
#else
  if constexpr (sizeof(T) == 4) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
#endif
}

// ---- Copies by the threads ----

/// Begins to copy 16 bytes to shared memory, of which those from `there` on are not read and become
/// zero. __pipeline_commit() and __pipeline_wait_prior() count it. "cp.async".
__device__ inline void copy_async(void* to, const void* from, int there) {
#ifdef SIMT
  __pipeline_memcpy_async(to, from, 16, static_cast<std::size_t>(16 - there));
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(there)
               : "memory");
#endif
}
