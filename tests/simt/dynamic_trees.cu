// Random trees of launches, with reads and writes in them: a race must be found exactly if two
// accesses have no path between them in the graph of CUDA's ordering, worked out on the host.
#include <bitset>
#include <random>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

class DynamicTrees : public simt_test::Device {};

constexpr int most_grids = 9, most_ops = 12, words = 3;

/// One step of a block of one thread. A launch names a grid of the tree.
struct Op {
  enum Kind { none, read, write, launch } kind = none;
  int what = 0;  ///< the word, or the grid
  enum Stream { block, first, second, alone, tail } stream = block;
};
struct Grid {
  int blocks = 1;
  Op ops[2][most_ops];
};

__global__ void run(const Grid* grids, int me, int* data, int* sums) {
  cudaStream_t made[2] = {};
  int sum = 0;
  for (int k = 0; k < most_ops; ++k) {
    const Op op = grids[me].ops[blockIdx.x][k];
    if (op.kind == Op::read) sum += data[op.what];
    if (op.kind == Op::write) data[op.what] = (me * 2 + static_cast<int>(blockIdx.x)) * 100 + k;
    if (op.kind != Op::launch) continue;
    cudaStream_t stream = op.stream == Op::alone  ? cudaStreamFireAndForget
                          : op.stream == Op::tail ? cudaStreamTailLaunch
                                                  : nullptr;
    if (op.stream == Op::first || op.stream == Op::second) {
      cudaStream_t& mine = made[op.stream == Op::second];
      if (mine == nullptr) cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking);
      stream = mine;
    }
    run<<<grids[op.what].blocks, 1, 0, stream>>>(grids, op.what, data, sums);
  }
  for (const cudaStream_t stream : made) {
    if (stream != nullptr) cudaStreamDestroy(stream);
  }
  sums[me * 2 + blockIdx.x] = sum;
}

/// The events of a run, and which of them is ordered before which.
class Graph {
 public:
  explicit Graph(const std::vector<Grid>& grids) : grids_(grids) {
    const int count = static_cast<int>(grids.size()) * per_grid;
    for (int g = 0; g < static_cast<int>(grids.size()); ++g) add(g);
    for (int k = 0; k < count; ++k) {
      for (int i = 0; i < count; ++i) {
        if (after_[i][k]) after_[i] |= after_[k];
      }
    }
  }

  bool has_race() const {
    const int grids = static_cast<int>(grids_.size());
    for (int a = 0; a < grids * 2 * most_ops; ++a) {
      for (int b = 0; b < a; ++b) {
        const Op &x = op(a), &y = op(b);
        const bool write = x.kind == Op::write || y.kind == Op::write;
        const bool access = x.kind != Op::none && x.kind != Op::launch && y.kind != Op::none &&
                            y.kind != Op::launch;
        if (!access || !write || x.what != y.what) continue;
        const int i = event_of(a), j = event_of(b);
        if (!after_[i][j] && !after_[j][i]) return true;
      }
    }
    return false;
  }

 private:
  enum { start, ended, over, first_op };  // over: with its tail launches
  static constexpr int per_grid = first_op + 2 * most_ops;

  const Op& op(int n) const {
    return grids_[n / (2 * most_ops)].ops[n / most_ops % 2][n % most_ops];
  }
  static int event_of(int n) {
    return n / (2 * most_ops) * per_grid + first_op + n % (2 * most_ops);
  }
  void then(int before, int event) { after_[before][event] = true; }

  void add(int g) {
    const int base = g * per_grid;
    int last_tail = base + ended;
    for (int b = 0; b < grids_[g].blocks; ++b) {
      int last_of[3] = {-1, -1, -1}, before = base + start;
      for (int k = 0; k < most_ops; ++k) {
        const Op& op = grids_[g].ops[b][k];
        const int event = base + first_op + b * most_ops + k;
        then(before, event);
        before = event;
        if (op.kind != Op::launch) continue;
        const int child = op.what * per_grid;
        if (op.stream == Op::tail) {
          then(last_tail, child + start);
          last_tail = child + over;
          continue;
        }
        then(event, child + start);
        then(child + over, base + ended);
        if (op.stream == Op::alone) continue;
        if (last_of[op.stream] >= 0) then(last_of[op.stream] + over, child + start);
        last_of[op.stream] = child;
      }
      then(before, base + ended);
    }
    then(last_tail, base + over);
  }

  const std::vector<Grid>& grids_;
  std::bitset<most_grids * per_grid> after_[most_grids * per_grid];
};

/// Only block 0 makes tail launches, so that their order is known; a word has at most two readers,
/// all of which the checks keep.
std::vector<Grid> random_tree(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<Grid> grids(1 + below(most_grids));
  int readers[words] = {};
  const auto put = [&](int g, int b, Op op) {
    Op(&ops)[most_ops] = grids[g].ops[b];
    for (int tries = 0; tries < 20; ++tries) {
      const int k = below(most_ops);
      if (ops[k].kind != Op::none) continue;
      ops[k] = op;
      return;
    }
    FAIL() << "no room for another step";
  };
  for (int g = 0; g < static_cast<int>(grids.size()); ++g) {
    grids[g].blocks = 1 + below(2);
    if (g == 0) continue;
    const int parent = below(g), b = below(grids[parent].blocks);
    put(parent, b, {Op::launch, g, static_cast<Op::Stream>(below(b == 0 ? 5 : 4))});
  }
  const int accesses = 1 + below(5);
  for (int k = 0; k < accesses; ++k) {
    const int g = below(static_cast<int>(grids.size())), word = below(words);
    const bool reads = below(2) == 0 && readers[word]++ < 2;
    put(g, below(grids[g].blocks), {reads ? Op::read : Op::write, word, Op::block});
  }
  return grids;
}

TEST_F(DynamicTrees, races_are_found_where_nothing_orders_two_accesses) {
  std::mt19937 random(20240607);
  int with = 0, without = 0;
  for (int tree = 0; tree < 1000; ++tree) {
    SCOPED_TRACE("tree " + std::to_string(tree));
    const std::vector<Grid> grids = random_tree(random);
    const bool expected = Graph(grids).has_race();
    Array<Grid> tables(grids);
    Array<int> data(words, 0), sums(2 * most_grids);
    run<<<grids[0].blocks, 1>>>(tables.get(), 0, data.get(), sums.get());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    bool found = false;
    for (const simt::Finding& finding : simt::take_findings()) {
      EXPECT_EQ(finding.kind, "race") << finding.text;
      EXPECT_TRUE(expected) << finding.text;
      found = true;
    }
    EXPECT_EQ(found, expected);
    ++(expected ? with : without);
  }
  EXPECT_GT(with, 50);
  EXPECT_GT(without, 50);
}

}  // namespace
