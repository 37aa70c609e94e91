// SPDX-License-Identifier: Apache-2.0
// Joins: blocks to which lanes come on several ways and others do not come at all, as in `if (a && b) X; else Y;` (Y)
// and behind an `if` in a loop that a `break` leaves. Whatever the sizes of the blocks, ptxas 13.0 has a BSSY for each
// at its immediate dominator, a BSYNC at its begin, and a BREAK where lanes part for good with it (60 of 60 kernels of
// chains of two to four branches, and the loops of sphereflake, on which an H200 spends a third of the instructions of
// lanes that meet at post-dominators only).
#include "base/bitset.h"
#include "flow/flow_util.h"

typedef struct Finder {
    const Cfg *cfg, *kept;
    const DomTree *dominators, *post;
    const Loops *loops;
    const Meets *meets;
    Bitset is_join;
    u32 *seen;  // by block: 1 + the join for which it was visited last
    u32 *stack;
    u64 visits;  // left
    FlowPairs around, left;
    Vec(Join) joins;
} Finder;

enum { VISITS_PER_BLOCK = 256 };  // bounds the time for graphs of many long joins; later ones are left out then

static u32 ways_to(const Finder *f, u32 at) {
    const FlowBlock *block = &f->kept->blocks[at];
    u32 ways = 0;
    for (u32 p = 0; p < block->pred_count; p++)
        ways += !dom_dominates(f->dominators, at, f->kept->edges[block->preds + p]);
    return ways;
}

static bool is_join(const Finder *f, u32 at) {
    u32 from = f->dominators->parent[at];
    const FlowBlock *block = &f->cfg->blocks[at];
    if (block->leaves && block->succ_count == 0 && block->count <= 1) return false;  // the end of the kernel
    if (from == WL_NONE || f->kept->blocks[from].succ_count < 2 || ways_to(f, at) < 2) return false;
    if (f->loops->loop_of[from] != f->loops->loop_of[at]) return false;
    return f->post->enter[at] != WL_NONE && !dom_dominates(f->post, at, from);
}

static Status surround(Finder *f, u32 b, const Join *join) {
    u32 end = f->meets->at[join->from];
    TRY(vec_push(&f->around, ((FlowPair){b, join->at})));
    return end == WL_NONE ? STATUS_OK : vec_push(&f->around, ((FlowPair){b, end}));
}

static u32 push_preds(Finder *f, u32 b, u32 number, u32 depth) {
    const FlowBlock *block = &f->kept->blocks[b];
    for (u32 p = 0; p < block->pred_count; p++) {
        u32 pred = f->kept->edges[block->preds + p];
        if (f->seen[pred] == number || !f->cfg->blocks[pred].reachable) continue;
        f->seen[pred] = number;
        f->stack[depth++] = pred;
    }
    return depth;
}

// Every way back from a join leads to its dominator.
static Status add_join(Finder *f, u32 at) {
    Join join = {.from = f->dominators->parent[at], .at = at};
    TRY(vec_push(&f->joins, join));
    bitset_add(&f->is_join, at);
    u32 number = f->joins.len;
    f->seen[at] = f->seen[join.from] = number;
    TRY(surround(f, join.from, &join));
    u32 depth = push_preds(f, at, number, 0);
    while (depth > 0 && f->visits > 0) {
        u32 b = f->stack[--depth];
        f->visits--;
        TRY(surround(f, b, &join));
        depth = push_preds(f, b, number, depth);
    }
    return STATUS_OK;
}

// --- order -----------------------------------------------------------------------------------------------------
// How many loops `b` and `meet` have in common.
static u32 common_loops(const Finder *f, u32 b, u32 meet) {
    u32 loop = f->loops->loop_of[b];
    while (loop != WL_NONE && !flow_loop_has(f->loops, loop, meet)) loop = f->loops->loops[loop].parent;
    return loop == WL_NONE ? 0 : f->loops->loops[loop].depth;
}

static bool is_later(const Finder *f, u32 b, u32 one, u32 other) {
    u32 loops = common_loops(f, b, one), others = common_loops(f, b, other);
    return loops != others ? loops < others : f->cfg->rpo_index[one] > f->cfg->rpo_index[other];
}

