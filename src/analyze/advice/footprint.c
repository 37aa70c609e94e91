// SPDX-License-Identifier: Apache-2.0
// What a launch has to move from or to DRAM at least, where nobody counted it: the different bytes that its accesses
// name. An address is a polynomial over thread, CTA and loop counters (flow/affine.h); it takes as many values as the
// product of the ranges of those that occur in it. What is not known adds nothing, so the result is a lower bound.
#include <math.h>

#include "analyze/advice/rule.h"

#define REACHED 0.93  // of DRAM's peak, by reading in order: bench/hwref/h200-micro.tsv, dram/read/256_blocks

enum { ACCESS_GROUP_LIMIT = 4096 };  // accesses of a function that are compared with each other

static f64 range_of_sreg(const ProfileLaunch *l, const AffineFactor *f) {
    if (f->component > 2) return 1;
    if (f->id == SREG_TID) return l->block[f->component];
    if (f->id == SREG_CTAID) return l->grid[f->component];
    return 1;
}

// How many different addresses the access names; 0: not known.
static f64 addresses(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    const Affine *affine = part->view->flow.affine;
    const ProfileLaunch *l = c->view->launches.typical;
    if (!a->affine || !l) return 0;
    const AffineForm *form = &affine->forms[a->affine->form];
    u32 seen[AFFINE_TERMS * AFFINE_DEGREE], seen_count = 0;
    f64 count = 1;
    for (u32 t = 0; t < form->term_count; t++) {
        for (u32 i = 0; i < AFFINE_DEGREE; i++) {
            u32 id = affine->terms[form->terms + t].factors[i], k = 0;
            if (id == WL_NONE) break;
            while (k < seen_count && seen[k] != id) k++;
            if (k < seen_count || seen_count == WL_COUNT(seen)) continue;
            seen[seen_count++] = id;
            const AffineFactor *f = &affine->factors[id];
            bool same = f->kind != AFFINE_NODE || !bitset_has(&part->view->flow.divergence->nodes, f->id);
            if (!same) return 0;  // a uniform value that is not understood counts as one
            if (f->kind == AFFINE_SREG) count *= range_of_sreg(l, f);
            if (f->kind == AFFINE_COUNTER) count *= fmax(part->loops[f->id].trips, 1);
        }
    }
    return count;
}

static bool same_but_constant(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *f = &affine->forms[a->affine->form], *g = &affine->forms[b->affine->form];
    if (f->term_count != g->term_count) return false;
    for (u32 t = 0; t < f->term_count; t++) {
        const AffineTerm *x = &affine->terms[f->terms + t], *y = &affine->terms[g->terms + t];
        if (x->coefficient != y->coefficient) return false;
        for (u32 i = 0; i < AFFINE_DEGREE; i++)
            if (x->factors[i] != y->factors[i]) return false;
    }
    return true;
}

// Accesses that differ in a constant are fields of one structure, or the neighbours that other lanes have as well:
// together they name no more bytes than lie between two lanes, or between two turns of the loop.
static bool is_named_before(const CasePart *part, u32 at, f64 *bytes) {
    const CaseAccess *a = &part->accesses[at];
    f64 between = a->affine->stride_kind[0] == AFFINE_STRIDE_CONSTANT ? fabs((f64)a->affine->stride[0]) : INFINITY;
    f64 named = 0;
    u32 loop = part->insns[a->pc].loop;
    i64 step = 0;
    if (loop != WL_NONE &&
        affine_step(part->view->flow.affine, a->affine->form, loop, &step) == AFFINE_STRIDE_CONSTANT && step)
        between = fmin(between, fabs((f64)step));
    for (u32 i = 0; i < at; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (b->affine && access_is_global(b) && b->affine->base == a->affine->base && same_but_constant(part, a, b))
            named += b->bytes;
    }
    *bytes = fmin(*bytes, between - named);
    return *bytes <= 0;
}

// Executions by warps of an access that issued in one sample, in a launch.
static f64 executions_per_sample(const AdviceCase *c, f64 seconds) {
    const ProfileLaunch *l = c->view->launches.typical;
    f64 ctas = (f64)l->grid[0] * l->grid[1] * l->grid[2], sms = fmin(ctas, (f64)c->gpu->sms);
    f64 slots = seconds * (f64)c->gpu->clock_mhz * 1e6 * sms * (f64)c->gpu->warp_schedulers;
    return c->load.issued > 0 ? slots * c->load.issue_rate / c->load.issued : 0;
}

static f64 bytes_of(const AdviceCase *c, const CasePart *part, u32 at, f64 per_sample) {
    const CaseAccess *a = &part->accesses[at];
    f64 bytes = a->bytes;
    if (!access_is_global(a) || !a->affine || a->requests <= 0 || part->access_count > ACCESS_GROUP_LIMIT) return 0;
    if (is_named_before(part, at, &bytes)) return 0;
    return bytes * fmin(addresses(c, part, a), a->requests * per_sample * a->lanes);
}

static f64 peak_bytes(const GpuModel *g) {  // of DRAM, per second, as far as it can be reached
    if (!g->t_burst) return 0;
    return REACHED * (f64)g->dram_channels * (f64)g->dram_burst * (f64)g->dram_clock_mhz * 1e6 / (f64)g->t_burst;
}

f64 case_dram_busy(AdviceCase *c) {
    const ViewLaunches *l = &c->view->launches;
    f64 all = 0;
    if (!c->gpu || !l->count || l->total_ns <= 0 || !l->typical || peak_bytes(c->gpu) <= 0) return 0;
    f64 seconds = l->total_ns / l->count * (1 - c->fixed) * 1e-9, per_sample = executions_per_sample(c, seconds);
    for (u32 p = 0; p < c->part_count; p++) {
        CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            f64 bytes = bytes_of(c, part, i, per_sample);
            part->insns[part->accesses[i].pc].use[RESOURCE_DRAM] = bytes / peak_bytes(c->gpu) / seconds;
            all += bytes;
        }
    }
    f64 busy = all / peak_bytes(c->gpu) / seconds;
    // What fits may be in the L2 from launch to launch; what cannot have been moved in that time are no different
    // bytes.
    return all > (f64)c->gpu->l2_bytes && busy <= 1 ? busy : 0;
}
