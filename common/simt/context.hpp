#pragma once
/// \file
/// Switching between stacks. x86-64: eleven instructions of our own. Elsewhere, or where
/// SIMT_SWITCH_UCONTEXT is defined: ucontext (240 ns, because it saves the signal mask by a system
/// call).

#include <cstddef>

#if defined(__x86_64__) && defined(__ELF__) && !defined(SIMT_SWITCH_UCONTEXT)
#define SIMT_SWITCH_X86_64 1
#else
#include <ucontext.h>
#endif

namespace simt {

using Entry = void (*)();  ///< must not return

#if defined(SIMT_SWITCH_X86_64)

constexpr const char* switch_name = "x86-64";
struct Context {
  void* stack_pointer = nullptr;
};
/// Saves where we are, changes stacks and jumps to where the other one stopped. Inlined, and
/// without call or ret: the processor predicts the target of a ret from the calls before it, and
/// each prediction would be wrong on the new stack, at 6 ns apiece. The compiler saves the
/// registers of the list that it needs; 128 bytes below the stack pointer may hold its data (red
/// zone).
__attribute__((always_inline)) inline void switch_context(Context& from, Context& to) {
  void** save = &from.stack_pointer;
  void* load = to.stack_pointer;
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "push %%rbp\n\t"
      "lea 1f(%%rip), %%rax\n\t"
      "push %%rax\n\t"
      "mov %%rsp, (%%rdi)\n\t"
      "mov %%rsi, %%rsp\n\t"
      "pop %%rax\n\t"
      "jmp *%%rax\n"
      "1:\n\t"
      "pop %%rbp\n\t"
      "lea 128(%%rsp), %%rsp"
      : "+D"(save), "+S"(load)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}
inline void make_context(Context& context, char* stack, std::size_t bytes, Entry entry) {
  void** top = reinterpret_cast<void**>(stack + bytes) - 4;  // a multiple of 16
  top[0] = reinterpret_cast<void*>(entry);
  top[1] = nullptr;  // where a return address would be: it ends a debugger's backtrace
  context.stack_pointer = top;
}
/// Asks for the cache lines that a switch to this context will read.
inline void prefetch_stack(const Context& context) {
  __builtin_prefetch(context.stack_pointer);
  __builtin_prefetch(static_cast<char*>(context.stack_pointer) + 64);
  __builtin_prefetch(static_cast<char*>(context.stack_pointer) + 128);
}

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
