// SPDX-License-Identifier: Apache-2.0
// driver.def as data: every function that libcuda.so.1 exports, with the version of CUDA that brought it.
#ifndef WL_CUDA_DRIVER_TABLE_H
#define WL_CUDA_DRIVER_TABLE_H

#include "base/types.h"

typedef struct DriverEntry {
    const char *symbol;  // "cuMemAlloc_v2"
    const char *base;    // "cuMemAlloc": what cuGetProcAddress is asked for
    u32 version;         // 3020 = CUDA 3.2
    bool per_thread;     // _ptds, _ptsz
    bool implemented;
    void (*function)(void);
} DriverEntry;

extern const DriverEntry driver_table[];
extern const u32 driver_table_count;

// The newest function of that name up to a version of CUDA; the per-thread default stream variant when that is wanted
// and there is one. NULL: none. `*too_new` (may be NULL): there are only newer ones.
const DriverEntry *driver_find(const char *base, u32 version, bool per_thread, bool *too_new);

#endif
