#pragma once
/// \file
/// Cooperative groups: blocks, tiles of a warp, groups of lanes, clusters and grids.

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "../async.hpp"
#include "../simt.hpp"
#include "device_functions.h"

namespace simt {

// ---- Sets of lanes. The rank of a lane is the number of lanes of the set below it. ----

SIMT_RAW inline unsigned rank_in(std::uint32_t lanes, unsigned lane) {
  return static_cast<unsigned>(__builtin_popcount(lanes & ((1u << lane) - 1)));
}
/// The lane of a rank, which counts modulo the size of the set.
SIMT_RAW inline unsigned lane_of(std::uint32_t lanes, unsigned rank) {
  rank %= static_cast<unsigned>(__builtin_popcount(lanes));
  if (lanes == ~0u) return rank;
  for (; rank > 0; --rank) lanes &= lanes - 1;
  return static_cast<unsigned>(__builtin_ctz(lanes));
}
/// Bits of lanes to bits of ranks.
SIMT_RAW inline std::uint32_t pack(std::uint32_t lanes, std::uint32_t bits) {
  if (lanes == ~0u) return bits;
  std::uint32_t packed = 0;
  for (unsigned rank = 0; lanes != 0; lanes &= lanes - 1, ++rank) {
    packed |= (bits >> __builtin_ctz(lanes) & 1) << rank;
  }
  return packed;
}
/// Those `size` ranks of the set, counted from a multiple of `size`, to which the lane belongs.
SIMT_RAW inline std::uint32_t part(std::uint32_t lanes, unsigned lane, unsigned size) {
  const unsigned mine = rank_in(lanes, lane) / size;
  std::uint32_t result = 0;
  for (unsigned rank = 0; lanes != 0; lanes &= lanes - 1, ++rank) {
    if (rank / size == mine) result |= lanes & -lanes;
  }
  return result;
}

/// The value of another lane, of any size.
template <class T>
SIMT_INLINE T value_of_lane(std::uint32_t lanes, const T& value, unsigned source,
                            const char* name) {
  std::uint64_t words[(sizeof(T) + 7) / 8] = {};
  std::memcpy(words, static_cast<const void*>(&value), sizeof(T));
  for (auto& word : words) {
    word = warp_call(lanes, word, static_cast<int>(source), 32, shuffle_index, name);
  }
  T result;
  std::memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result;
}

}  // namespace simt

namespace cooperative_groups {

// ---- Groups ----

/// Any group, by value.
class thread_group {
 public:
  SIMT_INLINE void sync() const {
    switch (kind_) {
      case block:
        simt::block_barrier(0);
        break;
      case lanes:
        simt::warp_call(
            lanes_, 0, 0, 32, [](simt::WarpCall&) {}, "group.sync()");
        break;
      case cluster:
        simt::cluster_barrier();
        break;
      case grid:
        simt::grid_barrier();
        break;
    }
  }
  SIMT_INLINE unsigned long long num_threads() const {
    const unsigned in_block = blockDim.x * blockDim.y * blockDim.z;
    switch (kind_) {
      case block:
        return in_block;
      case lanes:
        return static_cast<unsigned>(__builtin_popcount(lanes_));
      case cluster:
        return in_block * simt::cluster_size();
      default:
        return in_block * static_cast<unsigned long long>(simt::block_count());
    }
  }
  SIMT_INLINE unsigned long long size() const { return num_threads(); }
  SIMT_INLINE unsigned long long thread_rank() const {
    const unsigned in_block = blockDim.x * blockDim.y * blockDim.z;
    switch (kind_) {
      case block:
        return simt::thread_rank();
      case lanes:
        return simt::rank_in(lanes_, simt::lane());
      case cluster:
        return in_block * simt::cluster_rank() + simt::thread_rank();
      default:
        return in_block * (blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                                            (blockIdx.y + gridDim.y * blockIdx.z)) +
               simt::thread_rank();
    }
  }
  /// The group's lanes in its warp; 0 for groups that are not part of a warp.
  SIMT_INLINE std::uint32_t simt_lanes() const { return lanes_; }

