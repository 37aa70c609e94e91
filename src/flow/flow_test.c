// SPDX-License-Identifier: Apache-2.0
// Control flow: hand-made graphs, and random ones against the definitions.
#include "flow/flow_testing.h"

typedef struct Graph {
    Arena arena;
    Cfg *cfg;
    DomTree *dom, *postdom;
    Loops *loops;
} Graph;

static Graph analyse(const FlowCode *code) {
    Graph g = {0};
    assert_int_equal(flow_cfg(code, &g.arena, &g.cfg), STATUS_OK);
    assert_int_equal(flow_dominators(g.cfg, &g.arena, &g.dom), STATUS_OK);
    assert_int_equal(flow_postdominators(g.cfg, &g.arena, &g.postdom), STATUS_OK);
    assert_int_equal(flow_loops(g.cfg, g.dom, &g.arena, &g.loops), STATUS_OK);
    return g;
}

static void expect_parents(const DomTree *tree, const char *parents) {  // '-' = none
    for (u32 b = 0; parents[b]; b++)
        assert_int_equal(tree->parent[b], parents[b] == '-' ? WL_NONE : sketch_name(parents[b]));
}

static void expect_graph(u32 blocks, const char *edges, const char *dom, const char *postdom) {
    Sketch s;
    Graph g = analyse(sketch_graph(&s, blocks, edges));
    assert_int_equal(g.cfg->block_count, blocks);
    expect_parents(g.dom, dom);
    expect_parents(g.postdom, postdom);
    arena_free(&g.arena);
}

TEST(trees_of_known_graphs) {
    expect_graph(4, "01 02 13 23", "-000", "333-");          // diamond
    expect_graph(3, "01 10 12", "-01", "12-");               // loop
    expect_graph(4, "01 02", "-00-", "----");                // two exits; block 3 is unreachable
    expect_graph(5, "01 02 03 14 24 34", "-0000", "4444-");  // switch
    expect_graph(3, "01 12 21", "-01", "12-");               // infinite loop
    expect_graph(4, "01 02 11 23", "-002", "--3-");          // infinite loop beside an exit
    expect_graph(4, "01 02 12 21 13 23", "-000", "333-");    // irreducible
    expect_graph(4, "01 1* 23", "-012", "1-3-");             // a guarded return leaves and falls through
}

TEST(nested_loops) {
    Sketch s;
    Graph g = analyse(sketch_graph(&s, 6, "01 12 23 32 34 41 45"));
    assert_int_equal(g.loops->loop_count, 2);
    const FlowLoop *outer = &g.loops->loops[0], *inner = &g.loops->loops[1];
    assert_int_equal(outer->header, 1);
    assert_int_equal(outer->block_count, 4);
    assert_int_equal(outer->exit_count, 1);
    assert_int_equal(g.loops->members[outer->exits], 5);
    assert_int_equal(inner->header, 2);
    assert_int_equal(inner->parent, 0);
    assert_int_equal(inner->depth, 2);
    assert_int_equal(inner->latch_count, 1);
    assert_int_equal(g.loops->members[inner->latches], 3);
    assert_false(outer->irreducible || inner->irreducible);
    arena_free(&g.arena);
}

TEST(irreducible_loop_is_reported) {
    Sketch s;
    Graph g = analyse(sketch_graph(&s, 4, "01 02 12 21 13 23"));
    assert_int_equal(g.loops->loop_count, 1);
    assert_true(g.loops->loops[0].irreducible);
    assert_int_equal(g.loops->loops[0].block_count, 2);
    arena_free(&g.arena);
}

TEST(empty_function) {
    Sketch s;
    memset(&s, 0, sizeof s);
    Graph g = analyse(sketch_code(&s, 0));
    assert_int_equal(g.cfg->block_count, 1);
    assert_true(g.cfg->blocks[0].leaves);
    assert_int_equal(g.loops->loop_count, 0);
    arena_free(&g.arena);
}

TEST(noreturn_call_leaves) {
    Sketch s;
    memset(&s, 0, sizeof s);
    sketch_insn(&s, FLOW_CALL, WL_NONE);
    sketch_insn(&s, FLOW_CALL, WL_NONE)->noreturn = true;
    sketch_insn(&s, FLOW_RET, WL_NONE);
    Graph g = analyse(sketch_code(&s, 1));
    assert_int_equal(g.cfg->block_count, 2);
    assert_int_equal(g.cfg->blocks[0].count, 2);
    assert_true(g.cfg->blocks[0].leaves);
    assert_false(g.cfg->blocks[1].reachable);
    arena_free(&g.arena);
}

