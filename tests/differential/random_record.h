// SPDX-License-Identifier: Apache-2.0
// What a GPU gave for random programs: random.hashes, little-endian 32-bit numbers for the seeds from RANDOM_FIRST on.
#ifndef WL_RANDOM_RECORD_H
#define WL_RANDOM_RECORD_H

#include "base/types.h"

enum { RANDOM_FIRST = 1000000 };

// Of a 64-bit hash; never 0, which says that nothing was recorded.
static inline u32 random_short_hash(u64 hash) {
    u32 h = (u32)(hash ^ hash >> 32);
    return h ? h : 1;
}

// The hashes, of malloc, and how many; NULL: no such file. `path`: NULL for the one in the source root.
u32 *random_recorded(const char *path, u32 *count);

#endif