 protected:
  enum Kind : std::uint8_t { block, lanes, cluster, grid };
  SIMT_INLINE explicit thread_group(Kind kind, std::uint32_t lanes = 0)
      : lanes_(lanes), kind_(kind) {}
  std::uint32_t lanes_;
  Kind kind_;
  friend thread_group tiled_partition(const thread_group& parent, unsigned size);
};

/// The threads of a block.
class thread_block : public thread_group {
 public:
  SIMT_INLINE static void sync() { simt::block_barrier(0); }
  SIMT_INLINE static unsigned thread_rank() { return simt::thread_rank(); }
  SIMT_INLINE static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  SIMT_INLINE static unsigned size() { return num_threads(); }
  SIMT_INLINE static dim3 group_index() { return blockIdx; }
  SIMT_INLINE static dim3 thread_index() { return threadIdx; }
  SIMT_INLINE static dim3 group_dim() { return blockDim; }
  SIMT_INLINE static dim3 dim_threads() { return blockDim; }

 private:
  SIMT_INLINE thread_block() : thread_group(block) {}
  friend thread_block this_thread_block();
};
SIMT_INLINE thread_block this_thread_block() { return {}; }

/// What tiles of more than one warp need on old GPUs.
template <unsigned MaxBlockSize>
struct block_tile_memory {
  static_assert(MaxBlockSize == 0, "tiles of more than one warp need a GPU");
};
template <unsigned MaxBlockSize>
SIMT_INLINE thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return this_thread_block();
}

/// Lanes of one warp: what tiles and coalesced groups have in common.
class simt_lane_group : public thread_group {
 public:
  SIMT_INLINE void sync() const {
    simt::warp_call(
        lanes_, 0, 0, 32, [](simt::WarpCall&) {}, "group.sync()");
  }
  SIMT_INLINE unsigned thread_rank() const { return simt::rank_in(lanes_, simt::lane()); }
  SIMT_INLINE unsigned num_threads() const {
    return static_cast<unsigned>(__builtin_popcount(lanes_));
  }
  SIMT_INLINE unsigned size() const { return num_threads(); }
  SIMT_INLINE unsigned meta_group_rank() const { return meta_rank_; }
  SIMT_INLINE unsigned meta_group_size() const { return meta_size_; }

  template <class T>
  SIMT_INLINE T shfl(const T& value, unsigned rank) const {
    return simt::value_of_lane(lanes_, value, simt::lane_of(lanes_, rank), "group.shfl()");
  }
  /// From `distance` ranks below; a thread that has none there gets its own value.
  template <class T>
  SIMT_INLINE T shfl_up(const T& value, unsigned distance) const {
    const unsigned mine = thread_rank();
    return simt::value_of_lane(lanes_, value,
                               simt::lane_of(lanes_, mine < distance ? mine : mine - distance),
                               "group.shfl_up()");
  }
  template <class T>
  SIMT_INLINE T shfl_down(const T& value, unsigned distance) const {
    const unsigned mine = thread_rank(), there = mine + distance;
    return simt::value_of_lane(lanes_, value,
                               simt::lane_of(lanes_, there < num_threads() ? there : mine),
                               "group.shfl_down()");
  }
  template <class T>
  SIMT_INLINE T shfl_xor(const T& value, unsigned mask) const {
    const unsigned mine = thread_rank(), there = mine ^ mask;
    return simt::value_of_lane(lanes_, value,
                               simt::lane_of(lanes_, there < num_threads() ? there : mine),
                               "group.shfl_xor()");
  }
  SIMT_INLINE unsigned ballot(int predicate) const {
    return simt::pack(lanes_, simt_vote(predicate, "group.ballot()"));
  }
  SIMT_INLINE int any(int predicate) const { return simt_vote(predicate, "group.any()") != 0; }
  SIMT_INLINE int all(int predicate) const { return simt_vote(!predicate, "group.all()") == 0; }
  template <class T>
  SIMT_INLINE unsigned match_any(const T& value) const {
    return simt::pack(lanes_, simt_match(value, "group.match_any()"));
  }
  template <class T>
  SIMT_INLINE unsigned match_all(const T& value, int& predicate) const {
    const std::uint32_t equal = simt_match(value, "group.match_all()");
    predicate = equal == (lanes_ & simt::live_lanes());
    return predicate ? simt::pack(lanes_, equal) : 0;
  }

