// SPDX-License-Identifier: Apache-2.0
// Whose arrays a kernel loads: the pointers that it and the ones before it were launched with, and the allocations
// that these lie in, say so.
#ifndef WL_ANALYZE_ADVICE_SHARED_ARRAYS_H
#define WL_ANALYZE_ADVICE_SHARED_ARRAYS_H

#include "analyze/kernel_view.h"

// The end of the allocation that the access goes to, which says whose array it is; 0: not known.
u64 shared_arrays_of(const KernelView *v, const AffineAccess *a);
// Whether the kernel stores to that array; or loads from it, unless `only_stored`.
bool shared_arrays_has(const KernelView *v, u64 array, bool only_stored);
// Whether that is known of all arrays that the kernel accesses.
bool shared_arrays_known(const KernelView *v);

// Of the bytes that each thread of `view` loads from global memory the part, 0 to 1, that comes from arrays which some
// of the `count` kernels before it store to; from ones that these load as well, unless `only_stored`. -1: not known,
// because of an address that does not start from an argument, or launches with different ones.
f64 shared_arrays_part(const KernelView *const *before, u32 count, const KernelView *view, bool only_stored);

// What each CTA of a kernel makes for the CTA of the same number of the next one: that loads what it has stored, at a
// place that the CTA's number alone decides, and goes over arrays that the first one went over.
typedef struct HandedOn {
    f64 again;  // bytes of the arrays that both load
    f64 all;    // ... of all arrays that the second loads or stores
} HandedOn;

// False: it is not so, or not known. Both are launched with the same grid and blocks.
bool shared_arrays_by_cta(const KernelView *first, const KernelView *second, HandedOn *handed);

#endif
