// SPDX-License-Identifier: Apache-2.0
// Liveness and chains on random programs, against the definitions: search over instructions.
#include "flow/chains.h"
#include "flow/flow_testing.h"

enum { INSNS = 80, VALUES = 8 };

typedef struct Subject {
    const FlowCode *code;
    Arena arena;
    Cfg *cfg;
    Liveness *live;
    Chains *chains;
} Subject;

static Subject analyse(const FlowCode *code) {
    Subject s = {.code = code};
    assert_int_equal(flow_cfg(code, &s.arena, &s.cfg), STATUS_OK);
    assert_int_equal(flow_liveness(s.cfg, &s.arena, &s.live), STATUS_OK);
    assert_int_equal(flow_chains(s.live, &s.arena, &s.chains), STATUS_OK);
    return s;
}

static u32 next_insns(const FlowCode *code, u32 i, u32 *next) {
    const FlowInsn *insn = &code->insns[i];
    u32 count = 0;
    for (u32 t = 0; t < insn->target_count; t++) next[count++] = code->targets[insn->targets + t];
    if (insn->kind == FLOW_PLAIN || insn->guard != WL_NONE) next[count++] = i + 1;
    u32 kept = 0;
    for (u32 k = 0; k < count; k++)
        if (next[k] < code->insn_count) next[kept++] = next[k];
    return kept;
}

static bool reads(const FlowCode *code, u32 i, u32 value) {
    const FlowInsn *insn = &code->insns[i];
    for (u32 u = 0; u < insn->uses; u++)
        if (code->operands[insn->operands + insn->defs + u].id == value) return true;
    return insn->guard == value;
}

static bool kills(const FlowCode *code, u32 i, u32 value) {
    const FlowInsn *insn = &code->insns[i];
    for (u32 d = 0; d < insn->defs; d++)
        if (code->operands[insn->operands + d].id == value && insn->guard == WL_NONE) return true;
    return false;
}

// Marks the instructions that read `value` as it is right before `i`.
static void find_readers(const FlowCode *code, u32 i, u32 value, bool *seen, bool *reader) {
    if (seen[i]) return;
    seen[i] = true;
    if (reads(code, i, value)) reader[i] = true;
    if (kills(code, i, value)) return;
    u32 next[16], count = next_insns(code, i, next);
    for (u32 k = 0; k < count; k++) find_readers(code, next[k], value, seen, reader);
}

static bool any(const bool *flags, u32 count) {
    for (u32 i = 0; i < count; i++)
        if (flags[i]) return true;
    return false;
}

static void check_liveness(const Subject *s) {
    for (u32 b = 0; b < s->cfg->block_count; b++) {
        for (u32 v = 0; v < VALUES && s->cfg->blocks[b].reachable; v++) {
            bool seen[INSNS] = {0}, reader[INSNS] = {0};
            find_readers(s->code, s->cfg->blocks[b].first, v, seen, reader);
            assert_int_equal(liveness_has_in(s->live, b, v), any(reader, INSNS));
        }
    }
}

static void check_steps(const Subject *s) {
    u32 units[INSNS], most = 0;
    RegisterPressure pressure;
    assert_int_equal(flow_pressure_by_insn(s->live, units, NULL, &pressure), STATUS_OK);
    Arena arena = {0};
    Bitset set, begin;
    assert_true(bitset_init(&set, &arena, VALUES) && bitset_init(&begin, &arena, VALUES));
    for (u32 b = 0; b < s->cfg->block_count; b++) {
        const FlowBlock *block = &s->cfg->blocks[b];
        bitset_clear(&set);
        bitset_clear(&begin);
        liveness_add_out(s->live, b, &set);
        liveness_add_in(s->live, b, &begin);
        for (u32 i = block->first + block->count; i-- > block->first && block->reachable;) {
            liveness_step_back(s->code, i, &set);
            assert_int_equal(units[i], bitset_count(&set));
            if (units[i] > most) most = units[i];
        }
        assert_true(bitset_equal(&set, &begin));
    }
    assert_true(pressure.units >= most && pressure.units <= most + 2);
    arena_free(&arena);
}

static bool is_later_def(const FlowCode *code, const FlowInsn *insn,
                         u32 operand) {  // overwritten by the same instruction
    for (u32 o = operand + 1; o < insn->operands + insn->defs; o++)
        if (code->operands[o].id == code->operands[operand].id) return insn->guard == WL_NONE;
    return false;
}

static void expect_readers(const Subject *s, ChainWalk *walk, u32 node, const bool *reader) {
    assert_int_equal(chain_readers(walk, node), STATUS_OK);
    bool found[INSNS] = {0};
    for (u32 k = 0; k < walk->found.len; k++) found[walk->found.data[k]] = true;
    for (u32 i = 0; i < s->code->insn_count; i++) assert_int_equal(found[i], reader[i]);
}

