// SPDX-License-Identifier: Apache-2.0
// The functions that driver.def adds to the implemented ones, as api_table.c does for the runtime, and finding
// functions by name and version.
#include "cuda/driver/driver_table.h"

#include <string.h>

#include "cuda/api.h"
#include "cuda/driver/driver_api.h"
#include "cuda/entry_point.h"

#define DRIVER_DONE(symbol, base, version, per_thread)
#define DRIVER_SAME(symbol, target, base, version, per_thread)
#define DRIVER_STUB(symbol, base, version, per_thread) \
    CUDA_API CUresult symbol(void);                    \
    CUDA_API CUresult symbol(void) {                   \
        static unsigned char told;                     \
        return driver_not_implemented(#symbol, &told); \
    }
#include "cuda/driver/driver.def"
#undef DRIVER_SAME
#undef DRIVER_STUB

#define ENTRY_true(target) SAY_AND_GO(target)
#define ENTRY_false(target) GO(target)
#define DRIVER_STUB(symbol, base, version, per_thread)
#define DRIVER_SAME(symbol, target, base, version, per_thread) ENTRY_POINT(symbol, ENTRY_##per_thread(#target))
#include "cuda/driver/driver.def"
#undef DRIVER_DONE
#undef DRIVER_SAME
#undef DRIVER_STUB

const DriverEntry driver_table[] = {
#define DRIVER_DONE(symbol, base, version, per_thread) \
    {#symbol, #base, version, per_thread, true, (void (*)(void))symbol},
#define DRIVER_SAME(symbol, target, base, version, per_thread) {#symbol, #base, version, per_thread, true, symbol},
#define DRIVER_STUB(symbol, base, version, per_thread) \
    {#symbol, #base, version, per_thread, false, (void (*)(void))symbol},
#include "cuda/driver/driver.def"
#undef DRIVER_DONE
#undef DRIVER_SAME
#undef DRIVER_STUB
};
const u32 driver_table_count = WL_COUNT(driver_table);

static const DriverEntry *newest(const char *base, u32 version, bool per_thread) {
    const DriverEntry *best = NULL;
    for (u32 i = 0; i < driver_table_count; i++) {
        const DriverEntry *e = &driver_table[i];
        if (e->version > version || e->per_thread != per_thread || strcmp(e->base, base) != 0) continue;
        if (!best || e->version > best->version) best = e;
    }
    return best;
}

const DriverEntry *driver_find(const char *base, u32 version, bool per_thread, bool *too_new) {
    const DriverEntry *found = per_thread ? newest(base, version, true) : NULL;
    if (!found) found = newest(base, version, false);
    if (too_new) *too_new = !found && newest(base, UINT32_MAX, false);
    return found;
}

// --- asking for functions ---

static cudaError_t proc_address(const char *name, void **to, int version, unsigned long long flags,
                                CUdriverProcAddressQueryResult *status) {
    bool too_new = false;
    if (!name || !to || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM || version < 0 ||
        version > DRIVER_VERSION)
        return cudaErrorInvalidValue;
    bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    const DriverEntry *found = driver_find(name, (u32)version, per_thread, &too_new);
    *to = found ? (void *)(uintptr_t)found->function : NULL;
    if (status)
        *status = found     ? CU_GET_PROC_ADDRESS_SUCCESS
                  : too_new ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                            : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return cudaSuccess;
}

CUDA_API CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, unsigned long long flags) {
    DRIVER_RETURN(c, DRIVER_NOTHING, proc_address(symbol, pfn, cudaVersion, flags, NULL));
}
CUDA_API CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, unsigned long long flags,
                                      CUdriverProcAddressQueryResult *symbolStatus) {
    DRIVER_RETURN(c, DRIVER_NOTHING, proc_address(symbol, pfn, cudaVersion, flags, symbolStatus));
}

// The runtime's way to the same functions; its own version is what counts when none is given.
static cudaError_t entry_point(const char *symbol, void **to, unsigned version, unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *status) {
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    cudaError_t error = proc_address(symbol, to, (int)version, flags, &found);
    if (error == cudaSuccess && status) *status = (enum cudaDriverEntryPointQueryResult)found;
    return error == cudaSuccess && !*to && !status ? cudaErrorSymbolNotFound : error;
}

CUDA_API cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *driverStatus) {
    CUDA_RETURN(c, NEED_DEVICE, entry_point(symbol, funcPtr, DRIVER_VERSION, flags, driverStatus));
}
CUDA_API cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                                      unsigned long long flags,
                                                      enum cudaDriverEntryPointQueryResult *driverStatus) {
    CUDA_RETURN(c, NEED_DEVICE, entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus));
}
