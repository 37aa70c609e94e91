// SPDX-License-Identifier: Apache-2.0
// The functions that api.def adds to the implemented ones: stubs, and other names of the same function.
#include "cuda/api_table.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/api.h"

// A stub takes no notice of its arguments, so one signature does for all.
#define API_DONE(name)
#define API_SAME(name, target)
#define API_STUB(name)                             \
    CUDA_API cudaError_t name(void);               \
    CUDA_API cudaError_t name(void) {              \
        static unsigned char told;                 \
        return cuda_not_implemented(#name, &told); \
    }
#include "cuda/api.def"
#undef API_SAME
#undef API_STUB

// Another entry point of the same function, for programs compiled with per-thread default streams: it says so
// (cuda_per_thread_call) and jumps on, with all arguments where they are, so that no signature has to be repeated.
#if defined(__x86_64__)
#define SAY_AND_GO(target)                                                                      \
    "push %rdi\n\tpush %rsi\n\tpush %rdx\n\tpush %rcx\n\tpush %r8\n\tpush %r9\n\tpush %rax\n\t" \
    "call cuda_per_thread_call\n\t"                                                             \
    "pop %rax\n\tpop %r9\n\tpop %r8\n\tpop %rcx\n\tpop %rdx\n\tpop %rsi\n\tpop %rdi\n\tjmp " target "@PLT\n"
#elif defined(__aarch64__)
#define SAY_AND_GO(target)                                                                                     \
    "stp x29, x30, [sp, #-96]!\n\tstp x0, x1, [sp, #16]\n\tstp x2, x3, [sp, #32]\n\tstp x4, x5, [sp, #48]\n\t" \
    "stp x6, x7, [sp, #64]\n\tstr x8, [sp, #80]\n\tbl cuda_per_thread_call\n\tldp x0, x1, [sp, #16]\n\t"       \
    "ldp x2, x3, [sp, #32]\n\tldp x4, x5, [sp, #48]\n\tldp x6, x7, [sp, #64]\n\tldr x8, [sp, #80]\n\t"         \
    "ldp x29, x30, [sp], #96\n\tb " target "\n"
#else
#error "this machine's jump instruction is needed here"
#endif
#define API_STUB(name)
#define API_SAME(name, target)                                            \
    void name(void);                                                      \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name \
            ":\n\t" SAY_AND_GO(#target) ".size " #name ", .-" #name "\n");
#include "cuda/api.def"
#undef API_DONE
#undef API_SAME
#undef API_STUB

const ApiEntry api_table[] = {
#define API_DONE(name) {#name, (void (*)(void))name, true},
#define API_SAME(name, target) {#name, name, true},
#define API_STUB(name) {#name, (void (*)(void))name, false},
#include "cuda/api.def"
#undef API_DONE
#undef API_SAME
#undef API_STUB
};
const u32 api_table_count = WL_COUNT(api_table);

static int compare_name(const void *name, const void *entry) { return strcmp(name, ((const ApiEntry *)entry)->name); }

const ApiEntry *api_find(const char *name) {
    return bsearch(name, api_table, api_table_count, sizeof *api_table, compare_name);
}
