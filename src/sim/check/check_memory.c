// SPDX-License-Identifier: Apache-2.0
// Allocations while checking: who made and freed each, addresses kept out of use for a while after a free, what of them
// was written; why an access cannot be made.
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/exec/access.h"

#define QUARANTINE_BYTES (8ull << 30)  // of addresses: the memory itself goes back at once
#define QUARANTINE_BLOCKS 16384u
#define FAR_AWAY (1ull << 30)  // an address further than this from any allocation is not called near one

// --- life of allocations
// ----------------------------------------------------------------------------------------------
static SimOrigin caller(const Check *c) {
    SimOrigin origin = {0};
    if (c->grid && c->grid->exec.warp)
        origin.api = "malloc in a kernel";
    else if (c->sim->config.origin)
        c->sim->config.origin(c->sim->config.finding_context, &origin);
    return origin;
}

static u32 next_ordinal(Check *c, const char *api) {
    u64 key = hash_bytes(api, strlen(api));
    const u64 *count = map_get(&c->ordinals, key);
    u64 next = count ? *count + 1 : 1;
    return map_put(&c->ordinals, key, next) == STATUS_OK ? (u32)next : 0;
}

CheckAlloc *check_alloc_of(Check *c, u64 serial) {
    return serial && serial <= c->allocs.len ? &c->allocs.data[serial - 1] : NULL;
}

void check_allocated(Check *c, SimAllocation *a) {
    CheckAlloc made = {.address = a->address, .size = a->size, .kind = a->kind, .live = true};
    made.device = c->grid && c->grid->exec.warp;
    if (a->kind != MEMORY_MODULE && !a->mapped) made.made = caller(c);
    if (made.made.api) made.ordinal = next_ordinal(c, made.made.api);
    while (c->allocs.len + 1 < a->serial)
        if (vec_push(&c->allocs, (CheckAlloc){0}) != STATUS_OK) return;
    if (vec_push(&c->allocs, made) != STATUS_OK) return;
    if (c->checks & CHECK_INIT && a->kind == MEMORY_DEVICE && !a->mapped) a->written = mem_zero(1, a->size / 8 + 16);
}

static bool in_window(u8 kind) { return kind == MEMORY_DEVICE || kind == MEMORY_MODULE; }

static void end_quarantine(Check *c) {
    const SimAllocation *oldest = &c->quarantine.data[c->quarantine_first++];
    c->quarantined -= oldest->size;
    memory_reuse(c->sim, oldest);
    if (c->quarantine_first < QUARANTINE_BLOCKS) return;
    c->quarantine.len -= c->quarantine_first;
    memmove(c->quarantine.data, c->quarantine.data + c->quarantine_first,
            sizeof *c->quarantine.data * c->quarantine.len);
    c->quarantine_first = 0;
}

bool check_freed(Check *c, const SimAllocation *a) {
    CheckAlloc *known = check_alloc_of(c, a->serial);
    if (known) {
        known->live = false;
        known->freed = caller(c);
        if (known->device && known->freed.api && c->grid) known->freed.api = "free in a kernel";
        if (a->label) known->label = arena_copy_str(&c->arena, (Str){a->label, strlen(a->label)});
    }
    mem_free(a->written);
    if (!in_window(a->kind) || !(c->checks & CHECK_MEMORY)) return false;
    if (vec_push(&c->quarantine, *a) != STATUS_OK) return false;
    c->quarantined += a->size;
    while (c->quarantine.len - c->quarantine_first > QUARANTINE_BLOCKS || c->quarantined > QUARANTINE_BYTES)
        end_quarantine(c);
    return true;
}

// Memory mapped to reserved addresses (cuMemMap) comes and goes in pieces: only its bounds are checked.
void check_unmapped(Check *c, const SimAllocation *a) {
    CheckAlloc *known = check_alloc_of(c, a->serial);
    if (known) known->live = false;
}

// The allocation, freed by now, that held the address last.
static const CheckAlloc *freed_at(const Check *c, u64 address) {
    for (u32 i = c->allocs.len; i-- > 0;) {
        const CheckAlloc *a = &c->allocs.data[i];
        if (!a->live && address - a->address < a->size) return a;
    }
    return NULL;
}

// --- why an access cannot be made
// --------------------------------------------------------------------------------------
static bool is_host_address(const Check *c, u64 address) {
    const SimWindow *w = &c->sim->window;
    return address - (u64)(uintptr_t)w->base >= w->size && address >> WINDOW_SHIFT < WINDOW_SHARED >> WINDOW_SHIFT &&
           address >= 1u << 16;
}

