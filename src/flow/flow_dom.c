// SPDX-License-Identifier: Apache-2.0
// Dominators and post-dominators: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (Rice, 2001).
#include "flow/flow.h"

// A view of the CFG, forwards or backwards, with one more node: `root`, the virtual entry or exit.
typedef struct DomGraph {
    const Cfg *cfg;
    u32 root;       // = block_count
    bool backward;  // post-dominators
    bool *rooted;   // blocks with an edge from the root
    u32 *order;     // nodes in reverse post-order from the root, the root first
    u32 order_count;
    u32 *index;       // node -> position in order, WL_NONE when not reached
    u32 *stack, *at;  // of the depth-first search
} DomGraph;

static const u32 *next_blocks(const DomGraph *g, u32 b, u32 *count, bool backward) {
    const FlowBlock *block = &g->cfg->blocks[b];
    *count = backward ? block->pred_count : block->succ_count;
    return g->cfg->edges + (backward ? block->preds : block->succs);
}

// Depth-first search over reachable blocks not yet in `index`; appends them to order[] as they are finished.
static void search(DomGraph *g, u32 start) {
    u32 depth = 0;
    g->stack[depth++] = start;
    g->index[start] = 0;
    g->at[start] = 0;
    while (depth > 0) {
        u32 b = g->stack[depth - 1], count;
        const u32 *next = next_blocks(g, b, &count, g->backward);
        if (g->at[b] == count) {
            g->order[g->order_count++] = b;
            depth--;
            continue;
        }
        u32 to = next[g->at[b]++];
        if (g->index[to] != WL_NONE || !g->cfg->blocks[to].reachable) continue;
        g->index[to] = 0;
        g->at[to] = 0;
        g->stack[depth++] = to;
    }
}

static void clear_order(DomGraph *g) {
    g->order_count = 0;
    for (u32 b = 0; b <= g->root; b++) g->index[b] = WL_NONE;
}

static void search_from_roots(DomGraph *g) {
    clear_order(g);
    for (u32 b = 0; b < g->root; b++)
        if (g->rooted[b] && g->index[b] == WL_NONE) search(g, b);
}

// Gives every region that cannot reach the exit an edge to it. The last block to finish a search of the reversed graph
// lies in a strongly connected component that no other one follows (Kosaraju); what reaches it is then done.
static void root_endless_regions(DomGraph *g) {
    search_from_roots(g);
    u32 reached = g->order_count;
    for (u32 i = g->cfg->rpo_count; i-- > 0;)
        if (g->index[g->cfg->rpo[i]] == WL_NONE) search(g, g->cfg->rpo[i]);
    u32 end = g->order_count;
    if (end == reached) return;
    u32 *endless = g->order + reached;  // read from the end while searches write from the front
    for (u32 i = 0; i < end - reached; i++) g->index[endless[i]] = WL_NONE;
    u32 *done = g->order;
    u32 left = end - reached;
    for (u32 i = left; i-- > 0;) {
        u32 b = endless[i];
        if (g->index[b] != WL_NONE) continue;
        g->rooted[b] = true;
        g->order = g->stack + g->root + 1;  // its result is not needed
        g->order_count = 0;
        search(g, b);
    }
    g->order = done;
}

// Reverse post-order with the root in front.
static void finish_order(DomGraph *g) {
    g->order[g->order_count++] = g->root;
    for (u32 i = 0, j = g->order_count - 1; i < j; i++, j--) {
        u32 swap = g->order[i];
        g->order[i] = g->order[j];
        g->order[j] = swap;
    }
    for (u32 i = 0; i < g->order_count; i++) g->index[g->order[i]] = i;
}

// In positions of the order: the parent always has the smaller one.
static u32 intersect(const u32 *parent, u32 a, u32 b) {
    while (a != b) {
        while (a > b) a = parent[a];
        while (b > a) b = parent[b];
    }
    return a;
}

static u32 common_parent(const DomGraph *g, const u32 *parent, u32 b) {
    u32 count, result = g->rooted[b] ? 0 : WL_NONE;
    const u32 *from = next_blocks(g, b, &count, !g->backward);
    for (u32 i = 0; i < count; i++) {
        u32 at = g->index[from[i]];
        if (at == WL_NONE || parent[at] == WL_NONE) continue;
        result = result == WL_NONE ? at : intersect(parent, at, result);
    }
    return result;
}

// One pass in reverse post-order; whether anything changed.
static bool pass(const DomGraph *g, u32 *parent) {
    bool changed = false;
    for (u32 i = 1; i < g->order_count; i++) {
        u32 found = common_parent(g, parent, g->order[i]);
        changed |= found != parent[i];
        parent[i] = found;
    }
    return changed;
}

