#pragma once
/// \file
/// The engine of the CPU backend, as rewritten CUDA code and the API headers in include/ see it.
/// Every CUDA thread is a fiber or runs to its end on one; blocks are spread over OS threads.
///
/// A .cu file must not see the headers algorithm, functional or tuple: nvcc includes none of them,
/// so a file with `using namespace std` and a function or variable `count` is valid.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "access.hpp"
#include "vector_types.h"

using cudaStream_t = struct CUstream_st*;

#if !defined(SIMT_ENGINE)
/// Those of the running CUDA thread. Constant for its life, so compilers may keep them in
/// registers.
extern const __thread uint3 threadIdx __attribute__((tls_model("initial-exec")));
extern const __thread uint3 blockIdx __attribute__((tls_model("initial-exec")));
extern const __thread dim3 blockDim __attribute__((tls_model("initial-exec")));
extern const __thread dim3 gridDim __attribute__((tls_model("initial-exec")));
#endif
constexpr int warpSize = 32;

namespace simt {

// ---- Launches ----

struct Launch {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  const char* kernel = "?";      ///< as written at the launch; must outlive the launch
  dim3 cluster = {1, 1, 1};      ///< blocks of a cluster
  bool cooperative = false;      ///< all blocks are alive at once; grid_barrier() works
  const void* caller = nullptr;  ///< return address into the function that launches
  unsigned most_threads = 0;     ///< of a block, by the kernel's __launch_bounds__; 0: it has none
  const void* function = nullptr;  ///< the kernel, if that is known
};
inline Launch bounded(unsigned most_threads, Launch launch) {
  launch.most_threads = most_threads;
  return launch;
}

/// A kernel with its arguments: call(arguments) runs one CUDA thread.
struct Body {
  void (*call)(void* arguments);
  void* arguments;
  std::size_t bytes;
  void (*destroy)(void* arguments);
  /// Writes the pointers among the arguments, null for other arguments. For traces.
  void (*pointers)(const void* arguments, const void** to) = nullptr;
  std::size_t pointer_count = 0;
};

/// Runs a kernel to its end, or, called in a kernel, queues it until the launching grid has ended.
/// Errors go into the CUDA error state (see errors.hpp). Takes ownership of the body.
void launch_body(const Launch& launch, Body body);

/// While it exists, the running thread works for the backend, not for the kernel: its accesses are
/// neither checked nor counted.
class Unobserved {
 public:
  Unobserved();
  ~Unobserved();
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  void* before_;
};

/// A list of values like std::tuple: each of its type, which may be a reference.
template <std::size_t i, class T>
struct Value {
  template <class A>
  explicit Value(A&& from) : value(std::forward<A>(from)) {}
  T value;
};
template <class Indices, class... T>
struct ValueList;
template <std::size_t... i, class... T>
struct ValueList<std::index_sequence<i...>, T...> : Value<i, T>... {
  template <class... A>
  explicit ValueList(A&&... from) : Value<i, T>(std::forward<A>(from))... {}
  /// f(values...)
  template <class F>
  decltype(auto) pass_to(F&& f) {
    return f(static_cast<Value<i, T>&>(*this).value...);
  }
};
template <class... T>
using Values = ValueList<std::index_sequence_for<T...>, T...>;

/// The kernel of a launch and the types of its parameters, if its name alone is unambiguous: no F
/// can be deduced for overloaded functions.
template <class... P>
struct Signature {
  using Arguments = Values<P...>;
  static constexpr std::size_t count = sizeof...(P);
  const void* kernel;
};
template <class... P>
Signature<P...> signature_of(void (*kernel)(P...)) {
  return {reinterpret_cast<const void*>(kernel)};
}
/// The type of a kernel's parameter number k, as a pointer to it.
template <std::size_t k, class P, class... Rest>
auto pointer_to_nth() {
  if constexpr (k == 0) {
    return static_cast<P*>(nullptr);
  } else {
    return pointer_to_nth<k - 1, Rest...>();
  }
}
template <std::size_t k, class... P>
auto parameter_of(void (*)(P...)) -> decltype(pointer_to_nth<k, P...>());
template <class Tag, class F>
auto signature(Tag, F* kernel) -> decltype(signature_of(kernel)) {
  return signature_of(kernel);
}
#define SIMT_KERNEL_PARAMETERS(...)                                    \
  [&](auto simt_t) -> decltype(simt::signature(simt_t, __VA_ARGS__)) { \
    return simt::signature(simt_t, __VA_ARGS__);                       \
  }

/// In place of SIMT_KERNEL_PARAMETERS: the arguments already have the right types.
struct AsTheyAre {};

/// Arguments as a kernel takes them: converted to its parameters, or unchanged.
template <bool known, class Of, class... A>
struct ArgumentsOf {
  using type = Values<std::decay_t<A>...>;
  static constexpr std::size_t count = sizeof...(A);
};
template <class Of, class... A>
struct ArgumentsOf<true, Of, A...> {
  using type = typename std::invoke_result_t<Of, int>::Arguments;
  static constexpr std::size_t count = std::invoke_result_t<Of, int>::count;
};

/// The address of the kernel of a launch; null: unknown. `F` calls it: an F that is smaller than a
/// pointer calls a function by its name (and may keep a constant of its template arguments), an F
/// as large as a pointer calls the one that it keeps.
template <class F, class Of>
const void* address_of([[maybe_unused]] const F& f, [[maybe_unused]] const Of& of) {
  const void* address = nullptr;
  if constexpr (std::is_invocable_v<Of, int>) {
    if constexpr (sizeof(F) < sizeof address) {
      address = of(0).kernel;
    } else if constexpr (sizeof(F) == sizeof address) {
      std::memcpy(&address, static_cast<const void*>(&f), sizeof address);
    }
  }
  return address;
}
/// An argument for a parameter that is a reference. As with nvcc, the kernel gets the host's
/// variable and may not use it.
template <class T>
struct Reference {
  T* to;
  operator T&() const { return *to; }
};
template <class T>
Reference<T> by_reference(T& argument) {
  return {__builtin_addressof(argument)};
}
template <class T>
T by_reference(const T&& argument) {
  return argument;
}

template <class T>
const void* as_pointer(const T& argument) {
  if constexpr (std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>) {
    return const_cast<const void*>(static_cast<const volatile void*>(argument));
  } else {
    return nullptr;
  }
}

/// What `f<<<...>>>(arguments...)` becomes. Arguments are evaluated and converted once, and copied
/// for every thread.
template <class F, class Of, class... A>
__attribute__((noinline)) void launch(Launch launch, F f, Of of, A... arguments) {
  const Unobserved unobserved;
  launch.caller = __builtin_return_address(0);
  using Given = ArgumentsOf<std::is_invocable_v<Of, int>, Of, A...>;
  static_assert(Given::count == sizeof...(A),
                "this launch gives another number of arguments than its kernel takes");
  if constexpr (Given::count == sizeof...(A)) {
    launch.function = address_of(f, of);
    using Arguments = typename Given::type;
    using Call = std::pair<F, Arguments>;
    auto* call = new Call(std::move(f), Arguments(std::move(arguments)...));
    launch_body(launch,
                {[](void* p) {
                   auto* c = static_cast<Call*>(p);
                   c->second.pass_to(c->first);
                 },
                 call, sizeof(Call), [](void* p) { delete static_cast<Call*>(p); },
                 [](const void* p, [[maybe_unused]] const void** to) {
                   auto* c = static_cast<Call*>(const_cast<void*>(p));
                   c->second.pass_to([&](const auto&... a) { ((*to++ = as_pointer(a)), ...); });
                 },
                 sizeof...(A)});
  }
}

/// A kernel and its name in the source: the rewriter's form of a kernel passed to the host API.
template <class F>
struct Kernel {
  F* function;
  const char* name;

