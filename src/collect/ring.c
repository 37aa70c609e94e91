// SPDX-License-Identifier: Apache-2.0
#include "collect/ring.h"

#include <sys/mman.h>

typedef _Atomic(u64) Turn;  // even: empty, odd: full; twice the times round, and 1

static size_t stride(const Ring *r) { return (sizeof(Turn) + r->bytes + 7) & ~(size_t)7; }
static Turn *turn_of(const Ring *r, u64 at) { return (Turn *)(r->memory + stride(r) * (at % r->slots)); }

bool ring_make(Ring *r, u32 slots, u32 bytes) {
    r->slots = slots;
    r->bytes = bytes;
    void *memory =
        mmap(NULL, stride(r) * slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    r->memory = memory == MAP_FAILED ? NULL : memory;
    return r->memory != NULL;
}

void *ring_put(Ring *r, u64 *ticket) {
    u64 at = atomic_load(&r->head);
    for (;;) {
        Turn *turn = turn_of(r, at);
        u64 is = atomic_load(turn), mine = at / r->slots * 2;
        if (is < mine) {  // not emptied since the last time round
            atomic_fetch_add(&r->missed, 1);
            return NULL;
        }
        if (is > mine) {
            at = atomic_load(&r->head);
        } else if (atomic_compare_exchange_weak(&r->head, &at, at + 1)) {
            *ticket = at;
            return turn + 1;
        }
    }
}

void ring_put_end(Ring *r, u64 ticket) { atomic_store(turn_of(r, ticket), ticket / r->slots * 2 + 1); }

const void *ring_take(const Ring *r, u64 until) {
    Turn *turn = turn_of(r, r->tail);
    return r->tail < until && atomic_load(turn) == r->tail / r->slots * 2 + 1 ? turn + 1 : NULL;
}

void ring_take_end(Ring *r) {
    atomic_store(turn_of(r, r->tail), r->tail / r->slots * 2 + 2);
    r->tail++;
}
