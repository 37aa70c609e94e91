// SPDX-License-Identifier: Apache-2.0
// The loop nest: Havlak, "Nesting of Reducible and Irreducible Loops" (TOPLAS 19(4), 1997), after Tarjan's "Testing
// Flow Graph Reducibility" (1974). Blocks are numbered in depth-first preorder; loops are found from the inside out,
// and a loop that is done is one node, represented by its header (union-find).
#include "base/vec.h"
#include "flow/flow.h"

#include <string.h>

typedef struct EntryEdge {  // an edge into a finished loop besides those to its header
    u32 from;
    u32 next;  // in LoopFinder.entries, WL_NONE at the end
} EntryEdge;

// Everything is by preorder number.
typedef struct LoopFinder {
    const Cfg *cfg;
    u32 count;
    u32 *block;        // number -> block
    u32 *number;       // block -> number
    u32 *last;         // highest number in the depth-first subtree
    u32 *set;          // union-find parent
    u32 *header;       // innermost enclosing loop's header other than the node itself, WL_NONE
    u32 *first_entry;  // in entries
    u32 *mark;         // body membership: number of the header + 1
    u32 *body;         // work list: nodes of the loop being collected
    u32 body_count;
    bool *is_header, *irreducible;
    Vec(EntryEdge) entries;
} LoopFinder;

static void number_blocks(LoopFinder *f, u32 *stack, u32 *at) {
    u32 depth = 0;
    const Cfg *cfg = f->cfg;
    for (u32 b = 0; b < cfg->block_count; b++) f->number[b] = WL_NONE;
    stack[depth++] = 0;
    f->number[0] = 0;
    f->block[f->count++] = 0;
    while (depth > 0) {
        u32 b = stack[depth - 1];
        const FlowBlock *block = &cfg->blocks[b];
        if (at[b] == block->succ_count) {
            f->last[f->number[b]] = f->count - 1;
            depth--;
            continue;
        }
        u32 to = cfg->edges[block->succs + at[b]++];
        if (f->number[to] != WL_NONE) continue;
        f->number[to] = f->count;
        f->block[f->count++] = to;
        stack[depth++] = to;
    }
}

static bool is_ancestor(const LoopFinder *f, u32 a, u32 b) { return a <= b && b <= f->last[a]; }

static u32 find(LoopFinder *f, u32 node) {
    while (f->set[node] != node) {
        f->set[node] = f->set[f->set[node]];  // path halving
        node = f->set[node];
    }
    return node;
}

static void add_to_body(LoopFinder *f, u32 header, u32 node) {
    if (node == header || f->mark[node] == header + 1) return;
    f->mark[node] = header + 1;
    f->body[f->body_count++] = node;
}

// An edge from -> node, node being in the body of the loop of `header`.
static Status follow_entry(LoopFinder *f, u32 header, u32 from) {
    from = find(f, from);
    if (is_ancestor(f, header, from)) {
        add_to_body(f, header, from);
        return STATUS_OK;
    }
    f->irreducible[header] = true;
    TRY(vec_push(&f->entries, (EntryEdge){from, f->first_entry[header]}));
    f->first_entry[header] = f->entries.len - 1;
    return STATUS_OK;
}

static Status follow_entries(LoopFinder *f, u32 header, u32 node) {
    const FlowBlock *block = &f->cfg->blocks[f->block[node]];
    for (u32 p = 0; p < block->pred_count; p++) {
        u32 from = f->number[f->cfg->edges[block->preds + p]];
        if (from != WL_NONE && !is_ancestor(f, node, from)) TRY(follow_entry(f, header, from));
    }
    for (u32 e = f->first_entry[node]; e != WL_NONE; e = f->entries.data[e].next)
        TRY(follow_entry(f, header, f->entries.data[e].from));
    return STATUS_OK;
}