  const void* address() const {
    const void* bits = nullptr;
    std::memcpy(&bits, &function, sizeof bits);
    return bits;
  }
};
template <class F>
Kernel<F> kernel(F* function, const char* name) {
  return {function, name};
}

// ---- Shared memory: in a window of the running block ----

/// The block's variable that belongs to `key`; made at the first call.
void* shared_variable(const void* key, std::size_t bytes, std::size_t alignment)
    __attribute__((const));
/// Start of the dynamic shared memory of the running block.
void* dynamic_shared_memory() __attribute__((const));
/// The same variable of another block of the cluster.
void* map_shared(const void* address, unsigned rank);

/// What `__shared__ T name` becomes: `auto& name = simt::shared<T>(&key)`; the key is its name.
template <class T, std::size_t alignment = alignof(T)>
SIMT_INLINE T& shared(const void* key) {
  return *static_cast<T*>(shared_variable(key, sizeof(T), alignment));
}

/// What `extern __shared__ T name[]` becomes in a function.
template <class T>
SIMT_INLINE T* dynamic_shared() {
  return static_cast<T*>(dynamic_shared_memory());
}
/// The same with a name: nvcc allows one type for it in a file, so another one is a finding.
struct SharedName {
  const char *file, *name;
  const std::type_info* type;  ///< of a pointer to it
};
void* dynamic_shared_memory(const SharedName* name) __attribute__((const));
template <class T, class Name>
SIMT_INLINE T* dynamic_shared() {
  static const SharedName name = {Name::file(), Name::text(), &typeid(T*)};
  return static_cast<T*>(dynamic_shared_memory(&name));
}

/// The same at namespace scope: an object that converts to the running block's pointer.
template <class T>
struct DynamicShared {
  SIMT_INLINE operator T*() const { return dynamic_shared<T>(); }
  /// A cast, as in (short*)array.
  template <class U>
  SIMT_INLINE explicit operator U*() const {
    return dynamic_shared<U>();
  }
};

// ---- Synchronisation ----

struct BarrierResult {
  int votes;    ///< threads whose predicate was not 0
  int threads;  ///< threads that arrived
};
SIMT_CONVERGENT BarrierResult block_barrier(int predicate);  ///< __syncthreads and its variants
void grid_barrier();                                         ///< cooperative launches
void cluster_barrier();
/// Split forms. Every thread that arrives must wait before it arrives again.
void cluster_arrive();
void cluster_wait();

/// One call of a warp function: the values that the lanes of `mask` bring and those they get.
struct WarpCall {
  std::uint32_t mask;  ///< the lanes of the call: those of its mask that have not returned
  std::uint64_t value[32], result[32];
  int argument[32], width[32];
  std::uint32_t bad_lanes;  ///< set by take(): lanes that read a lane outside of the mask
  std::uint8_t asked[32];   ///< which lane each of them read