static bool is_beside(const Check *c, u64 address) {
    const SimAllocation *near = sim_nearest(c->sim, address);
    return near && address - (near->address - FAR_AWAY) < near->size + 2 * FAR_AWAY;
}

static CheckRule reason_of(const Exec *x, const CheckAccess *a) {
    const Check *c = x->check;
    if (x->fault.kind == FAULT_NO_CTA) return RULE_NO_CTA;
    if (x->fault.kind == FAULT_PEER) return RULE_NO_PEER;
    if (x->fault.kind == FAULT_MISALIGNED) return RULE_MISALIGNED;
    if (a->space == SPACE_SHARED || a->space == SPACE_LOCAL) return RULE_OUT_OF_BOUNDS;
    if (a->space == SPACE_PARAM) return a->store ? RULE_READ_ONLY : RULE_OUT_OF_BOUNDS;
    const SimAllocation *hit = memory_lookup(c->sim, a->address);
    if (hit) return a->store && hit->read_only ? RULE_READ_ONLY : RULE_OUT_OF_BOUNDS;
    if (a->address < 4096) return RULE_NULL_POINTER;
    if (freed_at(c, a->address)) return RULE_USE_AFTER_FREE;
    if (a->address >> WINDOW_SHIFT >= WINDOW_SHARED >> WINDOW_SHIFT || a->address < 1u << 20) return RULE_WRONG_SPACE;
    return is_host_address(c, a->address) && !is_beside(c, a->address) ? RULE_HOST_POINTER : RULE_OUT_OF_BOUNDS;
}

static void note_nearest(Check *c, SimFinding *f, u64 address) {
    const SimAllocation *a = sim_nearest(c->sim, address);
    if (!a) return check_note(c, f, "Address 0x%llx; there is no allocation at all", (unsigned long long)address);
    u64 end = a->address + a->size;
    unsigned long long at = address, start = a->address, size = a->size;
    if (address < a->address)
        check_note(c, f, "Address 0x%llx is %llu bytes before the nearest allocation, at 0x%llx of %llu bytes", at,
                   start - at, start, size);
    else if (address >= end)
        check_note(c, f, "Address 0x%llx is %llu bytes past the end of the nearest allocation, at 0x%llx of %llu bytes",
                   at, at - end, start, size);
    else
        check_note(c, f, "Address 0x%llx is byte %llu of an allocation of %llu bytes at 0x%llx", at, at - start, size,
                   start);
    if (a->label) check_note(c, f, "It is `%s`", a->label);
    const CheckAlloc *made = check_alloc_of(c, a->serial);
    if (made) check_note_alloc(c, f, made);
}

static void note_freed(Check *c, SimFinding *f, u64 address) {
    const CheckAlloc *a = freed_at(c, address);
    if (!a) return;
    check_note(c, f, "Address 0x%llx was byte %llu of an allocation of %llu bytes at 0x%llx",
               (unsigned long long)address, (unsigned long long)(address - a->address), (unsigned long long)a->size,
               (unsigned long long)a->address);
    check_note_alloc(c, f, a);
    check_note_origin(c, f, "Freed", &a->freed);
}

static void note_address(Exec *x, SimFinding *f, CheckRule rule, const CheckAccess *a) {
    Check *c = x->check;
    unsigned long long at = a->address;
    if (a->space == SPACE_SHARED)
        check_note(c, f, "Offset 0x%llx; the block has %u bytes of shared memory", at, x->cta->shared_size);
    else if (a->space == SPACE_LOCAL)
        check_note(c, f, "Offset 0x%llx; the thread has %llu bytes of local memory", at,
                   (unsigned long long)x->local_stride);
    else if (a->space == SPACE_PARAM)
        check_note(c, f, "Offset 0x%llx; the kernel has %u bytes of parameters", at, x->param_size);
    else if (rule == RULE_USE_AFTER_FREE)
        note_freed(c, f, a->address);
    else if (rule == RULE_OUT_OF_BOUNDS || rule == RULE_READ_ONLY || rule == RULE_MISALIGNED)
        note_nearest(c, f, a->address);
    else if (rule == RULE_HOST_POINTER)
        check_note(c, f, "Address 0x%llx is neither device, managed nor registered memory", at);
    else
        check_note(c, f, "Address 0x%llx", at);
}

void check_bad_access(Exec *x, u32 pc, const CheckAccess *access) {
    CheckRule rule = reason_of(x, access);
    SimFinding *f = check_find_access(x, rule, pc, access);
    if (!f) return;
    note_address(x, f, rule, access);
}