static Status find_loop(LoopFinder *f, u32 header) {
    const FlowBlock *block = &f->cfg->blocks[f->block[header]];
    f->body_count = 0;
    for (u32 p = 0; p < block->pred_count; p++) {
        u32 from = f->number[f->cfg->edges[block->preds + p]];
        if (from == WL_NONE || !is_ancestor(f, header, from)) continue;
        f->is_header[header] = true;
        add_to_body(f, header, find(f, from));
    }
    for (u32 i = 0; i < f->body_count; i++) TRY(follow_entries(f, header, f->body[i]));
    for (u32 i = 0; i < f->body_count; i++) {
        f->set[f->body[i]] = header;
        f->header[f->body[i]] = header;
    }
    return STATUS_OK;
}

// --- from the finder's answer to Loops --------------------------------------------------------------------------

static Status name_loops(const LoopFinder *f, Arena *arena, Loops *result) {
    const Cfg *cfg = f->cfg;
    for (u32 i = 0; i < f->count; i++) result->loop_count += f->is_header[i];
    result->loops = ARENA_ARRAY(arena, FlowLoop, result->loop_count + 1);
    result->loop_of = ARENA_ARRAY(arena, u32, cfg->block_count);
    if (!result->loops || !result->loop_of) return STATUS_NO_MEMORY;
    for (u32 b = 0; b < cfg->block_count; b++) result->loop_of[b] = WL_NONE;
    u32 loops = 0;
    for (u32 i = 0; i < cfg->rpo_count; i++) {  // headers come before their bodies
        u32 b = cfg->rpo[i], node = f->number[b];
        u32 outer = f->header[node] == WL_NONE ? WL_NONE : result->loop_of[f->block[f->header[node]]];
        result->loop_of[b] = outer;
        if (!f->is_header[node]) continue;
        result->loops[loops] = (FlowLoop){
            .header = b,
            .parent = outer,
            .depth = outer == WL_NONE ? 1 : result->loops[outer].depth + 1,
            .irreducible = f->irreducible[node],
            .trip_count = -1,
        };
        result->loop_of[b] = loops++;
    }
    return STATUS_OK;
}

typedef Vec(u32) Numbers;

static Status list_latches(const Cfg *cfg, const Loops *loops, u32 index, Numbers *members) {
    FlowLoop *loop = &loops->loops[index];
    const FlowBlock *header = &cfg->blocks[loop->header];
    loop->latches = members->len;
    for (u32 p = 0; p < header->pred_count; p++) {
        u32 from = cfg->edges[header->preds + p];
        if (flow_loop_has(loops, index, from)) TRY(vec_push(members, from));
    }
    loop->latch_count = members->len - loop->latches;
    return STATUS_OK;
}

static Status list_exits(const Cfg *cfg, const Loops *loops, u32 index, Numbers *members, u32 *seen) {
    FlowLoop *loop = &loops->loops[index];
    loop->exits = members->len;
    for (u32 i = 0; i < loop->block_count; i++) {
        const FlowBlock *block = &cfg->blocks[members->data[loop->blocks + i]];
        for (u32 s = 0; s < block->succ_count; s++) {
            u32 to = cfg->edges[block->succs + s];
            if (seen[to] == index + 1 || flow_loop_has(loops, index, to)) continue;
            seen[to] = index + 1;
            TRY(vec_push(members, to));
        }
    }
    loop->exit_count = members->len - loop->exits;
    return STATUS_OK;
}

