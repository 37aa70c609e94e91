// SPDX-License-Identifier: Apache-2.0
// Basic blocks and the edges between them.
#include "flow/flow.h"

static bool ends_block(const FlowInsn *insn) {
    return insn->kind != FLOW_PLAIN && (insn->kind != FLOW_CALL || insn->noreturn);
}

static bool falls_through(const FlowInsn *insn) { return !ends_block(insn) || insn->guard != WL_NONE; }

// A return whose targets are known goes back to them.
static bool leaves(const FlowInsn *insn) {
    bool goes_back = insn->kind == FLOW_RET && insn->target_count;
    return ends_block(insn) && insn->kind != FLOW_BRANCH && insn->kind != FLOW_SWITCH && !goes_back;
}

// Sets block_of to the block of every instruction, numbered in program order; returns the number of blocks.
static u32 number_blocks(const FlowCode *code, u32 *block_of) {
    u32 n = code->insn_count;
    for (u32 i = 0; i < n; i++) {  // 1 marks a leader
        const FlowInsn *insn = &code->insns[i];
        for (u32 t = 0; t < insn->target_count; t++)
            if (code->targets[insn->targets + t] < n) block_of[code->targets[insn->targets + t]] = 1;
        if (ends_block(insn) && i + 1 < n) block_of[i + 1] = 1;
    }
    u32 block = 0;
    for (u32 i = 0; i < n; i++) {
        if (i > 0 && block_of[i]) block++;
        block_of[i] = block;
    }
    return block + 1;
}

static void place_blocks(Cfg *cfg) {
    for (u32 i = 0; i < cfg->code->insn_count; i++) {
        FlowBlock *block = &cfg->blocks[cfg->block_of[i]];
        if (block->count++ == 0) block->first = i;
    }
}

// Most edges the CFG can have: every target of a last instruction, and a fall-through each.
static u64 edge_limit(const Cfg *cfg) {
    u64 limit = 0;
    for (u32 b = 0; b < cfg->block_count; b++) {
        const FlowBlock *block = &cfg->blocks[b];
        limit += 1 + (block->count ? cfg->code->insns[block->first + block->count - 1].target_count : 0);
    }
    return limit;
}

// `seen[to]` is b + 1 when the edge b -> to exists already.
static void add_edge(Cfg *cfg, u32 b, u32 insn, u32 *seen) {
    FlowBlock *block = &cfg->blocks[b];
    if (insn >= cfg->code->insn_count) {
        block->leaves = true;
        return;
    }
    u32 to = cfg->block_of[insn];
    if (seen[to] == b + 1) return;
    seen[to] = b + 1;
    cfg->edges[block->succs + block->succ_count++] = to;
    cfg->blocks[to].pred_count++;
}

static u32 add_succs(Cfg *cfg, u32 *seen) {
    u32 edges = 0;
    const FlowCode *code = cfg->code;
    for (u32 b = 0; b < cfg->block_count; b++) {
        FlowBlock *block = &cfg->blocks[b];
        block->succs = edges;
        u32 next = block->first + block->count;
        const FlowInsn *last = block->count ? &code->insns[next - 1] : NULL;
        for (u32 t = 0; last && t < last->target_count; t++) add_edge(cfg, b, code->targets[last->targets + t], seen);
        if (last && leaves(last)) block->leaves = true;
        if (!last || falls_through(last)) add_edge(cfg, b, next, seen);
        edges += block->succ_count;
    }
    return edges;
}

static void add_preds(Cfg *cfg, u32 edges) {
    for (u32 b = 0; b < cfg->block_count; b++) {
        FlowBlock *block = &cfg->blocks[b];
        block->preds = edges;
        edges += block->pred_count;
        block->pred_count = 0;
    }
    for (u32 b = 0; b < cfg->block_count; b++) {
        const FlowBlock *block = &cfg->blocks[b];
        for (u32 s = 0; s < block->succ_count; s++) {
            FlowBlock *to = &cfg->blocks[cfg->edges[block->succs + s]];
            cfg->edges[to->preds + to->pred_count++] = b;
        }
    }
}

// Depth-first search from the entry, last successor first, so that reverse post-order keeps the order of the targets
// and puts a loop's body before what follows it whenever the program does. `stack` and `at` hold a block each.
static void order_blocks(Cfg *cfg, u32 *stack, u32 *at) {
    u32 depth = 0, finished = 0;
    stack[depth++] = 0;
    cfg->blocks[0].reachable = true;
    while (depth > 0) {
        u32 b = stack[depth - 1];
        const FlowBlock *block = &cfg->blocks[b];
        if (at[b] == block->succ_count) {
            cfg->rpo[finished++] = b;
            depth--;
            continue;
        }
        u32 to = cfg->edges[block->succs + at[b]++];
        if (cfg->blocks[to].reachable) continue;
        cfg->blocks[to].reachable = true;
        stack[depth++] = to;
    }
    cfg->rpo_count = finished;
    for (u32 i = 0, j = finished - 1; i < j; i++, j--) {
        u32 swap = cfg->rpo[i];
        cfg->rpo[i] = cfg->rpo[j];
        cfg->rpo[j] = swap;
    }
    for (u32 b = 0; b < cfg->block_count; b++) cfg->rpo_index[b] = WL_NONE;
    for (u32 i = 0; i < finished; i++) cfg->rpo_index[cfg->rpo[i]] = i;
}

static Status build(Cfg *cfg, Arena *arena, Arena *scratch) {
    const FlowCode *code = cfg->code;
    cfg->block_of = ARENA_ARRAY(arena, u32, code->insn_count + 1);
    if (!cfg->block_of) return STATUS_NO_MEMORY;
    cfg->block_count = number_blocks(code, cfg->block_of);
    u32 n = cfg->block_count;
    cfg->blocks = ARENA_ARRAY(arena, FlowBlock, n);
    cfg->rpo = ARENA_ARRAY(arena, u32, n);
    cfg->rpo_index = ARENA_ARRAY(arena, u32, n);
    u32 *seen = ARENA_ARRAY(scratch, u32, n), *stack = ARENA_ARRAY(scratch, u32, n), *at = ARENA_ARRAY(scratch, u32, n);
    if (!cfg->blocks || !cfg->rpo || !cfg->rpo_index || !seen || !stack || !at) return STATUS_NO_MEMORY;
    place_blocks(cfg);
    u64 limit = edge_limit(cfg);
    if (limit > UINT32_MAX / 2) return STATUS_LIMIT;
    cfg->edges = ARENA_ARRAY(arena, u32, limit * 2);
    if (!cfg->edges) return STATUS_NO_MEMORY;
    add_preds(cfg, add_succs(cfg, seen));
    order_blocks(cfg, stack, at);
    return STATUS_OK;
}

Status flow_cfg(const FlowCode *code, Arena *arena, Cfg **cfg) {
    *cfg = NULL;
    Cfg *result = ARENA_NEW(arena, Cfg);
    if (!result) return STATUS_NO_MEMORY;
    result->code = code;
    Arena scratch = {0};
    Status status = build(result, arena, &scratch);
    arena_free(&scratch);
    if (status == STATUS_OK) *cfg = result;
    return status;
}
