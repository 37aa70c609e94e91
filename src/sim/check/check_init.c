// SPDX-License-Identifier: Apache-2.0
// Memory that was never written: a bit for each byte of device allocations, shared memory and local memory.
#include <string.h>

#include "sim/check/check.h"

// Bits are looked at eight at a time; accesses of up to 16 bytes touch three bytes of them at most.
static u8 head_mask(u64 first) { return (u8)(0xff << (first & 7)); }
static u8 tail_mask(u64 end) { return (u8)(0xff >> (7 - ((end - 1) & 7))); }

bool check_bits_all(const u8 *bits, u64 first, u64 count) {
    u64 end = first + count, at = first / 8, last = (end - 1) / 8;
    if (at == last) {
        u8 mask = head_mask(first) & tail_mask(end);
        return (bits[at] & mask) == mask;
    }
    if ((bits[at] | (u8)~head_mask(first)) != 0xff || (bits[last] | (u8)~tail_mask(end)) != 0xff) return false;
    for (at++; at + 8 <= last; at += 8) {
        u64 word;
        memcpy(&word, bits + at, 8);
        if (~word) return false;
    }
    for (; at < last; at++)
        if (bits[at] != 0xff) return false;
    return true;
}

bool check_bits_none(const u8 *bits, u64 first, u64 count) {
    u64 end = first + count, at = first / 8, last = (end - 1) / 8;
    if (at == last) return !(bits[at] & head_mask(first) & tail_mask(end));
    if (bits[at] & head_mask(first) || bits[last] & tail_mask(end)) return false;
    for (at++; at < last; at++)
        if (bits[at]) return false;
    return true;
}

static void set_masked(u8 *byte, u8 mask, bool value) { *byte = value ? *byte | mask : *byte & (u8)~mask; }

void check_bits_set(u8 *bits, u64 first, u64 count, bool value) {
    if (!count) return;
    u64 end = first + count, at = first / 8, last = (end - 1) / 8;
    if (at == last) return set_masked(&bits[at], head_mask(first) & tail_mask(end), value);
    set_masked(&bits[at], head_mask(first), value);
    memset(bits + at + 1, value ? 0xff : 0, last - at - 1);
    set_masked(&bits[last], tail_mask(end), value);
}

static const char *const what_to_do[] = {
    [RULE_UNINIT_GLOBAL] = "no kernel, copy or fill has written these bytes since they were allocated",
    [RULE_UNINIT_SHARED] = "no thread of the block has written these bytes of shared memory",
    [RULE_UNINIT_LOCAL] = "the thread has not written these bytes of its local memory",
};

void check_unwritten(Exec *x, u32 pc, const CheckAccess *access) {
    Check *c = x->check;
    CheckRule rule = access->space == SPACE_SHARED  ? RULE_UNINIT_SHARED
                     : access->space == SPACE_LOCAL ? RULE_UNINIT_LOCAL
                                                    : RULE_UNINIT_GLOBAL;
    SimFinding *f = check_find_access(x, rule, pc, access);
    if (!f) return;
    check_note(c, f, "%s", what_to_do[rule]);
    if (rule == RULE_UNINIT_SHARED)
        check_note(c, f, "Offset 0x%llx of the block's %u bytes", (unsigned long long)access->address,
                   x->cta->shared_size);
    const SimAllocation *a = rule == RULE_UNINIT_GLOBAL ? memory_lookup(c->sim, access->address) : NULL;
    if (!a) return;
    check_note(c, f, "Address 0x%llx is byte %llu of an allocation of %llu bytes", (unsigned long long)access->address,
               (unsigned long long)(access->address - a->address), (unsigned long long)a->size);
    const CheckAlloc *made = check_alloc_of(c, a->serial);
    if (made) check_note_alloc(c, f, made);
}
