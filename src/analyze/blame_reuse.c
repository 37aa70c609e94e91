// SPDX-License-Identifier: Apache-2.0
// Which loads of global memory find their data in a cache, as far as their addresses say (flow/affine.h). Of several
// loads that an instruction waits for, the one that finds them is rarely the last.
//   - A load whose address moves by less than a sector in a turn of its loop asks for a new one only now and then.
//   - What each thread of the launch has for itself, and no load asked for before, is in no cache. Where two such loads
//     are waited for, DRAM's order decides, which is nobody's.
//   - Anything else, what other threads or loads ask for too or what is not understood, is in a cache half of the time,
//     each sector for itself.
// The last of many sectors comes later than an only one.
#include <math.h>

#include "analyze/blame_inside.h"

enum {
    SECTOR = 32,
    WARP = 32,
    COALESCED = 4,      // sectors of 4 bytes for each lane
    SECTOR_CYCLES = 1,  // between two sectors of a load, at least: the L1 looks up one line a cycle
    DRAM_SPREAD = 30,   // cycles, logistic: queues and banks
    LOOKED_BACK = 64,   // loads of the same base that one is compared with
};

#define HIT 0.1  // of a wait for what is in no cache: that for the L1

typedef struct Reuse {
    Blamer *b;
    const Affine *affine;
    u32 *newest;  // by factor: the last access seen that has it as its base, WL_NONE
    u32 *before;  // by access: the one before with the same base
} Reuse;

// Sectors of a load, as counted; 0: nobody did.
static f64 counted_sectors(const KernelView *view, u32 pc) {
    f64 sectors = 0, requests = 0;
    for (u32 i = view->counts ? view->first_count[pc] : 0; view->counts && i < view->first_count[pc + 1]; i++) {
        if (view->counts[i].metric == METRIC_GLOBAL_LD_SECT) sectors += view->counts[i].value;
        if (view->counts[i].metric == METRIC_GLOBAL_LD_REQ) requests += view->counts[i].value;
    }
    return requests > 0 ? sectors / requests : 0;
}

// ... as its lanes lie, where that is known.
static f64 strided_sectors(const AffineAccess *access) {
    f64 bytes = fmax(access->bytes, 1), stride = fabs((f64)access->stride[0]);
    if (access->uniform) return ceil(bytes / SECTOR);
    if (access->stride_kind[0] != AFFINE_STRIDE_CONSTANT || stride == 0) return COALESCED;
    return ceil(WARP * fmin(fmax(stride, bytes), SECTOR) / SECTOR);
}

static bool is_understood(const Reuse *r, const AffineAccess *access) {
    return !(affine_kinds(r->affine, access->form) & 1u << AFFINE_NODE);
}

// How often the load asks for a sector that it did not ask for in the turn before.
static f64 fresh_of(const Reuse *r, const AffineAccess *access) {
    const FlowResults *flow = r->b->flow;
    u32 loop = flow->loops->loop_of[flow->cfg->block_of[access->insn]];
    i64 step;
    if (loop == WL_NONE || !is_understood(r, access)) return 1;
    if (affine_step(r->affine, access->form, loop, &step) != AFFINE_STRIDE_CONSTANT) return 1;
    return fmin(fabs((f64)step) / SECTOR, 1);
}

static bool has_sreg(const Affine *affine, const AffineTerm *term, u32 sreg, u32 component) {
    for (u32 k = 0; k < AFFINE_DEGREE && term->factors[k] != WL_NONE; k++) {
        const AffineFactor *f = &affine->factors[term->factors[k]];
        if (f->kind == AFFINE_SREG && f->id == sreg && f->component == component) return true;
    }
    return false;
}

static bool depends_on(const Affine *affine, u32 form, u32 sreg, u32 component) {
    const AffineForm *f = &affine->forms[form];
    for (u32 t = 0; t < f->term_count; t++)
        if (has_sreg(affine, &affine->terms[f->terms + t], sreg, component)) return true;
    return false;
}

// Each thread of the launch has an address of its own.
static bool is_private(const Reuse *r, const AffineAccess *access) {
    const ProfileLaunch *launch = r->b->view->launches.typical;
    if (!launch || !is_understood(r, access)) return false;
    for (u32 k = 0; k < 3; k++) {
        if (launch->block[k] > 1 && !depends_on(r->affine, access->form, SREG_TID, k)) return false;
        if (launch->grid[k] > 1 && !depends_on(r->affine, access->form, SREG_CTAID, k)) return false;
    }
    return true;
}

// Some warp may want the same of both: they are no further apart than the lanes of a warp, or it is not known how far.
static bool overlap(const Affine *affine, const AffineAccess *a, const AffineAccess *c) {
    const AffineForm *x = &affine->forms[a->form], *y = &affine->forms[c->form];
    if (!affine_same_terms(affine, a->form, c->form)) return true;
    return fabs((f64)x->constant - (f64)y->constant) < fmax(WARP * fabs((f64)a->stride[0]), SECTOR);
}

static bool asked_before(const Reuse *r, u32 access) {
    u32 looked = 0;
    if (r->affine->accesses[access].base == WL_NONE) return false;
    for (u32 i = r->before[access]; i != WL_NONE; i = r->before[i])
        if (looked++ >= LOOKED_BACK || overlap(r->affine, &r->affine->accesses[access], &r->affine->accesses[i]))
            return true;
    return false;
}

// Of a load of which no more is known than its sectors, `guess` where they were not counted.
static void expect(Blamer *b, u32 pc, f64 guess) {
    f64 sectors = counted_sectors(b->view, pc);
    if (sectors <= 0) sectors = guess;
    b->insns[pc].miss = (f32)(1 - pow(0.5, sectors));
    b->insns[pc].later = (f32)(SECTOR_CYCLES * sectors);
}

static void judge(Reuse *r, u32 i) {
    const AffineAccess *access = &r->affine->accesses[i];
    BlameInsn *insn = &r->b->insns[access->insn];
    if (insn->class != BLAME_GLOBAL || access->second) return;
    expect(r->b, access->insn, strided_sectors(access));
    bool streams = is_private(r, access) && !asked_before(r, i);
    f64 fresh = fresh_of(r, access);
    insn->miss = (f32)fmax(streams ? fresh : fresh * (f64)insn->miss, HIT);
    if (streams) insn->spread = DRAM_SPREAD;
}

// Accesses are by instruction; loads of a base in the order in which the program has them.
static void link(Reuse *r, u32 i) {
    const AffineAccess *access = &r->affine->accesses[i];
    r->before[i] = WL_NONE;
    if (access->base == WL_NONE || !r->b->flow->code->insns[access->insn].is_load) return;
    r->before[i] = r->newest[access->base];
    r->newest[access->base] = i;
}

Status blame_reuse(Blamer *b) {
    Reuse r = {.b = b, .affine = b->flow->affine};
    r.newest = ARENA_ARRAY(&b->scratch, u32, r.affine->factor_count + 1);
    r.before = ARENA_ARRAY(&b->scratch, u32, r.affine->access_count + 1);
    if (!r.newest || !r.before) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < r.affine->factor_count; i++) r.newest[i] = WL_NONE;
    for (u32 pc = 0; pc < b->flow->code->insn_count; pc++)
        if (b->insns[pc].class == BLAME_GLOBAL) expect(b, pc, COALESCED);
    for (u32 i = 0; i < r.affine->access_count; i++) {
        link(&r, i);
        judge(&r, i);
    }
    return STATUS_OK;
}
