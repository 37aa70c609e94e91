// SPDX-License-Identifier: Apache-2.0
// Divergence: random programs are run by a small warp with a reconvergence stack; whatever was called uniform must be
// the same in all active lanes, every time.
#include "flow/flow_results.h"
#include "flow/flow_testing.h"

enum { LANES = 4, VALUES = 8, INSNS = 60, STEPS = 600, STACK = 128, LEFT = UINT32_MAX };

typedef struct Level {
    u32 pc;    // instruction
    u32 meet;  // block where these lanes join those below, WL_NONE = the exit
    u32 mask;
} Level;

typedef struct Warp {
    const FlowCode *code;
    const Cfg *cfg;
    const DomTree *postdom;
    const DivergenceInfo *info;
    u64 values[LANES][VALUES];
    u64 made;  // differs at each divergent definition
    Level stack[STACK];
    u32 depth;
    u32 checks;
} Warp;

static u64 mix(u64 a, u64 b) {
    a = (a ^ b) * 0x9E3779B97F4A7C15ull;
    return a ^ a >> 29;
}

static u64 sources(const Warp *w, u32 lane, const FlowInsn *insn) {
    u64 sum = insn->operands;
    for (u32 u = 0; u < insn->uses; u++)
        sum = mix(sum, w->values[lane][w->code->operands[insn->operands + insn->defs + u].id]);
    return sum;
}

static bool guard_holds(const Warp *w, u32 lane, const FlowInsn *insn) {
    return insn->guard == WL_NONE || (w->values[lane][insn->guard] >> 7 & 1) != insn->guard_negated;
}

static bool same(const Warp *w, u32 mask, u32 value) {
    u32 first = (u32)__builtin_ctz(mask);
    for (u32 lane = 0; lane < LANES; lane++)
        if ((mask >> lane & 1) && w->values[lane][value] != w->values[first][value]) return false;
    return true;
}

static void check_insn(Warp *w, u32 index, u32 mask) {
    const FlowInsn *insn = &w->code->insns[index];
    for (u32 u = insn->operands + insn->defs; u < insn->operands + insn->defs + insn->uses; u++) {
        if (divergence_of_use(w->info, index, u)) continue;
        assert_true(same(w, mask, w->code->operands[u].id));
        w->checks++;
    }
    if (insn->guard != WL_NONE && !divergence_of_guard(w->info, index)) assert_true(same(w, mask, insn->guard));
}

static void execute(Warp *w, const FlowInsn *insn, u32 mask) {
    u64 results[LANES];
    for (u32 lane = 0; lane < LANES; lane++) results[lane] = sources(w, lane, insn);
    for (u32 lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1) || !guard_holds(w, lane, insn)) continue;
        if (insn->divergence == DIV_DIVERGENT) results[lane] = mix(++w->made, lane);
        for (u32 d = 0; d < insn->defs; d++)
            w->values[lane][w->code->operands[insn->operands + d].id] = mix(results[lane], d);
    }
}

static u32 next_pc(const Warp *w, u32 lane, u32 pc) {
    const FlowInsn *insn = &w->code->insns[pc];
    u32 next = pc + 1;
    if (insn->kind != FLOW_PLAIN && guard_holds(w, lane, insn)) {
        next = LEFT;
        if (insn->target_count)
            next = w->code->targets[insn->targets + (sources(w, lane, insn) >> 9) % insn->target_count];
    }
    return next < w->code->insn_count ? next : LEFT;
}

static void push(Warp *w, Level level) {
    assert_true(w->depth < STACK);
    w->stack[w->depth++] = level;
}

// Lanes that go different ways are run one group after the other up to the post-dominator.
static void branch(Warp *w, u32 pc, const u32 *next) {
    Level *top = &w->stack[w->depth - 1];
    u32 mask = top->mask, meet = w->postdom->parent[w->cfg->block_of[pc]], left = mask, staying = 0;
    for (u32 lane = 0; lane < LANES; lane++)
        if ((mask >> lane & 1) && next[lane] != LEFT) staying |= 1u << lane;
    if (meet == WL_NONE)
        w->depth--;
    else
        top->pc = w->cfg->blocks[meet].first, top->mask = staying;
    for (left = staying; left;) {
        u32 group = 0, to = next[__builtin_ctz(left)];
        for (u32 lane = 0; lane < LANES; lane++)
            if ((left >> lane & 1) && next[lane] == to) group |= 1u << lane;
        left &= ~group;
        push(w, (Level){to, meet, group});
    }
    for (u32 i = 0; i < w->depth; i++) w->stack[i].mask &= ~(mask & ~staying);
}

static void step(Warp *w) {
    Level *top = &w->stack[w->depth - 1];
    u32 pc = top->pc;
    if (!top->mask || (top->meet != WL_NONE && pc == w->cfg->blocks[top->meet].first)) {
        w->depth--;
        return;
    }
    check_insn(w, pc, top->mask);
    execute(w, &w->code->insns[pc], top->mask);
    u32 next[LANES] = {0}, first = next_pc(w, (u32)__builtin_ctz(top->mask), pc);
    bool together = true;
    for (u32 lane = 0; lane < LANES; lane++) {
        next[lane] = next_pc(w, lane, pc);
        if (top->mask >> lane & 1) together &= next[lane] == first;
    }
    if (!together) assert_true(bitset_has(&w->info->branches, pc));
    if (together && first != LEFT)
        top->pc = first;
    else
        branch(w, pc, next);
}

TEST(what_is_called_uniform_is) {
    static Sketch sketch;
    static Warp warp;
    Random random = {99};
    u32 checks = 0;
    for (u32 round = 0; round < 3000; round++) {
        u32 count = 2 + random_below(&random, INSNS - 2);
        random_code(&sketch, &random, count, VALUES);
        for (u32 i = 0; i < count; i++)
            if (sketch.insns[i].kind == FLOW_PLAIN && random_below(&random, 12) == 0)
                sketch.insns[i].divergence = DIV_DIVERGENT;
        Arena arena = {0};
        FlowResults results;
        assert_int_equal(flow_analyse(&sketch.code, &arena, &results), STATUS_OK);
        memset(&warp, 0, sizeof warp);
        warp.code = &sketch.code;
        warp.cfg = results.cfg;
        warp.postdom = results.postdominators;
        warp.info = results.divergence;
        push(&warp, (Level){0, WL_NONE, (1u << LANES) - 1});
        for (u32 n = 0; n < STEPS && warp.depth > 0 && warp.depth < STACK - LANES; n++) step(&warp);
        checks += warp.checks;
        arena_free(&arena);
    }
    assert_true(checks > 10000);  // it was not all called divergent
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_called_uniform_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
