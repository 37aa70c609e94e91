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
            .launch_trips = -1,
        };
        result->loop_of[b] = loops++;
    }
    return STATUS_OK;
}

typedef Vec(u32) Numbers;

// Preorder intervals of the loop tree, and how many blocks each loop has with its nested ones: parents come before
// children.
static void number_tree(Loops *loops, u32 *size) {
    u32 roots = 0;
    for (u32 l = loops->loop_count; l-- > 0;) {
        FlowLoop *loop = &loops->loops[l];
        size[l]++;
        if (loop->parent == WL_NONE) continue;
        size[loop->parent] += size[l];
        loops->loops[loop->parent].block_count += loop->block_count;
        loops->loops[loop->parent].leaves |= loop->leaves;
    }
    for (u32 l = 0; l < loops->loop_count; l++) {
        FlowLoop *loop = &loops->loops[l];
        u32 *next =
            loop->parent == WL_NONE ? &roots : &size[loop->parent];  // from here on: where the next child begins
        loop->enter = *next;
        loop->leave = *next += size[l];
        size[l] = loop->enter + 1;
    }
}

// Each block once, so that the blocks of a loop with its nested ones lie side by side, whatever the depth.
static Status list_blocks(const Cfg *cfg, Loops *loops, Numbers *members, u32 *next) {
    u32 total = 0;
    TRY(vec_reserve(members, cfg->rpo_count));
    for (u32 i = 0; i < cfg->rpo_count; i++) {
        u32 l = loops->loop_of[cfg->rpo[i]];
        if (l == WL_NONE) continue;
        FlowLoop *loop = &loops->loops[l];
        if (loop->header == cfg->rpo[i]) {
            u32 *place = loop->parent == WL_NONE ? &total : &next[loop->parent];
            loop->blocks = next[l] = *place;
            *place += loop->block_count;
        }
        members->data[next[l]++] = cfg->rpo[i];
    }
    members->len = total;
    return STATUS_OK;
}

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

typedef struct Exit {  // of a loop: a block outside that an edge leads to
    u32 loop, to;
} Exit;
typedef Vec(Exit) Exits;

// Every edge is an exit of the loops around its source up to the first one that has its target too.
static Status find_exits(const Cfg *cfg, const Loops *loops, Exits *exits) {
    for (u32 i = 0; i < cfg->rpo_count; i++) {
        const FlowBlock *block = &cfg->blocks[cfg->rpo[i]];
        for (u32 s = 0; s < block->succ_count; s++) {
            u32 to = cfg->edges[block->succs + s];
            for (u32 l = loops->loop_of[cfg->rpo[i]]; l != WL_NONE && !flow_loop_has(loops, l, to);
                 l = loops->loops[l].parent) {
                loops->loops[l].exit_count++;
                TRY(vec_push(exits, (Exit){l, to}));
            }
        }
    }
    return STATUS_OK;
}

// Sorts the exits by loop into `members`, none twice. `seen` has a word for each block.
static Status list_exits(const Loops *loops, const Exits *exits, Numbers *members, u32 *seen) {
    u32 at = members->len;
    TRY(vec_reserve(members, (u64)at + exits->len));
    members->len = at + exits->len;
    for (u32 l = 0; l < loops->loop_count; l++) {
        loops->loops[l].exits = at;
        at += loops->loops[l].exit_count;
        loops->loops[l].exit_count = 0;
    }
    for (u32 i = 0; i < exits->len; i++) {
        FlowLoop *loop = &loops->loops[exits->data[i].loop];
        members->data[loop->exits + loop->exit_count++] = exits->data[i].to;
    }
    for (u32 l = 0; l < loops->loop_count; l++) {
        FlowLoop *loop = &loops->loops[l];
        u32 *list = members->data + loop->exits, kept = 0;
        for (u32 i = 0; i < loop->exit_count; i++) {
            if (seen[list[i]] == l + 1) continue;
            seen[list[i]] = l + 1;
            list[kept++] = list[i];
        }
        loop->exit_count = kept;
    }
    return STATUS_OK;
}

static Status list_members(const Cfg *cfg, Loops *loops, Numbers *members, Exits *exits, Arena *arena, Arena *scratch) {
    u32 *seen = ARENA_ARRAY(scratch, u32, cfg->block_count),
        *of_loop = ARENA_ARRAY(scratch, u32, loops->loop_count + 1);
    if (!seen || !of_loop) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < cfg->rpo_count; i++) {
        u32 l = loops->loop_of[cfg->rpo[i]];
        if (l == WL_NONE) continue;
        loops->loops[l].block_count++;
        loops->loops[l].leaves |= cfg->blocks[cfg->rpo[i]].leaves;
    }
    number_tree(loops, of_loop);
    TRY(list_blocks(cfg, loops, members, of_loop));
    for (u32 l = 0; l < loops->loop_count; l++) TRY(list_latches(cfg, loops, l, members));
    TRY(find_exits(cfg, loops, exits));
    TRY(list_exits(loops, exits, members, seen));
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
    Exits exits = {0};
    Status status = find_all(&finder, scratch);
    if (status == STATUS_OK) status = name_loops(&finder, arena, loops);
    if (status == STATUS_OK) status = list_members(cfg, loops, &members, &exits, arena, scratch);
    vec_free(&finder.entries);
    vec_free(&members);
    vec_free(&exits);
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
    u32 inner = loops->loop_of[block];
    if (loop == WL_NONE || inner == WL_NONE) return false;
    const FlowLoop *outer = &loops->loops[loop];
    return outer->enter <= loops->loops[inner].enter && loops->loops[inner].enter < outer->leave;
}

bool flow_loop_left_from(const Cfg *cfg, const Loops *loops, u32 loop, u32 block) {
    const FlowBlock *b = &cfg->blocks[block];
    for (u32 i = 0; i < b->succ_count; i++)
        if (!flow_loop_has(loops, loop, cfg->edges[b->succs + i])) return true;
    return false;
}
