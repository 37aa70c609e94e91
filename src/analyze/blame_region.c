// SPDX-License-Identifier: Apache-2.0
// Stalls whose cause is no register: found among the instructions that lie before the use on some way, back to where
// the same kind of wait was over.
#include <math.h>

#include "analyze/blame_inside.h"

typedef bool (*Match)(const Blamer *b, u32 pc);

static bool is_branch(const Blamer *b, u32 pc) {
    u8 kind = b->flow->code->insns[pc].kind;
    return kind == FLOW_BRANCH || kind == FLOW_SWITCH || kind == FLOW_CALL || kind == FLOW_RET;
}
static bool is_issued(const Blamer *b, u32 pc) { return b->insns[pc].steps > 0; }
static bool is_write(const Blamer *b, u32 pc) {
    const FlowInsn *in = &b->flow->code->insns[pc];
    return in->is_store || in->is_atomic;
}
static bool is_fence(const Blamer *b, u32 pc) {
    return b->flow->code->insns[pc].is_barrier || b->insns[pc].class == BLAME_FENCE;
}
// Stores leave in order.
static bool ends_writes(const Blamer *b, u32 pc) {
    return is_fence(b, pc) || (is_write(b, pc) && b->flow->code->insns[pc].guard == WL_NONE);
}
static bool is_async(const Blamer *b, u32 pc) { return b->insns[pc].class == BLAME_ASYNC; }
static bool is_gmma(const Blamer *b, u32 pc) {
    const FlowInsn *in = &b->flow->code->insns[pc];
    return in->unit == UNIT_TENSOR;
}
static bool is_barrier(const Blamer *b, u32 pc) { return b->flow->code->insns[pc].is_barrier; }
static bool nowhere(const Blamer *b, u32 pc) {
    (void)b;
    (void)pc;
    return false;
}

static const struct Region {
    Match wanted, ends;  // `ends`: not looked behind
} regions[STALL_COUNT] = {
    [STALL_BRANCH_RESOLVING] = {is_branch, is_issued},
    [STALL_MEMBAR] = {is_write, is_fence},
    [STALL_DRAIN] = {is_write, ends_writes},  // stores leave in order: for the last one
    [STALL_GMMA] = {is_gmma, nowhere},
    [STALL_LONG_SCOREBOARD] = {is_async, nowhere},  // waits for groups of asynchronous copies
    [STALL_WAIT] = {is_issued, is_issued},          // machine code: the stall count of the instruction before
};

typedef struct Search {
    Blamer *b;
    u32 use;
    struct Region region;
    BlameSources *sources;
    Vec(u32) work;
} Search;

// Back from before `end` to the first of the block; true: the region ends here.
static Status search_block(Search *s, u32 first, u32 end, bool *ended) {
    *ended = false;
    for (u32 pc = end; pc-- > first && !*ended;) {
        bool idle = s->b->view->executed && !s->b->view->executed[pc];
        if (idle || pc == s->use) continue;
        if (s->region.wanted(s->b, pc)) {
            BlameSource source = {.def = pc, .group = 0, .path = blame_path(s->b, pc, s->use)};
            TRY(vec_push(&s->sources->list, source));
        }
        *ended = s->region.ends(s->b, pc);
    }
    return STATUS_OK;
}

static Status push_preds(Search *s, const FlowBlock *block) {
    const Cfg *cfg = s->b->flow->cfg;
    for (u32 p = 0; p < block->pred_count; p++) {
        u32 pred = cfg->edges[block->preds + p];
        if (!cfg->blocks[pred].reachable || s->b->block_stamp[pred] == s->b->region_round) continue;
        s->b->block_stamp[pred] = s->b->region_round;
        TRY(vec_push(&s->work, pred));
    }
    return STATUS_OK;
}

static Status search_all(Search *s) {
    const Cfg *cfg = s->b->flow->cfg;
    const FlowBlock *block = &cfg->blocks[cfg->block_of[s->use]];
    bool ended;
    s->b->region_round++;
    TRY(search_block(s, block->first, s->use, &ended));
    if (ended) return STATUS_OK;
    TRY(push_preds(s, block));
    while (s->work.len) {
        u32 at = s->work.data[--s->work.len];
        block = &cfg->blocks[at];
        u32 end = block->first + block->count, stop = at == cfg->block_of[s->use] ? s->use + 1 : block->first;
        TRY(search_block(s, stop, end, &ended));
        if (!ended && stop == block->first) TRY(push_preds(s, block));
    }
    return STATUS_OK;
}

static Status search(Blamer *b, u32 use, struct Region region, BlameSources *sources) {
    Search s = {.b = b, .use = use, .region = region, .sources = sources};
    sources->list.len = 0;
    Status status = search_all(&s);
    sources->before = sources->list.len;
    vec_free(&s.work);
    return status;
}

bool blame_has_region(const Blamer *b, u32 use, StallReason reason) {
    if (!regions[reason].wanted) return false;
    if (reason == STALL_WAIT) return b->flow->code->issue;
    const FlowInsn *in = &b->flow->code->insns[use];
    return reason != STALL_LONG_SCOREBOARD || (in->has_effects && !in->is_store && !in->is_atomic && !in->is_load);
}

// Machine code: who returns or ends waits for that (kernel_view_figures.c), not for a branch before it.
static bool is_end(const Blamer *b, u32 use) {
    const FlowInsn *in = &b->flow->code->insns[use];
    return b->view->kind == VIEW_SASS && (in->kind == FLOW_RET || in->kind == FLOW_EXIT) && in->guard == WL_NONE;
}

