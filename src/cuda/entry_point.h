// SPDX-License-Identifier: Apache-2.0
// Further names of exported functions, as text for __asm__: they go on to the function with all arguments where they
// are, so that no signature has to be repeated.
#ifndef WL_CUDA_ENTRY_POINT_H
#define WL_CUDA_ENTRY_POINT_H

// GO: another name. SAY_AND_GO: for programs compiled with per-thread default streams; it says so first
// (cuda_per_thread_call).
#if defined(__x86_64__)
#define GO(target) "jmp " target "@PLT\n"
#define SAY_AND_GO(target)                                                                      \
    "push %rdi\n\tpush %rsi\n\tpush %rdx\n\tpush %rcx\n\tpush %r8\n\tpush %r9\n\tpush %rax\n\t" \
    "call cuda_per_thread_call\n\t"                                                             \
    "pop %rax\n\tpop %r9\n\tpop %r8\n\tpop %rcx\n\tpop %rdx\n\tpop %rsi\n\tpop %rdi\n\t" GO(target)
#elif defined(__aarch64__)
#define GO(target) "b " target "\n"
#define SAY_AND_GO(target)                                                                                     \
    "stp x29, x30, [sp, #-96]!\n\tstp x0, x1, [sp, #16]\n\tstp x2, x3, [sp, #32]\n\tstp x4, x5, [sp, #48]\n\t" \
    "stp x6, x7, [sp, #64]\n\tstr x8, [sp, #80]\n\tbl cuda_per_thread_call\n\tldp x0, x1, [sp, #16]\n\t"       \
    "ldp x2, x3, [sp, #32]\n\tldp x4, x5, [sp, #48]\n\tldp x6, x7, [sp, #64]\n\tldr x8, [sp, #80]\n\t"         \
    "ldp x29, x30, [sp], #96\n\t" GO(target)
#else
#error "this machine's jump instruction is needed here"
#endif

// Defines `name`, a function of assembly text.
#define ENTRY_POINT(name, text)                                                                                    \
    void name(void);                                                                                               \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n\t" text ".size " #name ", .-" #name \
            "\n");

#endif