// Subtree sizes from the leaves up, then intervals from the roots down; both follow the order, in which parents come
// before their children.
static void number_tree(const DomGraph *g, DomTree *tree, u32 *size) {
    for (u32 b = 0; b < g->root; b++) tree->enter[b] = WL_NONE;
    for (u32 i = 1; i < g->order_count; i++) size[g->order[i]] = 1;
    for (u32 i = g->order_count - 1; i > 0; i--) {
        u32 b = g->order[i];
        if (tree->parent[b] != WL_NONE) size[tree->parent[b]] += size[b];
    }
    u32 next = 0;
    u32 *used = g->at;  // of each subtree's interval
    for (u32 i = 1; i < g->order_count; i++) {
        u32 b = g->order[i], parent = tree->parent[b];
        u32 *from = parent == WL_NONE ? &next : &used[parent];
        tree->depth[b] = parent == WL_NONE ? 0 : tree->depth[parent] + 1;
        tree->enter[b] = *from;
        tree->leave[b] = *from + size[b];
        *from += size[b];
        used[b] = tree->enter[b] + 1;
    }
}

static void fill_tree(const DomGraph *g, const u32 *parent, DomTree *tree, u32 *size) {
    for (u32 b = 0; b < g->root; b++) tree->parent[b] = WL_NONE;
    for (u32 i = 1; i < g->order_count; i++)
        if (parent[i] != 0) tree->parent[g->order[i]] = g->order[parent[i]];
    number_tree(g, tree, size);
}

// The first pass has not seen the edges that lead back in the order. Those to a dominator of where they begin change
// nothing, and reducible code has no others; further passes would walk up from the end of each loop to its begin, which
// in deep nests takes the square of their depth.
static bool is_settled(const DomGraph *g, const DomTree *tree) {
    for (u32 i = 1; i < g->order_count; i++) {
        u32 b = g->order[i], count;
        const u32 *from = next_blocks(g, b, &count, !g->backward);
        for (u32 p = 0; p < count; p++) {
            u32 at = g->index[from[p]];
            if (at != WL_NONE && at >= i && !dom_dominates(tree, b, from[p])) return false;
        }
    }
    return true;
}

static Status make_tree(DomGraph *g, Arena *scratch, DomTree *tree) {
    u32 *parent = ARENA_ARRAY(scratch, u32, g->root + 1), *size = ARENA_ARRAY(scratch, u32, g->root + 1);
    if (!parent || !size) return STATUS_NO_MEMORY;
    search_from_roots(g);
    finish_order(g);
    for (u32 i = 1; i < g->order_count; i++) parent[i] = WL_NONE;
    pass(g, parent);
    fill_tree(g, parent, tree, size);
    if (is_settled(g, tree)) return STATUS_OK;
    while (pass(g, parent)) continue;
    fill_tree(g, parent, tree, size);
    return STATUS_OK;
}

static Status build(const Cfg *cfg, bool backward, Arena *scratch, DomTree *tree) {
    u32 n = cfg->block_count;
    DomGraph g = {.cfg = cfg, .root = n, .backward = backward};
    g.rooted = ARENA_ARRAY(scratch, bool, n + 1);
    g.order = ARENA_ARRAY(scratch, u32, n + 1);
    g.index = ARENA_ARRAY(scratch, u32, n + 1);
    g.stack = ARENA_ARRAY(scratch, u32, 2 * ((size_t)n + 1));
    g.at = ARENA_ARRAY(scratch, u32, n + 1);
    if (!g.rooted || !g.order || !g.index || !g.stack || !g.at) return STATUS_NO_MEMORY;
    if (backward) {
        for (u32 b = 0; b < n; b++) g.rooted[b] = cfg->blocks[b].leaves && cfg->blocks[b].reachable;
        root_endless_regions(&g);
    } else {
        g.rooted[0] = true;
    }
    return make_tree(&g, scratch, tree);
}

static Status dom_tree(const Cfg *cfg, bool backward, Arena *arena, DomTree **tree) {
    *tree = NULL;
    DomTree *result = ARENA_NEW(arena, DomTree);
    if (!result) return STATUS_NO_MEMORY;
    result->parent = ARENA_ARRAY(arena, u32, cfg->block_count);
    result->depth = ARENA_ARRAY(arena, u32, cfg->block_count);
    result->enter = ARENA_ARRAY(arena, u32, cfg->block_count);
    result->leave = ARENA_ARRAY(arena, u32, cfg->block_count);
    if (!result->parent || !result->depth || !result->enter || !result->leave) return STATUS_NO_MEMORY;
    Arena scratch = {0};
    Status status = build(cfg, backward, &scratch, result);
    arena_free(&scratch);
    if (status == STATUS_OK) *tree = result;
    return status;
}

Status flow_dominators(const Cfg *cfg, Arena *arena, DomTree **tree) { return dom_tree(cfg, false, arena, tree); }

Status flow_postdominators(const Cfg *cfg, Arena *arena, DomTree **tree) { return dom_tree(cfg, true, arena, tree); }

bool dom_dominates(const DomTree *tree, u32 a, u32 b) {
    if (a == b) return true;
    if (tree->enter[a] == WL_NONE || tree->enter[b] == WL_NONE) return false;
    return tree->enter[a] <= tree->enter[b] && tree->enter[b] < tree->leave[a];
}
