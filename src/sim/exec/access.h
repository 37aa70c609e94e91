// SPDX-License-Identifier: Apache-2.0
// Memory access of a whole warp: addresses per lane, checks, translation to host memory, and the counting of sectors
// and bank conflicts. Included by the exec/ files; everything here is compiled for the instruction set of the includer.
#ifndef WL_SIM_EXEC_ACCESS_H
#define WL_SIM_EXEC_ACCESS_H

#include <string.h>

#include "sim/warp.h"

// The lanes' bytes. When `linear`, lane l's access is at first + l * step (step 0: all lanes the same bytes, and only
// one pointer was computed); otherwise at lane[l].
typedef struct Access {
    u8 *first;
    u64 step;
    bool linear;
    u8 *lane[LANES];
} Access;

// Slow path, one lane: host pointer of [address, address + bytes) or NULL with x->fault set. Any space.
u8 *access_resolve(Exec *x, u32 lane, u64 address, u32 bytes, u8 space, bool store, u8 *found_space);

// ... of any number of bytes, at an address that must be a multiple of `align`, a power of two.
u8 *access_aligned(Exec *x, u32 lane, u64 address, u32 bytes, u32 align, u8 space, bool store, u8 *found_space);
// ... without the checker, which calls it.
u8 *access_plain(Exec *x, u32 lane, u64 address, u32 bytes, u32 align, u8 space, bool store, u8 *found_space);

// One lane's base + offset. Addresses in 32-bit registers wrap at 32 bits.
static inline u64 access_address(const Exec *x, SimOperand base, i64 offset, u32 lane) {
    if (base == SIM_NO_OPERAND) return (u64)offset;
    u64 address = exec_get_lane(x, base, lane) + (u64)offset;
    return base >> 30 & 1 ? address : (u32)address;
}

// x->address[l] = base + offset, for all 32 lanes (inactive ones hold whatever their register says).
static inline void access_addresses(Exec *x, const SimInsn *in, u32 source) {
    SimOperand operand = in->src[source];
    u64 offset = (u64)in->offset;
    u64 *address = x->address;
    const void *lanes = exec_operand(x, operand);
    if (operand >> 30 & 1) {
        const u64 *base = lanes;
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) address[l] = base[l] + offset;
    } else {
        const u32 *base = lanes;
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) address[l] = (u32)(base[l] + (u32)offset);
    }
}

// What the addresses of the active lanes look like.
typedef struct Pattern {
    const u64 *address;
    u32 count;
    u64 low, high;    // lowest and highest address
    u64 bits;         // set in any of the addresses
    u32 sectors;      // distinct 32-byte sectors, when `monotone`
    bool monotone;    // never falling from lane to lane
    bool contiguous;  // each lane `bytes` after the one before
} Pattern;

// `count` is at least 1.
static inline Pattern pattern_of(const u64 *address, u32 count, u32 bytes) {
    u64 rising = 1, contiguous = 1, changes = 1, bits = address[0];
    for (u32 i = 1; i < count; i++) {
        u64 step = address[i] - address[i - 1];
        rising &= (u64)(address[i] >= address[i - 1]);
        contiguous &= (u64)(step == bytes);
        changes += (u64)(address[i] >> 5 != address[i - 1] >> 5);
        bits |= address[i];
    }
    Pattern p = {.address = address,
                 .count = count,
                 .low = address[0],
                 .high = address[count - 1],
                 .bits = bits,
                 .sectors = (u32)changes,
                 .monotone = rising,
                 .contiguous = contiguous};
    if (!rising) {
        for (u32 i = 0; i < count; i++) {
            if (address[i] < p.low) p.low = address[i];
            if (address[i] > p.high) p.high = address[i];
        }
    }
    return p;
}

// Addresses of the active lanes, packed. Returns their number.
static inline u32 pack_active(const u64 *address, u32 mask, u64 *packed) {
    u32 count = 0;
    packed[0] = 0;  // defined for an empty mask too
    for (u32 left = mask; left; left &= left - 1) packed[count++] = address[__builtin_ctz(left)];
    return count;
}

// ... of those in `mask`; `packed` must live as long as the pattern.
static inline Pattern pattern_of_active(const u64 *address, u32 mask, u32 bytes, u64 packed[LANES]) {
    if (mask == FULL_MASK) return pattern_of(address, LANES, bytes);  // a known count: vector code without a remainder
    return pattern_of(packed, pack_active(address, mask, packed), bytes);
}

u32 count_distinct_sectors(const u64 *address, u32 count);
// Counts (and traces) one access of the current instruction: to device memory, by the addresses of the `count` active
// lanes; to shared memory, by the addresses of the lanes in `mask`. `load`: a plain one.
void access_count_global(Exec *x, const u64 *packed, u32 count, u32 bytes);
void access_count_shared(Exec *x, const u64 *address, u32 mask, u32 bytes, bool load);
// Whether shared memory of another CTA is accessed: that of the first lane.
static inline bool access_is_distributed(const Exec *x, const u64 *address, u32 mask) {
    u32 rank = (u32)address[__builtin_ctz(mask)] >> SHARED_RANK_SHIFT;
    return rank && rank != x->cta->rank + 1;
}
void access_count_shared_atomic(Exec *x, const u64 *address, u32 mask, u32 bytes);
// Wavefronts of a shared-memory access of `bytes` per lane (banks of 4 bytes, 32 of them), and the fewest possible for
// its width. `load`: lanes that share places may be served together.
u32 count_wavefronts(const u64 *address, u32 mask, u32 bytes, bool load, u32 *fewest);
// ... of banks as a model has them (shared_banks, shared_bank_bytes, shared_lanes): a wavefront is as long as those of
// 32 lanes without conflicts take for 4 bytes each, with banks for 16 lanes two turns.
u32 count_wavefronts_of(const GpuModel *gpu, const u64 *address, u32 mask, u32 bytes, bool load, u32 *fewest);

static inline PcState *pc_state(Exec *x) { return (PcState *)(void *)x->count; }

#endif
