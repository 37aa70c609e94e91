// SPDX-License-Identifier: Apache-2.0
// Times of launches on a GPU that were recorded without one (CUPTI's room for times on the GPU was full, see
// docs/collect.md): estimated from those of the same function and shape that have one.
#ifndef WL_STORE_LAUNCH_TIMES_H
#define WL_STORE_LAUNCH_TIMES_H

#include "store/store.h"

// Fills `time` of launches without one, where others of the same function have one. Of some alike (same grid, block and
// dynamic shared memory): their mean, with its error; otherwise the mean of the function's, which may be off by as
// much as these differ from each other.
WL_MUST_USE Status launch_times_estimate(ProfileLaunch *launches, u32 count);

#endif