  /// What `lane` gets from `source`; undefined in CUDA, and reported, if source is not in the mask.
  std::uint64_t take(int lane, int source) {
    if ((mask >> source & 1) == 0) {
      bad_lanes |= 1u << lane;
      asked[lane] = static_cast<std::uint8_t>(source);
    }
    return value[source];
  }
};
/// Synchronizes the lanes in `mask`; the last computes all results with `f`. Only "__syncwarp" and
/// "group.sync()" order memory, as in CUDA.
SIMT_CONVERGENT std::uint64_t warp_call(std::uint32_t mask, std::uint64_t value, int argument,
                                        int width, void (*f)(WarpCall&), const char* name);

enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel, seq_cst };

/// __threadfence and its variants: later strong stores release earlier accesses, to the threads of
/// the block or to all; and what earlier strong loads have seen is acquired.
void fence(bool block_only = false, Order order = Order::acq_rel);
/// fence.proxy.async: bulk copies issued after it see earlier writes.
void proxy_fence();
/// fence.mbarrier_init: the memory barriers that the thread has initialised are visible to bulk
/// copies.
void mbarrier_init_fence();
void acquire(const volatile void* address);  ///< what was last released at this address
void release(const volatile void* address);
void yield();  ///< lets other threads run; called by functions that poll
void poll();   ///< counts a strong load and yields now and then

// ---- Indices of the running thread ----

unsigned lane();         ///< 0..31
unsigned thread_rank();  ///< in the block, x fastest
unsigned live_lanes();   ///< lanes of this warp that have not returned
unsigned cluster_rank();
unsigned cluster_size();
dim3 cluster_shape();
unsigned block_count();  ///< of the grid
bool in_kernel();