static bool contains(const ChainWalk *walk, u32 node) {
    for (u32 k = 0; k < walk->found.len; k++)
        if (walk->found.data[k] == node) return true;
    return false;
}

// reaches[def node][insn]: the definition is read there.
static void check_uses(const Subject *s, ChainWalk *walk, bool (*reaches)[INSNS]) {
    for (u32 i = 0; i < s->code->insn_count; i++) {
        const FlowInsn *insn = &s->code->insns[i];
        if (!s->cfg->blocks[s->cfg->block_of[i]].reachable) continue;
        for (u32 u = 0; u <= insn->uses; u++) {
            u32 operand = insn->operands + insn->defs + u;
            bool guard = u == insn->uses;
            if (guard && insn->guard == WL_NONE) continue;
            u32 value = guard ? insn->guard : s->code->operands[operand].id;
            u32 node = guard ? s->chains->of_guard[i] : s->chains->of_operand[operand];
            assert_int_equal(chain_reaching(walk, node), STATUS_OK);
            for (u32 d = 0; d < s->chains->def_count; d++)
                if (s->chains->nodes[d].value == value) assert_int_equal(contains(walk, d), reaches[d][i]);
            bool seen[INSNS] = {0}, undefined[INSNS] = {0};
            find_readers(s->code, 0, value, seen, undefined);
            assert_int_equal(walk->undefined, undefined[i]);
        }
    }
}

static void check_chains(Subject *s) {
    static bool reaches[INSNS * 2][INSNS];
    memset(reaches, 0, sizeof reaches);
    ChainWalk walk;
    assert_int_equal(chain_walk_init(&walk, s->chains, &s->arena), STATUS_OK);
    for (u32 d = 0; d < s->chains->def_count; d++) {
        const ChainNode *node = &s->chains->nodes[d];
        const FlowInsn *insn = &s->code->insns[node->insn];
        bool seen[INSNS] = {0};
        u32 next[16], count = next_insns(s->code, node->insn, next);
        bool alive = s->cfg->blocks[node->block].reachable && !is_later_def(s->code, insn, node->operand);
        for (u32 k = 0; k < count && alive; k++) find_readers(s->code, next[k], node->value, seen, reaches[d]);
        expect_readers(s, &walk, d, reaches[d]);
    }
    check_uses(s, &walk, reaches);
    chain_walk_free(&walk);
}

TEST(random_programs_match_the_definitions) {
    static Sketch sketch;
    Random random = {42};
    for (u32 round = 0; round < 1500; round++) {
        Subject s = analyse(random_code(&sketch, &random, 1 + random_below(&random, INSNS - 1), VALUES));
        check_liveness(&s);
        check_steps(&s);
        check_chains(&s);
        arena_free(&s.arena);
    }
}

// v0 = ..; if v1: v0 = ..; use v0
TEST(guarded_definition_keeps_the_one_before) {
    Sketch sketch;
    memset(&sketch, 0, sizeof sketch);
    sketch_insn(&sketch, FLOW_PLAIN, WL_NONE);
    sketch_def(&sketch, 0);
    sketch_insn(&sketch, FLOW_PLAIN, 1);
    sketch_def(&sketch, 0);
    sketch_insn(&sketch, FLOW_RET, WL_NONE);
    sketch_use(&sketch, 0);
    Subject s = analyse(sketch_code(&sketch, 2));
    ChainWalk walk;
    assert_int_equal(chain_walk_init(&walk, s.chains, &s.arena), STATUS_OK);
    assert_int_equal(chain_reaching(&walk, s.chains->of_operand[2]), STATUS_OK);
    assert_int_equal(walk.found.len, 2);
    assert_false(walk.undefined);
    assert_int_equal(s.chains->node_count, 2);
    chain_walk_free(&walk);
    arena_free(&s.arena);
}

TEST(memory_may_run_out) {
    static Sketch sketch;
    Random random = {7};
    const FlowCode *code = random_code(&sketch, &random, 60, VALUES);
    for (u64 n = 0; n < 100; n++) {
        Arena arena = {0};
        Cfg *cfg;
        Liveness *live;
        Chains *chains;
        u64 left = n;
        testing_memory_out_after(&left);
        Status status = flow_cfg(code, &arena, &cfg);
        if (status == STATUS_OK) status = flow_liveness(cfg, &arena, &live);
        if (status == STATUS_OK) status = flow_chains(live, &arena, &chains);
        testing_memory_back();
        assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guarded_definition_keeps_the_one_before),
        cmocka_unit_test(random_programs_match_the_definitions),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