// Remembers at the instruction the allocation that holds `address`.
bool check_refill(Check *c, CheckPc *p, u64 address) {
    const SimAllocation *a = memory_lookup(c->sim, address);
    p->size = 0;
    if (!a) return false;
    *p = (CheckPc){.plain = p->plain,
                   .class = p->class,
                   .rule = p->rule,
                   .strong = p->strong,
                   .release = p->release,
                   .acquire = p->acquire,
                   .used = p->used,
                   .other = p->other,
                   .finding = p->finding,
                   .start = a->address,
                   .size = a->size,
                   .generation = c->sim->generation,
                   .written = a->written,
                   .read_only = a->read_only};
    return true;
}

// --- what the host does wrong
// ------------------------------------------------------------------------------------------
void sim_check_bad_range(Sim *sim, const char *api, DevicePtr address, u64 size, bool store) {
    Check *c = sim->check;
    bool is_new;
    if (!c) return;
    const CheckAlloc *gone = memory_lookup(sim, address) ? NULL : freed_at(c, address);
    bool host = !gone && !memory_lookup(sim, address) && is_host_address(c, address) && !is_beside(c, address);
    CheckRule rule = gone ? RULE_USE_AFTER_FREE : host ? RULE_HOST_POINTER : RULE_COPY_RANGE;
    SimFinding *f = check_find_api(c, rule, api, address ^ size << 40, &is_new, api);
    if (f && is_new) {
        f->address = address;
        check_note(c, f, "%s %llu bytes at 0x%llx", store ? "Writes" : "Reads", (unsigned long long)size,
                   (unsigned long long)address);
        if (gone)
            note_freed(c, f, address);
        else if (!host)
            note_nearest(c, f, address);
        SimOrigin origin = caller(c);
        check_note_origin(c, f, "Called", &origin);
    }
    check_launch_end(c);
}

void sim_check_bad_free(Sim *sim, const char *api, DevicePtr address) {
    Check *c = sim->check;
    bool is_new;
    if (!c) return;
    const SimAllocation *a = memory_lookup(sim, address);
    const CheckAlloc *gone = a ? NULL : freed_at(c, address);
    bool twice = gone && gone->address == address;
    SimFinding *f = check_find_api(c, twice ? RULE_DOUBLE_FREE : RULE_BAD_FREE, api, address, &is_new, api);
    if (f && is_new) {
        f->address = address;
        if (gone)
            note_freed(c, f, address);
        else
            note_nearest(c, f, address);
        SimOrigin origin = caller(c);
        check_note_origin(c, f, "Called", &origin);
    }
    if (!c->grid) check_launch_end(c);
}

static u32 pc_of(const Exec *x) { return (u32)((const PcState *)(const void *)x->count - x->grid->states); }

bool check_bad_device_free(Exec *x, u32 lane, u64 address) {
    Check *c = x->check;
    if (!(c->checks & CHECK_MEMORY)) return false;
    const CheckAlloc *gone = memory_lookup(c->sim, address) ? NULL : freed_at(c, address);
    bool twice = gone && gone->address == address, is_new;
    SimFinding *f = check_find(c, twice ? RULE_DOUBLE_FREE : RULE_BAD_FREE, pc_of(x), 0, &is_new, "free in a kernel");
    if (!f || !is_new) return true;
    check_place_lane(&f->place, x->warp, lane);
    f->address = address;
    if (gone)
        note_freed(c, f, address);
    else
        note_nearest(c, f, address);
    return true;
}

// --- leaks
// -----------------------------------------------------------------------------------------------------------------
void check_leaks(Check *c, bool errors) {
    static const char *const kinds[] = {
        [MEMORY_DEVICE] = "device", [MEMORY_MANAGED] = "managed", [MEMORY_PINNED] = "pinned host"};
    c->grid = NULL;
    for (u32 i = 0; i < c->allocs.len; i++) {
        const CheckAlloc *a = &c->allocs.data[i];
        bool counts = a->live && a->made.api && a->kind <= MEMORY_PINNED;
        if (!counts) continue;
        char what[96];
        bool is_new;
        snprintf(what, sizeof what, "%llu bytes of %s memory were never freed", (unsigned long long)a->size,
                 kinds[a->kind]);
        SimFinding *f = check_find_api(c, RULE_LEAK, a->made.api, i, &is_new, what);
        if (!f) return;
        f->address = a->address;
        f->severity = errors ? FINDING_ERROR : FINDING_WARNING;
        c->leaked_bytes += a->size;
        c->leaks++;
        check_note_alloc(c, f, a);
    }
}
