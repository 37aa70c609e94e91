// SPDX-License-Identifier: Apache-2.0
// Lines of 128 bytes of a cache by their numbers.
#ifndef WL_SIM_TIME_CACHE_TESTING_H
#define WL_SIM_TIME_CACHE_TESTING_H

#include "base/testing.h"
#include "sim/time/cache.h"

static inline u32 hits(Cache *cache, u64 number) { return cache_look(cache, number * 128, 0xF).hit; }

static inline CacheVictim bring(Cache *cache, u64 number, u32 sectors, u64 owner) {
    CacheVictim victim;
    assert_true(cache_reserve(cache, number * 128, sectors, owner, &victim));
    cache_fill(cache, number * 128, sectors);
    return victim;
}

#endif
