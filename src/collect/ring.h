// SPDX-License-Identifier: Apache-2.0
// A bounded queue of entries of one size: any thread puts without waiting, one thread takes (Vyukov's queue: a slot's
// turn says who may have it). What does not fit is counted.
#ifndef WL_COLLECT_RING_H
#define WL_COLLECT_RING_H

#include <stdatomic.h>

#include "base/types.h"

typedef struct Ring {
    u8 *memory;  // address space only until it is used
    u32 slots, bytes;
    _Atomic(u64) head, missed;
    u64 tail;  // the taking thread's
} Ring;

bool ring_make(Ring *ring, u32 slots, u32 bytes);
// Where to put an entry, which ring_put_end then hands over; NULL: there is no room.
void *ring_put(Ring *ring, u64 *ticket);
void ring_put_end(Ring *ring, u64 ticket);
// The oldest entry, if it was put before the first `until` were; ring_take_end frees its slot. NULL: there is none.
const void *ring_take(const Ring *ring, u64 until);
void ring_take_end(Ring *ring);

#endif
