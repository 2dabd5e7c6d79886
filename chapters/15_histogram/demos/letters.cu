// Which letters are frequent in the sections of a text: one histogram each.
//
// A section begins at a line that starts with "## "; what is above the first of them is a section
// of its own. One block per section counts the letters a to z, capitals included, in 26 counters
// in shared memory, and stores them as a row of the result: no other block adds to that row.
//
//   nvcc -std=c++17 -arch=sm_90 letters.cu -o letters
//   ./letters [TEXT]                        without TEXT: the lesson of this chapter

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
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

constexpr int letters = 26, block_size = 256, shown = 5;

/// counts[letters s + k] = how often letter k occurs in section s = blockIdx.x: the characters from
/// begins[s] on and below begins[s + 1].
__global__ void count_letters(const char* text, const std::int64_t* begins, unsigned* counts) {
  __shared__ unsigned mine[letters];
  const unsigned t = threadIdx.x;
  if (t < letters) mine[t] = 0;
  __syncthreads();
  const std::int64_t end = begins[blockIdx.x + 1];
  for (std::int64_t i = begins[blockIdx.x] + t; i < end; i += block_size) {
    const unsigned small = static_cast<unsigned char>(text[i]) | 32u;  // 'A' is 65, 'a' is 97
    if (small - 'a' < letters) atomicAdd(&mine[small - 'a'], 1u);
  }
  __syncthreads();
  if (t < letters) counts[letters * blockIdx.x + t] = mine[t];
}

/// The characters of a file. Ends the program with one line if there are none.
std::string read(const char* path) {
  std::string text;
  std::FILE* const file = std::fopen(path, "rb");
  bool failed = file == nullptr;
  char part[4096];
  for (std::size_t n = 1; !failed && n > 0;) {
    n = std::fread(part, 1, sizeof part, file);
    text.append(part, n);
    failed = std::ferror(file) != 0;
  }
  if (failed || text.empty()) {
    std::fprintf(stderr, "letters: cannot read %s: %s; name a text\n", path,
                 failed ? std::strerror(errno) : "it is empty");
    std::exit(2);
  }
  std::fclose(file);
  return text;
}

/// Where sections begin, and the end of the text.
std::vector<std::int64_t> sections(const std::string& text) {
  std::vector<std::int64_t> begins = {0};
  for (std::size_t at = text.find("\n## "); at != text.npos; at = text.find("\n## ", at + 1)) {
    begins.push_back(static_cast<std::int64_t>(at + 1));
  }
  begins.push_back(static_cast<std::int64_t>(text.size()));
  return begins;
}

/// The first heading from `begin` on and below `end`, or the first line: at most 36 characters.
std::string title(const std::string& text, std::size_t begin, std::size_t end) {
  const std::size_t mark = text.find("# ", begin), from = mark < end ? mark + 2 : begin;
  std::string line = text.substr(from, std::min(text.find('\n', from), end) - from);
  if (line.size() > 36) line = line.substr(0, 33) + "...";
  for (char& c : line) c = c >= ' ' && c <= '~' ? c : '?';
  return line;
}

int main(int argc, char** argv) {
  if (argc > 2 || (argc > 1 && argv[1][0] == '-')) {
    std::fprintf(stderr, "letters: bad argument '%s'; usage: letters [TEXT]\n", argv[argc - 1]);
    return 2;
  }
  const std::string source = __FILE__;  // the lesson lies one folder above it
  const std::string lesson = source.substr(0, source.rfind('/') + 1) + "../README.md";
  const std::string text = read(argc > 1 ? argv[1] : lesson.c_str());
  const std::vector<std::int64_t> begins = sections(text);
  const std::size_t rows = begins.size() - 1;
  std::vector<unsigned> counts(letters * rows);

  char* text_on_gpu = nullptr;
  std::int64_t* begins_on_gpu = nullptr;
  unsigned* counts_on_gpu = nullptr;
  CHECK(cudaMalloc(&text_on_gpu, text.size()));
  CHECK(cudaMalloc(&begins_on_gpu, begins.size() * sizeof begins[0]));
  CHECK(cudaMalloc(&counts_on_gpu, counts.size() * sizeof counts[0]));
  CHECK(cudaMemcpy(text_on_gpu, text.data(), text.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(begins_on_gpu, begins.data(), begins.size() * sizeof begins[0],
                   cudaMemcpyHostToDevice));
  count_letters<<<static_cast<unsigned>(rows), block_size>>>(text_on_gpu, begins_on_gpu,
                                                             counts_on_gpu);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(counts.data(), counts_on_gpu, counts.size() * sizeof counts[0],
                   cudaMemcpyDeviceToHost));
  CHECK(cudaFree(text_on_gpu));
  CHECK(cudaFree(begins_on_gpu));
  CHECK(cudaFree(counts_on_gpu));

  bool right = true;
  std::printf("%-36s %7s   the %d most frequent, in %%\n", "section", "letters", shown);
  for (std::size_t s = 0; s < rows; ++s) {
    const auto begin = static_cast<std::size_t>(begins[s]);
    const auto end = static_cast<std::size_t>(begins[s + 1]);
    const unsigned* const row = &counts[letters * s];
    unsigned expected = 0;
    for (std::size_t i = begin; i < end; ++i) {
      expected += (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    }
    const unsigned all = std::accumulate(row, row + letters, 0u);
    right = right && all == expected;
    std::printf("%-36s %7u  ", title(text, begin, end).c_str(), all);
    std::vector<int> order(letters);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [=](int a, int b) { return row[a] > row[b]; });
    for (int k = 0; k < shown && row[order[k]] > 0; ++k) {
      std::printf(" %c %4.1f", 'a' + order[k], 100.0 * row[order[k]] / all);
    }
    std::printf("\n");
  }
  return right ? 0 : 1;
}
