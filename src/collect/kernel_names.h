// SPDX-License-Identifier: Apache-2.0
// Names of the kernels that launches are noted of, each copied once: a note is then one cache line instead of a page.
// Found and added by any thread, without a lock; a name stays where it is.
#ifndef WL_COLLECT_KERNEL_NAMES_H
#define WL_COLLECT_KERNEL_NAMES_H

#include <stdatomic.h>

#include "base/types.h"

enum { KERNEL_NAMES = 1 << 14, KERNEL_NAME_BYTES = 4096 };
typedef struct KernelNames {
    u8 *memory;  // address space only until it is used: the names, 0 behind each
    _Atomic(u64) used;
    struct KernelNameSlot *slots;
} KernelNames;

bool kernel_names_make(KernelNames *names);
// The copy of the name that lies at `symbol` now, cut to KERNEL_NAME_BYTES; NULL when no more fit.
const char *kernel_names_find(KernelNames *names, const char *symbol);

#endif