// ---- Structures, see structures.py ----

/// Larger structures are not registered: a copy of one looks like copies of its members.
constexpr std::size_t largest_type = 256;

template <class T>
void know_type() {
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
  if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= largest_type) {
    alignas(T) unsigned char bytes[sizeof(T)];
    std::memset(bytes, 0xFF, sizeof bytes);
    __builtin_clear_padding(reinterpret_cast<T*>(bytes));
    return know_type(sizeof(T), alignof(T), bytes);
  }
#endif
#endif
  know_type(sizeof(T), alignof(T));
}
/// A union, or a structure that has one: of a whole copy, only one member may have been written.
void know_union(std::size_t bytes);
template <class T>
void know_union() {
  know_union(sizeof(T));
}
template <std::size_t bytes, std::size_t alignment>
void know_template() {
  know_type(bytes, alignment);
}

// ---- Atomics: every width, one compare-and-swap loop ----

/// Before an atomic of the running thread: checks, counts, releases. `pc`: see access(). `loop`: in
/// shared memory a GPU does it by compare-and-swap, which counts twice.
void before_atomic(const volatile void* address, std::size_t size, Access kind, Order order,
                   const void* pc, bool loop = false);
void after_atomic(const volatile void* address, Access kind, Order order);
/// Before a compare-and-swap: a plain load of the same word just before it is only a guess.
void will_compare(const volatile void* address);

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// *p = f(*p), atomically; returns the old value. T: 1, 2, 4 or 8 bytes, trivially copyable.
template <class T, class F>
SIMT_RAW T atomic_update(volatile T* p, F f, Order order = Order::relaxed,
                         bool loop = !std::is_integral_v<T> || sizeof(T) != 4) {
  static_assert(sizeof(T) <= 8);
  before_atomic(p, sizeof(T), Access::atomic, order, __builtin_return_address(0), loop);
  auto* word = reinterpret_cast<volatile Bits<T>*>(p);
  Bits<T> old = __atomic_load_n(word, __ATOMIC_SEQ_CST), next;
  T value;
  do {
    std::memcpy(static_cast<void*>(&value), &old, sizeof(T));
    const T updated = f(value);
    std::memcpy(&next, static_cast<const void*>(&updated), sizeof(T));
  } while (
      !__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  after_atomic(p, Access::atomic, order);
  return value;
}
template <class T>
SIMT_RAW T atomic_load(const volatile T* p, Order order = Order::relaxed) {
  before_atomic(p, sizeof(T), Access::load, order, __builtin_return_address(0));
  const Bits<T> bits =
      __atomic_load_n(reinterpret_cast<const volatile Bits<T>*>(p), __ATOMIC_SEQ_CST);
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  after_atomic(p, Access::load, order);
  return value;
}
template <class T>
SIMT_RAW void atomic_store(volatile T* p, T value, Order order = Order::relaxed) {
  before_atomic(p, sizeof(T), Access::store, order, __builtin_return_address(0));
  Bits<T> bits;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
  __atomic_store_n(reinterpret_cast<volatile Bits<T>*>(p), bits, __ATOMIC_SEQ_CST);
  after_atomic(p, Access::store, order);
}

// ---- Asynchronous copies: land when a thread waits for them, not before ----

/// Queues a copy of the running thread (cp.async). Sizes as on the hardware: 4, 8, 16 bytes.
void async_copy(void* to, const void* from, std::size_t bytes);
void async_commit();                ///< closes a group (cp.async.commit_group)
void async_wait(unsigned pending);  ///< lands all but the newest `pending` groups

/// A function that does the work of an instruction such as wgmma: see later() in async.hpp.
using Later = void(void* to, std::uint64_t a, std::uint64_t b);

// ---- Errors that end a kernel ----

/// Reports a finding `kind`: the running thread `what` ("calls __trap()") at the line of `caller`,
/// a return address, or null for a text that names the line. Sets the sticky CUDA error, ends the
/// launch.
[[noreturn]] void fail_kernel(const char* kind, int cuda_error, const char* what,
                              const void* caller);

}  // namespace simt