static Status take_itself(u32 use, BlameSources *sources) {
    BlameSource source = {.def = use, .group = 0, .path = {1, 1, true}};
    sources->list.len = 0;
    sources->before = 1;
    return vec_push(&sources->list, source);
}

Status blame_region(Blamer *b, u32 use, StallReason reason, BlameSources *sources) {
    if (reason == STALL_BRANCH_RESOLVING && is_end(b, use)) return take_itself(use, sources);
    if (reason == STALL_BRANCH_RESOLVING && b->earlier && !b->options.no_turns) {
        TRY(blame_targets(b, use, sources));
        if (sources->list.len || sources->own) return STATUS_OK;
    }
    return search(b, use, regions[reason], sources);
}

// --- late arrivers -----------------------------------------------------------------------------------------------
// How often warps ran the block. All its instructions run equally often; of samples each has a draw of its own.
static f64 runs_of(const Blamer *b, u32 block) {
    const FlowBlock *of = &b->flow->cfg->blocks[block];
    f64 most = 0, all = 0;
    for (u32 pc = of->first; pc < of->first + of->count; pc++) {
        most = fmax(most, (f64)b->insns[pc].weight);
        all += (f64)b->insns[pc].weight;
    }
    return b->view->executed || !of->count ? most : all / of->count;
}

// The outermost loop around block `inside` that block `outside` is not in, WL_NONE.
static u32 loop_between(const Blamer *b, u32 inside, u32 outside) {
    const Loops *loops = b->flow->loops;
    u32 outermost = WL_NONE;
    for (u32 l = loops->loop_of[inside]; l != WL_NONE; l = loops->loops[l].parent)
        if (!flow_loop_has(loops, l, outside)) outermost = l;
    return outermost;
}

// How often warps entered a loop.
static f64 entries_of(const Blamer *b, u32 loop) {
    const FlowResults *flow = b->flow;
    const FlowBlock *header = &flow->cfg->blocks[flow->loops->loops[loop].header];
    f64 entries = 0;
    for (u32 i = 0; i < header->pred_count; i++) {
        u32 pred = flow->cfg->edges[header->preds + i];
        if (!flow_loop_has(flow->loops, loop, pred)) entries += runs_of(b, pred);
    }
    return entries;
}

// How many warps came to where the instruction is, on their way to the barrier: those that entered the outermost loop
// around it that the barrier is not in, else those that executed it.
static f64 comers(const Blamer *b, u32 use, u32 def) {
    const Cfg *cfg = b->flow->cfg;
    u32 loop = loop_between(b, cfg->block_of[def], cfg->block_of[use]);
    f64 entries = loop == WL_NONE ? 0 : entries_of(b, loop);
    return entries > 0 ? entries : runs_of(b, cfg->block_of[def]);
}

// Of the times that warps meet at the barrier, those before which they came by the instruction: where the barrier is in
// a loop and the instruction ahead of it, the first turn alone.
static f64 part_of_meetings(const Blamer *b, u32 use, u32 def) {
    const Cfg *cfg = b->flow->cfg;
    u32 loop = loop_between(b, cfg->block_of[use], cfg->block_of[def]);
    f64 runs = runs_of(b, cfg->block_of[use]), entries = loop == WL_NONE ? runs : entries_of(b, loop);
    return entries > 0 && entries < runs ? entries / runs : 1;
}

// What an instruction cost the last warp to arrive, on average. The fewer warps come to it, the likelier it is that
// those are late; there is one last warp for each time that a CTA comes to the barrier.
static f64 delay_of(const Blamer *b, u32 use, u32 def, const f64 *blamed) {
    u32 per_cta = b->view->occupancy.warps_per_cta;
    f64 part = part_of_meetings(b, use, def);
    f64 meetings = part * runs_of(b, b->flow->cfg->block_of[use]) / (per_cta ? per_cta : 1);
    f64 came = fmax(comers(b, use, def), meetings);
    return came > 0 ? part * blamed[def] / came : 0;
}

static u32 last_barrier(const Blamer *b, u32 first, u32 end) {
    for (u32 pc = end; pc > first; pc--)
        if (is_barrier(b, pc - 1)) return pc - 1;
    return WL_NONE;
}

// A GPU's samples of warps that wait at a barrier are at the instruction behind it, the simulator's at the barrier.
static u32 barrier_of(const Blamer *b, u32 use) {
    const Cfg *cfg = b->flow->cfg;
    const FlowBlock *block = &cfg->blocks[cfg->block_of[use]];
    if (b->view->kind == VIEW_PTX) return use;
    u32 at = last_barrier(b, block->first, use);
    for (u32 i = 0; i < block->pred_count && at == WL_NONE; i++) {
        const FlowBlock *pred = &cfg->blocks[cfg->edges[block->preds + i]];
        at = last_barrier(b, pred->first, pred->first + pred->count);
    }
    return at == WL_NONE ? use : at;
}

Status blame_late_arrivers(Blamer *b, u32 use, const f64 *blamed, BlameSources *sources) {
    static const struct Region before_barrier = {is_issued, is_barrier};
    u32 barrier = barrier_of(b, use);
    TRY(search(b, barrier, before_barrier, sources));
    u32 kept = 0;
    f64 sum = 0;
    for (u32 i = 0; i < sources->list.len; i++) {
        BlameSource source = sources->list.data[i];
        source.weight = is_barrier(b, source.def) ? 0 : delay_of(b, barrier, source.def, blamed);
        if (source.weight > 0) sources->list.data[kept++] = source, sum += source.weight;
    }
    sources->list.len = kept;
    for (u32 i = 0; i < kept; i++) sources->list.data[i].weight /= sum;
    return STATUS_OK;
}
