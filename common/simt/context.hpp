#pragma once
/// \file
/// Switching between stacks. x86-64: 20 instructions of our own, 4 ns. Elsewhere Boost.Context
/// (SIMT_SWITCH_BOOST, 5 ns) or ucontext (SIMT_SWITCH_UCONTEXT, 240 ns, because it saves the signal
/// mask by a system call).

#include <cstddef>

#if !defined(SIMT_SWITCH_BOOST) && !defined(SIMT_SWITCH_UCONTEXT)
#if defined(__x86_64__) && defined(__ELF__)
#define SIMT_SWITCH_X86_64 1
#elif __has_include(<boost/context/detail/fcontext.hpp>)
#define SIMT_SWITCH_BOOST 1
#else
#define SIMT_SWITCH_UCONTEXT 1
#endif
#endif

#if defined(SIMT_SWITCH_BOOST)
#include <boost/context/detail/fcontext.hpp>
#elif defined(SIMT_SWITCH_UCONTEXT)
#include <ucontext.h>
#endif

namespace simt {

using Entry = void (*)();  ///< must not return

#if defined(SIMT_SWITCH_X86_64)

constexpr const char* switch_name = "x86-64";
struct Context {
  void* stack_pointer = nullptr;
};
extern "C" void simt_switch_stacks(void** save, void* load);
// Pushes what a function call preserves, changes stacks, pops. Jumps back instead of returning: the
// processor's return predictor would guess wrong on the new stack, which costs 12 ns.
__asm__(
    ".text\n.weak simt_switch_stacks\n.type simt_switch_stacks,@function\nsimt_switch_stacks:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
    "  pop %rcx\n  jmp *%rcx\n.size simt_switch_stacks,.-simt_switch_stacks\n");
inline void switch_context(Context& from, Context& to) {
  simt_switch_stacks(&from.stack_pointer, to.stack_pointer);
}
/// Asks for the cache lines that a switch to this context will read.
inline void prefetch_stack(const Context& context) {
  __builtin_prefetch(context.stack_pointer);
  __builtin_prefetch(static_cast<char*>(context.stack_pointer) + 64);
  __builtin_prefetch(static_cast<char*>(context.stack_pointer) + 128);
}
inline void make_context(Context& context, char* stack, std::size_t bytes, Entry entry) {
  void** top = reinterpret_cast<void**>(stack + bytes) - 2;  // keeps the stack 16-byte aligned
  top[0] = reinterpret_cast<void*>(entry);
  top[1] = nullptr;  // the return address that ends a debugger's backtrace
  for (int k = 1; k <= 6; ++k) top[-k] = nullptr;
  context.stack_pointer = top - 6;
}

#elif defined(SIMT_SWITCH_BOOST)

constexpr const char* switch_name = "Boost.Context";
namespace boost_context = boost::context::detail;
struct Context {
  boost_context::fcontext_t handle = nullptr;
  Entry entry = nullptr;
};
/// Whoever is switched to keeps the handle of whoever it came from.
inline void keep_handle(boost_context::transfer_t transfer) {
  static_cast<Context**>(transfer.data)[0]->handle = transfer.fctx;
}
inline void switch_context(Context& from, Context& to) {
  Context* pair[2] = {&from, &to};
  keep_handle(boost_context::jump_fcontext(to.handle, pair));
}
inline void make_context(Context& context, char* stack, std::size_t bytes, Entry entry) {
  context.entry = entry;
  context.handle =
      boost_context::make_fcontext(stack + bytes, bytes, [](boost_context::transfer_t transfer) {
        const Entry start = static_cast<Context**>(transfer.data)[1]->entry;
        keep_handle(transfer);
        start();
      });
}

inline void prefetch_stack(const Context&) {}

#else

constexpr const char* switch_name = "ucontext";
struct Context {
  ucontext_t state;
};
inline void switch_context(Context& from, Context& to) { swapcontext(&from.state, &to.state); }
inline void prefetch_stack(const Context&) {}
inline void make_context(Context& context, char* stack, std::size_t bytes, Entry entry) {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = stack;
  context.state.uc_stack.ss_size = bytes;
  context.state.uc_link = nullptr;
  makecontext(&context.state, entry, 0);
}

#endif

}  // namespace simt