// --- the definitions --------------------------------------------------------------------------------------------

enum { LIMIT = 128 };

typedef struct Reach {
    bool seen[LIMIT];
    bool exit;
} Reach;

// What can be reached from a block without entering `avoid`.
static void reach(const Cfg *cfg, u32 from, u32 avoid, Reach *r) {
    if (from == avoid || r->seen[from]) return;
    r->seen[from] = true;
    const FlowBlock *block = &cfg->blocks[from];
    r->exit |= block->leaves;
    for (u32 i = 0; i < block->succ_count; i++) reach(cfg, cfg->edges[block->succs + i], avoid, r);
}

static void check_edges(const Cfg *cfg) {
    for (u32 b = 0; b < cfg->block_count; b++) {
        const FlowBlock *block = &cfg->blocks[b];
        for (u32 i = 0; i < block->succ_count; i++) {
            const FlowBlock *to = &cfg->blocks[cfg->edges[block->succs + i]];
            u32 found = 0;
            for (u32 p = 0; p < to->pred_count; p++) found += cfg->edges[to->preds + p] == b;
            assert_int_equal(found, 1);
        }
    }
    Reach r = {0};
    reach(cfg, 0, WL_NONE, &r);
    for (u32 b = 0; b < cfg->block_count; b++) assert_int_equal(cfg->blocks[b].reachable, r.seen[b]);
}

static void check_dominators(const Graph *g) {
    for (u32 a = 0; a < g->cfg->block_count; a++) {
        Reach without = {0};
        reach(g->cfg, 0, a, &without);
        for (u32 b = 0; b < g->cfg->block_count; b++) {
            bool expected = a == b || (g->cfg->blocks[a].reachable && g->cfg->blocks[b].reachable && !without.seen[b]);
            assert_int_equal(dom_dominates(g->dom, a, b), expected);
        }
    }
}

// Holds where the exit can be reached; elsewhere only that the tree is complete is checked.
static void check_postdominators(const Graph *g) {
    for (u32 b = 0; b < g->cfg->block_count; b++) {
        Reach all = {0};
        reach(g->cfg, b, WL_NONE, &all);
        if (g->cfg->blocks[b].reachable) assert_int_not_equal(g->postdom->enter[b], WL_NONE);
        bool endless = false;  // on some path from here
        for (u32 c = 0; c < g->cfg->block_count; c++) {
            Reach from = {0};
            if (all.seen[c]) reach(g->cfg, c, WL_NONE, &from);
            endless |= all.seen[c] && !from.exit;
        }
        for (u32 a = 0; a < g->cfg->block_count && !endless && g->cfg->blocks[b].reachable; a++) {
            Reach without = {0};
            reach(g->cfg, b, a, &without);
            assert_int_equal(dom_dominates(g->postdom, a, b), a == b || !without.exit);
        }
    }
}

// Reducible: without the edges whose target dominates their source, no cycle is left.
static bool has_cycle(const Graph *g, u32 b, u8 *state) {
    state[b] = 1;
    const FlowBlock *block = &g->cfg->blocks[b];
    for (u32 i = 0; i < block->succ_count; i++) {
        u32 to = g->cfg->edges[block->succs + i];
        if (dom_dominates(g->dom, to, b)) continue;
        if (state[to] == 1 || (state[to] == 0 && has_cycle(g, to, state))) return true;
    }
    state[b] = 2;
    return false;
}

static void check_loop(const Graph *g, u32 index) {
    const FlowLoop *loop = &g->loops->loops[index];
    const u32 *blocks = g->loops->members + loop->blocks;
    assert_int_equal(blocks[0], loop->header);
    bool entered_elsewhere = false;
    for (u32 i = 0; i < loop->block_count; i++) {
        assert_true(flow_loop_has(g->loops, index, blocks[i]));
        Reach from = {0};
        reach(g->cfg, loop->header, WL_NONE, &from);
        assert_true(from.seen[blocks[i]]);
        Reach back = {0};
        reach(g->cfg, blocks[i], WL_NONE, &back);
        assert_true(back.seen[loop->header]);
        const FlowBlock *block = &g->cfg->blocks[blocks[i]];
        for (u32 p = 0; p < block->pred_count && i > 0; p++) {
            u32 pred = g->cfg->edges[block->preds + p];
            entered_elsewhere |= g->cfg->blocks[pred].reachable && !flow_loop_has(g->loops, index, pred);
        }
    }
    assert_int_equal(loop->irreducible, entered_elsewhere);
    if (loop->parent == WL_NONE) return;
    const FlowLoop *parent = &g->loops->loops[loop->parent];
    assert_true(loop->parent < index && flow_loop_has(g->loops, loop->parent, loop->header));
    assert_true(loop->blocks > parent->blocks);  // the parent's list has this one's as a piece
    assert_true(loop->blocks + loop->block_count <= parent->blocks + parent->block_count);
}

