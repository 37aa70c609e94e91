// SPDX-License-Identifier: Apache-2.0
// What holds of every blame, on random code with random stalls: nothing is lost, nothing comes from nowhere.
#include <math.h>

#include "analyze/analyze_testing.h"
#include "flow/flow_testing.h"

enum { INSNS = 60, VALUES = 6, PROGRAMS = 400 };

static const BlameOptions variants[] = {
    {0},
    {.published = true, .no_late_arrivers = true, .no_last_source = true, .no_own_steps = true},
    {.no_opcode_pruning = true, .no_dominator_pruning = true, .no_latency_pruning = true},
    {.no_issue_weights = true, .no_path_weights = true},
};

static void make_memory(Sketch *sketch, Random *random) {
    static const u8 spaces[] = {SPACE_NONE, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM};
    for (u32 pc = 0; pc < sketch->insn_count; pc++) {
        FlowInsn *insn = &sketch->insns[pc];
        insn->unit = (u8)random_below(random, UNIT_COUNT);
        if (insn->kind != FLOW_PLAIN) continue;
        u32 what = random_below(random, 8);
        insn->space = spaces[random_below(random, WL_COUNT(spaces))];
        insn->is_load = what == 0;
        insn->is_store = what == 1;
        insn->is_atomic = what == 2;
        insn->is_barrier = what == 3;
        insn->has_effects = what >= 1 && what <= 4;
        if (what <= 1 && insn->uses) insn->address_use = 0;
    }
}

static void make_figures(Subject *s, Random *random) {
    for (u32 pc = 0; pc < s->view.insn_count; pc++) {
        subject_run(s, pc, random_below(random, 4) ? random_below(random, 1000) : 0);
        s->issued[pc] = random_below(random, 4) ? s->executed[pc] * random_below(random, 6) : s->issued[pc];
        for (u32 n = random_below(random, 3); n-- > 0;)
            subject_stall(s, pc, (StallReason)random_below(random, STALL_COUNT), random_below(random, 1000));
    }
    if (!random_below(random, 3)) s->view.executed = NULL;
    if (!random_below(random, 3)) s->view.issued = NULL;
}

// Edges are sorted, and those of a use and reason add up to its samples.
static void check_sums(const Subject *s) {
    const Blame *blame = s->blame;
    const KernelView *view = &s->view;
    u32 at = 0;
    for (u32 pc = 0; pc < view->insn_count; pc++) {
        assert_int_equal(blame->first[pc], at);
        for (u32 r = 0; r < STALL_COUNT; r++) {
            f64 all = 0, latency = 0;
            for (; at < blame->edge_count && blame->edges[at].use == pc && blame->edges[at].reason == r; at++) {
                const BlameEdge *edge = &blame->edges[at];
                assert_true(edge->def < view->insn_count && edge->class < BLAME_CLASS_COUNT);
                assert_true(edge->samples >= 0 && edge->latency_samples >= 0 && isfinite(edge->samples));
                assert_true(at == blame->first[pc] || edge[-1].reason < r || edge[-1].def < edge->def);
                all += edge->samples, latency += edge->latency_samples;
            }
            if (r == STALL_SELECTED) assert_true(all == 0);
            if (r == STALL_SELECTED) continue;
            assert_float_equal(all, (f64)view->samples[pc].all[r], 1e-6 * (all + 1));
            assert_float_equal(latency, (f64)view->samples[pc].latency[r], 1e-6 * (latency + 1));
        }
    }
    assert_int_equal(at, blame->edge_count);
    assert_int_equal(blame->first[view->insn_count], at);
}

static void check_coverage(const Subject *s) {
    const BlameCoverage *c = &s->blame->coverage;
    assert_true(c->single_before <= c->nodes && c->single_after <= c->nodes &&
                c->edges_after <= c->edges_before + c->nodes);
    assert_true(s->blame->unattributed >= 0 && s->blame->unattributed <= (f64)s->view.total + 1e-6);
}

static void check_truth(const Subject *s, Random *random) {
    ProfileStallCause causes[3];
    for (u32 i = 0; i < 3; i++)
        causes[i] = (ProfileStallCause){
            i * 7, STALL_WAIT, random_below(random, 3), random_below(random, INSNS * 2), random_below(random, 100), 1};
    KernelView view = s->view;
    view.causes = causes;
    view.cause_count = 3;
    Blame blame = *s->blame;
    blame.view = &view;
    BlameTruth truth;
    Arena arena = {0};
    assert_int_equal(blame_compare(&blame, &arena, &truth), STATUS_OK);
    arena_free(&arena);
    if (truth.cycles <= 0) return;
    assert_true(truth.precision >= 0 && truth.precision <= 1 + 1e-9);
    assert_true(truth.line_precision >= truth.precision - 1e-9 && truth.line_precision <= 1 + 1e-9);
}

TEST(edges_add_up_to_the_samples) {
    static Sketch sketch;
    static Subject subject;
    Random random = {20261122};
    for (u32 n = 0; n < PROGRAMS; n++) {
        memset(&subject, 0, sizeof subject);
        const FlowCode *code = random_code(&sketch, &random, INSNS, VALUES);
        make_memory(&sketch, &random);
        subject_init(&subject, VIEW_PTX, code);
        make_figures(&subject, &random);
        for (u32 v = 0; v < WL_COUNT(variants); v++) {
            subject_blame(&subject, &variants[v]);
            check_sums(&subject);
            check_coverage(&subject);
            check_truth(&subject, &random);
        }
        subject_free(&subject);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(edges_add_up_to_the_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