// Puts `meet` in its place among the `count` blocks of `list`.
static u32 insert(const Finder *f, u32 b, u32 *list, u32 count, u32 meet) {
    for (u32 k = 0; k < count; k++)
        if (list[k] == meet) return count;
    u32 k = count;
    for (; k > 0 && is_later(f, b, meet, list[k - 1]); k--) list[k] = list[k - 1];
    list[k] = meet;
    return count + 1;
}

static Status list_meets(const Finder *f, Arena *arena, Arena *scratch, Meets *meets) {
    u32 blocks = f->cfg->block_count;
    FlowGroups groups;
    TRY(flow_group(&f->around, blocks, scratch, &groups));
    meets->first = ARENA_ARRAY(arena, u32, blocks + 1);
    meets->around = ARENA_ARRAY(arena, u32, f->around.len + blocks + 1);
    meets->joins = ARENA_ARRAY(arena, Join, f->joins.len + 1);
    if (!meets->first || !meets->around || !meets->joins) return STATUS_NO_MEMORY;
    u32 len = 0;
    for (u32 b = 0; b < blocks; b++) {
        u32 *list = meets->around + len, count = 0;
        meets->first[b] = len;
        for (u32 k = groups.first[b]; k < groups.first[b + 1]; k++) count = insert(f, b, list, count, groups.items[k]);
        if (count && meets->at[b] != WL_NONE) count = insert(f, b, list, count, meets->at[b]);
        len += count;
    }
    meets->first[blocks] = len;
    meets->join_count = f->joins.len;
    for (u32 j = 0; j < f->joins.len; j++) meets->joins[j] = f->joins.data[j];
    return STATUS_OK;
}

static bool is_around(const Meets *meets, u32 b, u32 join) {
    for (u32 k = meets->first[b]; k < meets->first[b + 1]; k++)
        if (meets->around[k] == join) return true;
    return false;
}

// What lanes leave behind on the way from `b` to `to`.
static Status leave_joins(Finder *f, u32 b, u32 to) {
    const Meets *meets = f->meets;
    for (u32 k = meets->first[b]; k < meets->first[b + 1]; k++) {
        u32 at = meets->around[k];
        if (bitset_has(&f->is_join, at) && to != at && !is_around(meets, to, at))
            TRY(vec_push(&f->left, ((FlowPair){to, at})));
    }
    return STATUS_OK;
}

static Status list_left(Finder *f, Arena *arena, Meets *meets) {
    for (u32 b = 0; b < f->cfg->block_count; b++) {
        const FlowBlock *block = &f->kept->blocks[b];
        if (meets->first[b] == meets->first[b + 1] || block->succ_count < 2) continue;
        for (u32 s = 0; s < block->succ_count; s++) TRY(leave_joins(f, b, f->kept->edges[block->succs + s]));
    }
    FlowGroups groups;
    TRY(flow_group(&f->left, f->cfg->block_count, arena, &groups));
    meets->left_first = groups.first;
    meets->left = groups.items;
    return STATUS_OK;
}

static Status find_joins(Finder *f, Arena *scratch) {
    f->seen = ARENA_ARRAY(scratch, u32, f->cfg->block_count);
    f->stack = ARENA_ARRAY(scratch, u32, f->cfg->block_count);
    if (!f->seen || !f->stack || !bitset_init(&f->is_join, scratch, f->cfg->block_count)) return STATUS_NO_MEMORY;
    for (u32 k = 0; k < f->cfg->rpo_count; k++)
        if (is_join(f, f->cfg->rpo[k])) TRY(add_join(f, f->cfg->rpo[k]));
    return STATUS_OK;
}

Status flow_joins(const Cfg *cfg, const Cfg *kept, const DomTree *dominators, const DomTree *post, Arena *arena,
                  Meets *meets) {
    Arena scratch = {0};
    Finder f = {.cfg = cfg,
                .kept = kept,
                .dominators = dominators,
                .post = post,
                .loops = meets->loops,
                .meets = meets,
                .visits = (u64)cfg->block_count * VISITS_PER_BLOCK};
    Status status = find_joins(&f, &scratch);
    if (status == STATUS_OK) status = list_meets(&f, arena, &scratch, meets);
    if (status == STATUS_OK) status = list_left(&f, arena, meets);
    vec_free(&f.around);
    vec_free(&f.left);
    vec_free(&f.joins);
    arena_free(&scratch);
    return status;
}
