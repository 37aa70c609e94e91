// SPDX-License-Identifier: Apache-2.0
// Where lanes meet again that a branch has parted: at its immediate post-dominator, but of the ways out of a kernel
// only those count that somebody else takes, too; and before, where several ways come together that others go past, in
// the same turn of a loop. What ptxas 13.0 does for sm_90 (EXIT, guarded or behind stores, or BREAK, between a BSSY and
// its BSYNC).
#include "flow/flow_util.h"

typedef struct Finder {
    const Cfg *cfg;
    const Loops *loops;
    Cfg kept;      // the graph without edges to where the kernel ends
    bool *exits;   // blocks that end in such an edge and another one
    bool *all;     // blocks of which all edges are kept
    bool *inside;  // blocks between a branch and where its lanes meet, where that is no post-dominator
    u32 *stack;
} Finder;

static bool ends(const FlowBlock *block) { return block->leaves && block->succ_count == 0; }

static bool is_lone_end(const Cfg *cfg, u32 b) {
    return b == WL_NONE || (ends(&cfg->blocks[b]) && cfg->blocks[b].count <= 1);
}

// Nothing but the end of the kernel, or a block that only one edge leads to and behind which there is nothing else.
static bool is_way_out(const Cfg *cfg, u32 to) {
    const FlowBlock *block = &cfg->blocks[to];
    if (is_lone_end(cfg, to)) return true;
    if (block->pred_count != 1) return false;
    return ends(block) || (block->succ_count == 1 && is_lone_end(cfg, cfg->edges[block->succs]));
}

static bool stays_somewhere(const Cfg *cfg, const FlowBlock *block) {
    for (u32 s = 0; s < block->succ_count; s++)
        if (!is_way_out(cfg, cfg->edges[block->succs + s])) return true;
    return false;
}

static void keep_succs(Finder *m, u32 b) {
    const FlowBlock *from = &m->cfg->blocks[b];
    FlowBlock *block = &m->kept.blocks[b];
    bool stays = !m->all[b] && stays_somewhere(m->cfg, from);
    block->succ_count = 0;
    for (u32 s = 0; s < from->succ_count; s++) {
        u32 to = m->cfg->edges[from->succs + s];
        if (stays && is_way_out(m->cfg, to)) continue;
        m->kept.edges[block->succs + block->succ_count++] = to;
    }
    m->exits[b] = block->succ_count < from->succ_count;
    if (block->succ_count) block->leaves = false;  // a guarded exit: those who stay count
}

// Who leaves a loop that is left by no other way is waited for at its end (a BSSY around the loop): of several ways
// back to its header one may be a loop within, which lanes leave together.
static void keep_exits_of_loops(Finder *m) {
    for (u32 l = 0; l < m->loops->loop_count; l++) {
        const u32 *blocks = &m->loops->members[m->loops->loops[l].blocks];
        u32 count = m->loops->loops[l].block_count;
        bool is_left = m->loops->loops[l].leaves;
        for (u32 i = 0; i < count && !is_left; i++) is_left = flow_loop_left_from(&m->kept, m->loops, l, blocks[i]);
        for (u32 i = 0; i < count && !is_left; i++) {
            m->all[blocks[i]] = true;
            keep_succs(m, blocks[i]);
        }
    }
}

// The places of the lists stay as they are, as none becomes longer.
static Status keep_edges(Finder *m, Arena *scratch) {
    const Cfg *cfg = m->cfg;
    u32 n = cfg->block_count, edges = 0;
    for (u32 b = 0; b < n; b++) edges += cfg->blocks[b].succ_count + cfg->blocks[b].pred_count;
    m->kept = *cfg;
    m->kept.blocks = ARENA_ARRAY(scratch, FlowBlock, n);
    m->kept.edges = ARENA_ARRAY(scratch, u32, edges + 1);
    m->exits = ARENA_ARRAY(scratch, bool, n);
    m->all = ARENA_ARRAY(scratch, bool, n);
    m->inside = ARENA_ARRAY(scratch, bool, n);
    m->stack = ARENA_ARRAY(scratch, u32, n + 1);
    if (!m->kept.blocks || !m->kept.edges || !m->exits || !m->all || !m->inside || !m->stack) return STATUS_NO_MEMORY;
    for (u32 b = 0; b < n; b++) m->kept.blocks[b] = cfg->blocks[b];
    for (u32 b = 0; b < n; b++) m->kept.blocks[b].pred_count = 0;
    for (u32 b = 0; b < n; b++) keep_succs(m, b);
    keep_exits_of_loops(m);
    for (u32 b = 0; b < n; b++)
        for (u32 s = 0; s < m->kept.blocks[b].succ_count; s++) {
            FlowBlock *to = &m->kept.blocks[m->kept.edges[m->kept.blocks[b].succs + s]];
            m->kept.edges[to->preds + to->pred_count++] = b;
        }
    return STATUS_OK;
}

static void mark_inside(Finder *m, u32 from, u32 meet) {
    u32 depth = 0;
    m->stack[depth++] = from;
    m->inside[from] = true;
    while (depth > 0) {
        const FlowBlock *block = &m->kept.blocks[m->stack[--depth]];
        for (u32 s = 0; s < block->succ_count; s++) {
            u32 to = m->kept.edges[block->succs + s];
            if (to == meet || m->inside[to]) continue;
            m->inside[to] = true;
            m->stack[depth++] = to;
        }
    }
}

static void find_meets(Finder *m, const DomTree *post, const DomTree *kept, u32 *meets) {
    const Cfg *cfg = m->cfg;
    for (u32 b = 0; b < cfg->block_count; b++) {
        u32 meet = kept->parent[b];
        if (m->kept.blocks[b].succ_count < 2 || meet == WL_NONE || meet == meets[b] || !cfg->blocks[b].reachable)
            continue;
        if (dom_dominates(post, meet, b)) continue;
        meets[b] = meet;
        mark_inside(m, b, meet);
    }
    for (u32 b = 0; b < cfg->block_count; b++)
        if (m->exits[b] && m->inside[b] && m->kept.blocks[b].succ_count < 2 && is_lone_end(cfg, meets[b]))
            meets[b] = WL_NONE;
}
static Status find_all(const Cfg *cfg, const DomTree *dominators, Arena *scratch, Arena *arena, Meets *meets) {
    Finder m = {.cfg = cfg, .loops = meets->loops, .kept = *cfg};
    DomTree *post, *kept;
    TRY(flow_postdominators(cfg, scratch, &post));
    kept = post;
    for (u32 b = 0; b < cfg->block_count; b++) meets->at[b] = post->parent[b];
    if (cfg->code->is_entry) {
        TRY(keep_edges(&m, scratch));
        TRY(flow_postdominators(&m.kept, scratch, &kept));
        find_meets(&m, post, kept, meets->at);
    }
    TRY(flow_joins(cfg, &m.kept, dominators, kept, arena, meets));
    return flow_yields(cfg, arena, meets);
}

Status flow_meets(const Cfg *cfg, const DomTree *dominators, const Loops *loops, Arena *arena, Meets *meets) {
    *meets = (Meets){.at = ARENA_ARRAY(arena, u32, cfg->block_count + 1), .loops = loops};
    if (!meets->at) return STATUS_NO_MEMORY;
    Arena scratch = {0};
    Status status = find_all(cfg, dominators, &scratch, arena, meets);
    arena_free(&scratch);
    return status;
}
