// SPDX-License-Identifier: Apache-2.0
// The functions that api.def adds to the implemented ones: stubs, and other names of the same function.
#include "cuda/api_table.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/api.h"
#include "cuda/entry_point.h"

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

// Entry points of programs compiled with per-thread default streams.
#define API_STUB(name)
#define API_SAME(name, target) ENTRY_POINT(name, SAY_AND_GO(#target))
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
