// SPDX-License-Identifier: Apache-2.0
// Life of the checker: with the machine, with each launch, with each CTA; and what the host tells it.
#include "sim/check/check.h"

#include <string.h>

Status check_create(Sim *sim) {
    Check *c = mem_zero(1, sizeof *c);
    if (!c) return STATUS_NO_MEMORY;
    c->sim = sim;
    c->checks = sim->config.checks;
    sim->check = c;
    return STATUS_OK;
}

static void cta_free(CheckCta *cc) {
    race_cta_free(cc);
    for (u32 w = 0; w < cc->warp_cap; w++) {
        vec_free(&cc->warps[w].copies);
        mem_free(cc->warps[w].local_written);
    }
    mem_free(cc->warps);
    mem_free(cc->shared_written);
}

void check_destroy(Check *c) {
    if (!c) return;
    for (u32 i = 0; i < c->cta_cap; i++) cta_free(&c->ctas[i]);
    mem_free(c->ctas);
    arena_free(&c->arena);
    vec_free(&c->findings);
    vec_free(&c->allocs);
    vec_free(&c->quarantine);
    map_free(&c->index);
    map_free(&c->ordinals);
    mem_free(c);
}

void check_launch_begin(Check *c, Grid *grid, u32 launch, u64 local_bytes) {
    c->grid = grid;
    c->launch = launch;
    c->local_limit = local_bytes;
    c->quiet = false;
}

static Status reserve_cta(Check *c, u32 slot) {
    if (slot < c->cta_cap) return STATUS_OK;
    CheckCta *bigger = mem_resize(c->ctas, sizeof *bigger * (slot + 1));
    if (!bigger) return STATUS_NO_MEMORY;
    memset(bigger + c->cta_cap, 0, sizeof *bigger * (slot + 1 - c->cta_cap));
    c->ctas = bigger;
    c->cta_cap = slot + 1;
    return STATUS_OK;
}

static Status reserve_warps(CheckCta *cc, u32 warps) {
    if (warps <= cc->warp_cap) return STATUS_OK;
    CheckWarp *bigger = mem_resize(cc->warps, sizeof *bigger * warps);
    if (!bigger) return STATUS_NO_MEMORY;
    memset(bigger + cc->warp_cap, 0, sizeof *bigger * (warps - cc->warp_cap));
    cc->warps = bigger;
    cc->warp_cap = warps;
    return STATUS_OK;
}

static Status start_warp(const Check *c, CheckWarp *cw, const Warp *w, u32 base) {
    cw->tick = cw->synced = base;
    cw->interval = 0;
    cw->partly = false;
    cw->copies.len = 0;
    memset(cw->groups, 0, sizeof cw->groups);
    if (!(c->checks & CHECK_INIT)) return STATUS_OK;
    u64 bytes = (w->local_stride * LANES + 7) / 8 + 16;
    if (bytes > cw->local_bits) {
        mem_free(cw->local_written);
        cw->local_written = mem_alloc(bytes);
        cw->local_bits = cw->local_written ? bytes : 0;
        if (!cw->local_written) return STATUS_NO_MEMORY;
    }
    memset(cw->local_written, 0, bytes);
    return STATUS_OK;
}

Status check_cta_start(Check *c, const Cta *cta) {
    u32 slot = (u32)(cta - c->grid->ctas);
    TRY(reserve_cta(c, slot));
    CheckCta *cc = &c->ctas[slot];
    TRY(reserve_warps(cc, cta->warp_count));
    cc->warp_count = cta->warp_count;
    memset(cc->barriers, 0, sizeof cc->barriers);
    u32 bits = cta->shared_size / 8 + 16;
    if (bits > cc->shared_cap) {
        mem_free(cc->shared_written);
        cc->shared_written = mem_alloc(bits);
        cc->shared_cap = cc->shared_written ? bits : 0;
        if (!cc->shared_written) return STATUS_NO_MEMORY;
    }
    memset(cc->shared_written, 0, bits);
    TRY(race_cta_start(c, cta, cc));
    for (u32 w = 0; w < cta->warp_count; w++) TRY(start_warp(c, &cc->warps[w], &cta->warps[w], cc->base));
    return STATUS_OK;
}

// --- told by the host
// -------------------------------------------------------------------------------------------------
bool sim_checks(const Sim *sim, SimCheck check) { return sim->check && sim->check->checks & check; }

void sim_check_written(Sim *sim, DevicePtr address, u64 size) {
    SimAllocation *a = sim->check ? memory_lookup(sim, address) : NULL;
    if (!a || !a->written || size > a->size - (address - a->address)) return;
    if (size == a->size) {  // from now on there is nothing to look for
        mem_free(a->written);
        a->written = NULL;
        sim->generation++;
        return;
    }
    check_bits_set(a->written, address - a->address, size, true);
}

// All of it was written; from now on some of it will not be.
static bool follow_again(Sim *sim, SimAllocation *a) {
    if (a->kind != MEMORY_DEVICE) return false;
    a->written = mem_alloc(a->size / 8 + 16);
    if (a->written) memset(a->written, 0xff, a->size / 8 + 16);
    sim->generation++;
    return a->written != NULL;
}

void sim_check_copied(Sim *sim, DevicePtr to, DevicePtr from, u64 size) {
    SimAllocation *a = sim->check ? memory_lookup(sim, from) : NULL, *b = a ? memory_lookup(sim, to) : NULL;
    if (!b || size == 0) return;
    if (!a->written || check_bits_all(a->written, from - a->address, size)) return sim_check_written(sim, to, size);
    if (!b->written && !follow_again(sim, b)) return;
    for (u64 i = 0; i < size; i++) {
        u64 source = from - a->address + i;
        check_bits_set(b->written, to - b->address + i, 1, a->written[source / 8] >> (source % 8) & 1);
    }
}

static const struct {
    const char *name;
    u32 check;
} check_names[] = {{"memory", CHECK_MEMORY}, {"race", CHECK_RACE}, {"init", CHECK_INIT},
                   {"sync", CHECK_SYNC},     {"all", CHECK_ALL},   {"strict", CHECK_STRICT}};

u32 sim_checks_of(const char *list) {
    u32 checks = 0;
    while (*list) {
        size_t length = strcspn(list, ",");
        u32 known = 0;
        for (u32 i = 0; i < WL_COUNT(check_names); i++)
            if (strlen(check_names[i].name) == length && !strncmp(check_names[i].name, list, length))
                known = check_names[i].check;
        if (!known) return 0;
        checks |= known;
        list += length;
        if (*list == ',' && !*++list) return 0;
    }
    return checks;
}