// The blocks of each loop, nested ones included, in reverse post-order: the header comes out first.
static Status list_blocks(const Cfg *cfg, Loops *loops, Numbers *members) {
    for (u32 i = 0; i < cfg->rpo_count; i++)
        for (u32 l = loops->loop_of[cfg->rpo[i]]; l != WL_NONE; l = loops->loops[l].parent)
            loops->loops[l].block_count++;
    u64 total = 0;
    for (u32 l = 0; l < loops->loop_count; l++) {
        loops->loops[l].blocks = (u32)total;
        total += loops->loops[l].block_count;
        loops->loops[l].block_count = 0;
    }
    if (total > UINT32_MAX / 2) return STATUS_LIMIT;
    TRY(vec_reserve(members, total));
    members->len = (u32)total;
    for (u32 i = 0; i < cfg->rpo_count; i++) {
        for (u32 l = loops->loop_of[cfg->rpo[i]]; l != WL_NONE; l = loops->loops[l].parent) {
            FlowLoop *loop = &loops->loops[l];
            members->data[loop->blocks + loop->block_count++] = cfg->rpo[i];
        }
    }
    return STATUS_OK;
}

static Status list_members(const Cfg *cfg, Loops *loops, Numbers *members, Arena *arena, u32 *seen) {
    TRY(list_blocks(cfg, loops, members));
    for (u32 l = 0; l < loops->loop_count; l++) {
        TRY(list_latches(cfg, loops, l, members));
        TRY(list_exits(cfg, loops, l, members, seen));
    }
    loops->members = ARENA_ARRAY(arena, u32, members->len + 1);
    if (!loops->members) return STATUS_NO_MEMORY;
    if (members->len) memcpy(loops->members, members->data, sizeof(u32) * members->len);
    return STATUS_OK;
}

static Status find_all(LoopFinder *f, Arena *scratch) {
    u32 n = f->cfg->block_count;
    u32 *stack = ARENA_ARRAY(scratch, u32, n), *at = ARENA_ARRAY(scratch, u32, n);
    u32 **arrays[] = {&f->block, &f->number, &f->last, &f->set, &f->header, &f->first_entry, &f->mark, &f->body};
    for (u32 i = 0; i < WL_COUNT(arrays); i++)
        if (!(*arrays[i] = ARENA_ARRAY(scratch, u32, n))) return STATUS_NO_MEMORY;
    f->is_header = ARENA_ARRAY(scratch, bool, n);
    f->irreducible = ARENA_ARRAY(scratch, bool, n);
    if (!stack || !at || !f->is_header || !f->irreducible) return STATUS_NO_MEMORY;
    number_blocks(f, stack, at);
    for (u32 i = 0; i < f->count; i++) {
        f->set[i] = i;
        f->header[i] = f->first_entry[i] = WL_NONE;
    }
    for (u32 i = f->count; i-- > 0;) TRY(find_loop(f, i));
    return STATUS_OK;
}

static Status build(const Cfg *cfg, Arena *arena, Arena *scratch, Loops *loops) {
    LoopFinder finder = {.cfg = cfg};
    Numbers members = {0};
    Status status = find_all(&finder, scratch);
    if (status == STATUS_OK) status = name_loops(&finder, arena, loops);
    u32 *seen = ARENA_ARRAY(scratch, u32, cfg->block_count);
    if (!seen) status = STATUS_NO_MEMORY;
    if (status == STATUS_OK) status = list_members(cfg, loops, &members, arena, seen);
    vec_free(&finder.entries);
    vec_free(&members);
    return status;
}

Status flow_loops(const Cfg *cfg, const DomTree *dominators, Arena *arena, Loops **loops) {
    (void)dominators;  // Havlak's ancestors in the depth-first tree decide; they also serve irreducible regions
    *loops = NULL;
    Loops *result = ARENA_NEW(arena, Loops);
    if (!result) return STATUS_NO_MEMORY;
    Arena scratch = {0};
    Status status = build(cfg, arena, &scratch, result);
    arena_free(&scratch);
    if (status == STATUS_OK) *loops = result;
    return status;
}

bool flow_loop_has(const Loops *loops, u32 loop, u32 block) {
    if (loop == WL_NONE) return false;
    u32 at = loops->loop_of[block];
    while (at != WL_NONE && loops->loops[at].depth > loops->loops[loop].depth) at = loops->loops[at].parent;
    return at == loop;
}
