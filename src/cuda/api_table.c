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

// Another exported name: a jump, so that no signature has to be repeated.
#if defined(__x86_64__)
#define JUMP "jmp "
#define VIA "@PLT"
#elif defined(__aarch64__)
#define JUMP "b "
#define VIA ""
#else
#error "this machine's jump instruction is needed here"
#endif
#define API_STUB(name)
#define API_SAME(name, target)                                                                                      \
    void name(void);                                                                                                \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n\t" JUMP #target VIA "\n.size " #name \
            ", .-" #name "\n");
#include "cuda/api.def"
#undef API_DONE
#undef API_SAME
#undef API_STUB

const ApiEntry api_table[] = {
#define API_DONE(name) {#name, (void (*)(void))name, true},
#define API_SAME(name, target) {#name, (void (*)(void))target, true},
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
