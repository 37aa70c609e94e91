// SPDX-License-Identifier: Apache-2.0
// createpolicy (PTX ISA 9.7.9.18). A policy is opaque to programs and without effect on values here; its bits are those
// that an H200 makes, found by measurement (2026-11-21, driver 580, CUDA 13.0):
//   60      always 1
//   59      made from a range
//   56..58  priorities (priority_bits)
//   52..55  sixteenths of the fraction, less one; of a range: log2 of its blocks' size / 4 KiB
//   44..50  of a range: its first block; 37..43: its blocks with the primary priority, at most 127
#include "sim/exec/access.h"
#include "sim/exec/float.h"

#define POLICY (1ull << 60)
#define POLICY_RANGE (1ull << 59)
enum { PRIORITY_SHIFT = 56, SIZE_SHIFT = 52, FIRST_SHIFT = 44, COUNT_SHIFT = 37, BLOCK_BITS = 12, BLOCKS = 128 };

// Primary priority in the upper two bits (unchanged, first, last, normal); the lowest says that the other one is
// evict_first.
static u16 priority_bits(const ExecShape *shape) {
    static const u8 primary[] = {[EVICT2_NORMAL - EVICT2_NORMAL] = 6,
                                 [EVICT2_FIRST - EVICT2_NORMAL] = 2,
                                 [EVICT2_LAST - EVICT2_NORMAL] = 4,
                                 [EVICT2_UNCHANGED - EVICT2_NORMAL] = 0};
    bool other_first = shape_mod(shape, MOD_EVICT_OTHER) == EVICT_OTHER_FIRST;
    return (u16)(primary[shape_mod(shape, MOD_EVICT2) - EVICT2_NORMAL] | other_first);
}

static u64 fraction_bits(f32 fraction) {
    f32 sixteenths = fraction * 16.0f;
    if (!(sixteenths > 0.0f)) return 0;
    u32 whole = sixteenths < 65536.0f ? (u32)sixteenths : 65536;
    whole += (f32)whole < sixteenths;
    return (u64)((whole - 1) & 15) << SIZE_SHIFT;
}

static void policy_fractional(Exec *x, const SimInsn *in, u32 mask) {
    u64 *d = exec_operand(x, in->dst), made = POLICY | (u64)in->mods << PRIORITY_SHIFT;
    const f32 *fraction = in->src[0] == SIM_NO_OPERAND ? NULL : exec_operand(x, in->src[0]);
    FOR_LANES(mask, d[l] = made | fraction_bits(fraction ? fraction[l] : 1.0f));
}
EXEC_SELECT(createpolicy_fractional) {
    in->mods = priority_bits(shape);
    return policy_fractional;
}

// Blocks double until the whole range has at most 128 of them.
static u64 range_bits(u64 address, u32 primary, u32 total) {
    u32 size = 0;
    while (((u64)total + (1ull << (BLOCK_BITS + size)) - 1) >> (BLOCK_BITS + size) > BLOCKS) size++;
    u32 shift = BLOCK_BITS + size;
    u64 count = ((u64)primary + (1ull << shift) - 1) >> shift;
    if (count > BLOCKS - 1) count = BLOCKS - 1;
    return (u64)size << SIZE_SHIFT | (address >> shift & (BLOCKS - 1)) << FIRST_SHIFT | count << COUNT_SHIFT;
}
static void policy_range(Exec *x, const SimInsn *in, u32 mask) {
    u64 *d = exec_operand(x, in->dst), made = POLICY | POLICY_RANGE | (u64)in->mods << PRIORITY_SHIFT;
    const u32 *primary = exec_operand(x, in->src[1]), *total = exec_operand(x, in->src[2]);
    FOR_LANES(mask, d[l] = made | range_bits(access_address(x, in->src[0], in->offset, l), primary[l], total[l]));
}
EXEC_SELECT(createpolicy_range) {
    in->mods = priority_bits(shape);
    return policy_range;
}

static void policy_copy(Exec *x, const SimInsn *in, u32 mask) {
    u64 *d = exec_operand(x, in->dst);
    const u64 *a = exec_operand(x, in->src[0]);
    FOR_LANES(mask, d[l] = a[l]);
}
EXEC_SELECT(createpolicy_cvt) { return (void)shape, (void)in, policy_copy; }