  SIMT_INLINE std::uint32_t simt_vote(int predicate, const char* name) const {
    return static_cast<std::uint32_t>(
        simt::warp_call(lanes_, predicate != 0, 0, 32, simt::vote_ballot, name));
  }
  /// Lanes with the same value as this one.
  template <class T>
  SIMT_INLINE std::uint32_t simt_match(const T& value, const char* name) const {
    static_assert(sizeof(T) <= 8, "match compares at most 8 bytes");
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const void*>(&value), sizeof(T));
    return static_cast<std::uint32_t>(simt::warp_call(lanes_, word, 0, 32, simt::match_any, name));
  }

 protected:
  SIMT_INLINE simt_lane_group(std::uint32_t set, unsigned meta_rank, unsigned meta_size)
      : thread_group(lanes, set), meta_rank_(meta_rank), meta_size_(meta_size) {}
  unsigned meta_rank_, meta_size_;
};

/// Those threads of a warp that reached coalesced_threads() together, or a part of them.
class coalesced_group : public simt_lane_group {
 public:
  SIMT_INLINE explicit coalesced_group(std::uint32_t set, unsigned meta_rank = 0,
                                       unsigned meta_size = 1)
      : simt_lane_group(set, meta_rank, meta_size) {}
};
SIMT_INLINE coalesced_group coalesced_threads(const char* file = __builtin_FILE(),
                                              int line = __builtin_LINE()) {
  return coalesced_group(simt::active_lanes(file, line));
}

template <unsigned Size, class Parent = void>
class thread_block_tile;

/// `Size` neighbouring threads of a warp, whatever they were cut from.
template <unsigned Size>
class thread_block_tile<Size, void> : public simt_lane_group {
  static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  static_assert(Size <= 32, "tiles of more than one warp need a GPU");

 public:
  SIMT_INLINE static constexpr unsigned num_threads() { return Size; }
  SIMT_INLINE static constexpr unsigned size() { return Size; }
  SIMT_INLINE static unsigned thread_rank() { return simt::lane() % Size; }

 protected:
  SIMT_INLINE thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : simt_lane_group(lanes_here(), meta_rank, meta_size) {}

 private:
  SIMT_INLINE static std::uint32_t lanes_here() {
    return static_cast<std::uint32_t>((std::uint64_t{1} << Size) - 1)
           << (simt::lane() & ~(Size - 1));
  }
};

/// The same, and the type knows the parent.
template <unsigned Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
  SIMT_INLINE thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : thread_block_tile<Size, void>(meta_rank, meta_size) {}
  template <unsigned S>
  friend thread_block_tile<S, thread_block> tiled_partition(const thread_block&);
  template <unsigned S, unsigned P, class G>
  friend thread_block_tile<S, thread_block_tile<P, G>> tiled_partition(
      const thread_block_tile<P, G>&);
};

/// The threads of a cluster.
class cluster_group : public thread_group {
 public:
  struct arrival_token {};
  SIMT_INLINE static void sync() { simt::cluster_barrier(); }
  SIMT_INLINE static arrival_token barrier_arrive() {
    simt::cluster_arrive();
    return {};
  }
  SIMT_INLINE static void barrier_wait(arrival_token&& = {}) { simt::cluster_wait(); }
  SIMT_INLINE static unsigned block_rank() { return simt::cluster_rank(); }
  SIMT_INLINE static unsigned num_blocks() { return simt::cluster_size(); }
  SIMT_INLINE static dim3 dim_blocks() { return simt::cluster_shape(); }
  SIMT_INLINE static dim3 block_index() {
    const dim3 shape = simt::cluster_shape();
    return dim3(blockIdx.x % shape.x, blockIdx.y % shape.y, blockIdx.z % shape.z);
  }
  SIMT_INLINE static dim3 dim_threads() {
    const dim3 shape = simt::cluster_shape();
    return dim3(shape.x * blockDim.x, shape.y * blockDim.y, shape.z * blockDim.z);
  }
  SIMT_INLINE static dim3 thread_index() {
    const dim3 at = block_index();
    return dim3(at.x * blockDim.x + threadIdx.x, at.y * blockDim.y + threadIdx.y,
                at.z * blockDim.z + threadIdx.z);
  }
  SIMT_INLINE static unsigned num_threads() { return num_blocks() * thread_block::num_threads(); }
  SIMT_INLINE static unsigned size() { return num_threads(); }
  SIMT_INLINE static unsigned thread_rank() {
    return block_rank() * thread_block::num_threads() + simt::thread_rank();
  }
  /// The same shared variable of the block with this rank.
  template <class T>
  SIMT_INLINE static T* map_shared_rank(T* address, int rank) {
    return static_cast<T*>(const_cast<void*>(static_cast<const volatile void*>(
        simt::map_shared(const_cast<const void*>(static_cast<const volatile void*>(address)),
                         static_cast<unsigned>(rank)))));
  }
  SIMT_INLINE static unsigned query_shared_rank(const void* address) {
    return static_cast<unsigned>(simt::shared_rank(address));
  }