static bool is_listed(const u32 *list, u32 count, u32 block) {
    u32 found = 0;
    for (u32 i = 0; i < count; i++) found += list[i] == block;
    assert_true(found <= 1);
    return found;
}

// What the loop says of its edges, against all edges.
static void check_loop_edges(const Graph *g, u32 index) {
    const FlowLoop *loop = &g->loops->loops[index];
    bool leaves = false, is_exit[LIMIT] = {0};
    u32 blocks = 0;
    for (u32 b = 0; b < g->cfg->block_count; b++) {
        const FlowBlock *block = &g->cfg->blocks[b];
        if (!flow_loop_has(g->loops, index, b)) continue;
        bool latch = false;
        for (u32 i = 0; i < block->succ_count; i++) {
            u32 to = g->cfg->edges[block->succs + i];
            latch |= to == loop->header;
            if (!flow_loop_has(g->loops, index, to)) is_exit[to] = true;
        }
        blocks++;
        leaves |= block->leaves;
        assert_int_equal(is_listed(g->loops->members + loop->latches, loop->latch_count, b), latch);
    }
    assert_int_equal(loop->block_count, blocks);
    assert_int_equal(loop->leaves, leaves);
    for (u32 b = 0; b < g->cfg->block_count; b++)
        assert_int_equal(is_listed(g->loops->members + loop->exits, loop->exit_count, b), is_exit[b]);
}

static void check_loops(const Graph *g) {
    bool irreducible = false;
    for (u32 l = 0; l < g->loops->loop_count; l++) {
        check_loop(g, l);
        check_loop_edges(g, l);
        irreducible |= g->loops->loops[l].irreducible;
    }
    u8 state[LIMIT] = {0};
    assert_int_equal(irreducible, has_cycle(g, 0, state));
    for (u32 b = 0; b < g->cfg->block_count; b++) {  // a block on a cycle is in a loop
        const FlowBlock *block = &g->cfg->blocks[b];
        bool cyclic = false;
        for (u32 i = 0; i < block->succ_count && block->reachable; i++) {
            Reach from = {0};
            reach(g->cfg, g->cfg->edges[block->succs + i], WL_NONE, &from);
            cyclic |= from.seen[b];
        }
        assert_int_equal(g->loops->loop_of[b] != WL_NONE, cyclic);
    }
}

TEST(random_graphs_match_the_definitions) {
    static Sketch s;
    Random random = {20261121};
    for (u32 round = 0; round < 1500; round++) {
        const FlowCode *code = random_code(&s, &random, 1 + random_below(&random, 60), 4);
        Graph g = analyse(code);
        check_edges(g.cfg);
        check_dominators(&g);
        check_postdominators(&g);
        check_loops(&g);
        arena_free(&g.arena);
    }
}

TEST(memory_may_run_out) {
    Sketch s;
    const FlowCode *code = sketch_graph(&s, 6, "01 12 23 32 34 41 45");
    for (u64 n = 0; n < 40; n++) {
        Arena arena = {0};
        Cfg *cfg;
        DomTree *dom;
        Loops *loops;
        u64 left = n;
        testing_memory_out_after(&left);
        Status status = flow_cfg(code, &arena, &cfg);
        if (status == STATUS_OK) status = flow_postdominators(cfg, &arena, &dom);
        if (status == STATUS_OK) status = flow_loops(cfg, dom, &arena, &loops);
        testing_memory_back();
        assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_known_graphs),        cmocka_unit_test(nested_loops),
        cmocka_unit_test(irreducible_loop_is_reported), cmocka_unit_test(empty_function),
        cmocka_unit_test(noreturn_call_leaves),         cmocka_unit_test(random_graphs_match_the_definitions),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