 private:
  SIMT_INLINE cluster_group() : thread_group(cluster) {}
  friend cluster_group this_cluster();
};
SIMT_INLINE cluster_group this_cluster() { return {}; }

/// All threads of a cooperative launch.
class grid_group : public thread_group {
 public:
  SIMT_INLINE static void sync() { simt::grid_barrier(); }
  SIMT_INLINE static bool is_valid() { return simt::cooperative(); }
  SIMT_INLINE static unsigned long long block_rank() {
    return blockIdx.x +
           static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  SIMT_INLINE static unsigned long long num_blocks() { return simt::block_count(); }
  SIMT_INLINE static unsigned long long num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  SIMT_INLINE static unsigned long long size() { return num_threads(); }
  SIMT_INLINE static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + simt::thread_rank();
  }
  SIMT_INLINE static dim3 group_dim() { return gridDim; }
  SIMT_INLINE static dim3 dim_blocks() { return gridDim; }
  SIMT_INLINE static dim3 block_index() { return blockIdx; }
  SIMT_INLINE static unsigned long long cluster_rank() {
    const dim3 shape = simt::cluster_shape(), clusters = dim_clusters();
    return blockIdx.x / shape.x + static_cast<unsigned long long>(clusters.x) *
                                      (blockIdx.y / shape.y + clusters.y * (blockIdx.z / shape.z));
  }
  SIMT_INLINE static unsigned long long num_clusters() {
    return num_blocks() / simt::cluster_size();
  }
  SIMT_INLINE static dim3 dim_clusters() {
    const dim3 shape = simt::cluster_shape();
    return dim3(gridDim.x / shape.x, gridDim.y / shape.y, gridDim.z / shape.z);
  }

 private:
  SIMT_INLINE grid_group() : thread_group(grid) {}
  friend grid_group this_grid();
};
SIMT_INLINE grid_group this_grid() { return {}; }

// ---- Parts of groups ----

template <unsigned Size>
SIMT_INLINE thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  const unsigned n = block.num_threads();
  return {block.thread_rank() / Size, (n + Size - 1) / Size};
}
template <unsigned Size, unsigned ParentSize, class Parent>
SIMT_INLINE thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>& tile) {
  static_assert(Size <= ParentSize, "a part is not larger than the whole");
  return {tile.thread_rank() / Size, ParentSize / Size};
}
/// A size that is known at run time: a power of two up to 32.
SIMT_INLINE thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const std::uint32_t set = parent.kind_ == thread_group::lanes ? parent.lanes_ : ~0u;
  return thread_group(thread_group::lanes, simt::part(set, simt::lane(), size));
}
SIMT_INLINE coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  return coalesced_group(simt::part(parent.simt_lanes(), simt::lane(), size),
                         parent.thread_rank() / size, (parent.num_threads() + size - 1) / size);
}
/// Threads with the same label.
template <class Label>
SIMT_INLINE coalesced_group labeled_partition(const simt_lane_group& parent, Label label) {
  static_assert(std::is_integral_v<Label>, "a label is an integer");
  return coalesced_group(parent.simt_match(label, "labeled_partition()"));
}
/// Threads with the same answer.
SIMT_INLINE coalesced_group binary_partition(const simt_lane_group& parent, bool predicate) {
  return coalesced_group(parent.simt_match(predicate, "binary_partition()"), predicate ? 1u : 0u,
                         2);
}

// ---- Functions of groups ----

template <class Group>
SIMT_INLINE void sync(const Group& group) {
  group.sync();
}
template <class Group>
SIMT_INLINE auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
SIMT_INLINE auto group_size(const Group& group) {
  return group.num_threads();
}

/// One thread of the group calls f.
template <class Group, class F, class... A>
SIMT_INLINE void invoke_one(const Group& group, F&& f, A&&... arguments) {
  if (group.thread_rank() == 0) std::forward<F>(f)(std::forward<A>(arguments)...);
}
/// One thread calls f, all get its result.
template <class Group, class F, class... A>
SIMT_INLINE auto invoke_one_broadcast(const Group& group, F&& f, A&&... arguments) {
  std::decay_t<std::invoke_result_t<F, A...>> result{};
  if (group.thread_rank() == 0) result = std::forward<F>(f)(std::forward<A>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups
