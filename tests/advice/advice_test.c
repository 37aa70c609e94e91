// SPDX-License-Identifier: Apache-2.0
// Advice from end to end: kernels with one fault each are simulated, and the rule for that fault must find it where it
// is; and what holds for every advice.
#include "base/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/advice/rule.h"

static char profile_path[64] = "/tmp/wl_advice_XXXXXX";

typedef struct Made {
    Profile *profile;
    KernelViews *views;
    Arena arena;
    AdviceList *list;
    Diag diag;
} Made;

static int simulate(void **state) {
    (void)state;
    char command[512];
    const char *build = getenv("WARPLENS_BUILD");
    int fd = mkstemp(profile_path);
    if (fd < 0) return -1;
    snprintf(
        command, sizeof command,
        "'%s/bin/warplens' sim -q -f --timing -o '%s' tests/advice/kernels.ptx --launch tests/advice/kernels.launch",
        build ? build : "build/release", profile_path);
    return system(command);
}

static int clean(void **state) {
    (void)state;
    return remove(profile_path);
}

static Made make(const AdviceOptions *options) {
    Made m = {0};
    KernelViewOptions views = {.gpu_folder = "gpus"};
    assert_int_equal(profile_open(profile_path, &m.profile, &m.diag), STATUS_OK);
    assert_int_equal(kernel_views_open(m.profile, &views, &m.views, &m.diag), STATUS_OK);
    assert_int_equal(advice_make(m.profile, m.views, options, &m.arena, &m.list, &m.diag), STATUS_OK);
    return m;
}

static void end(Made *m) {
    arena_free(&m->arena);
    kernel_views_close(m->views);
    profile_close(m->profile);
    diag_free(&m->diag);
}

// The best advice for a kernel.
static const Advice *first_of(const AdviceList *list, const char *kernel) {
    for (u32 i = 0; i < list->count; i++)
        if (!strcmp(list->rows[i].kernel->function->name, kernel)) return &list->rows[i];
    return NULL;
}

static void each_fault_is_found(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *rule;
        u32 line;
        f64 least;
    } wanted[] = {
        {"conflicts", "shared-conflicts", 24, 2},
        {"doubles", "wrong-type", 33, 1.3},
        {"rolled", "loop-unrolling", 43, 1.5},
    };
    Made m = make(NULL);
    for (u32 i = 0; i < WL_COUNT(wanted); i++) {
        const Advice *a = first_of(m.list, wanted[i].kernel);
        assert_non_null(a);
        assert_string_equal(a->rule->name, wanted[i].rule);
        assert_non_null(a->scope.line);
        assert_int_equal(a->scope.line->line, wanted[i].line);
        assert_true(a->estimate.speedup > wanted[i].least);
    }
    end(&m);
}

// What the rule says of the line; NULL: nothing.
static const Advice *said_of(const AdviceList *list, const char *kernel, const char *rule, u32 line) {
    for (u32 i = 0; i < list->count; i++) {
        const Advice *a = &list->rows[i];
        bool here = a->scope.line && a->scope.line->line == line;
        if (here && !strcmp(a->kernel->function->name, kernel) && !strcmp(a->rule->name, rule)) return a;
    }
    return NULL;
}

// Faults beside others.
static void each_way_is_found(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *rule;
        u32 line;
        f64 least, most;
    } wanted[] = {
        {"strided", "global-coalescing", 10, 1.0, 1.3},  // rows stay in the L1: columns take 9,257 cycles, not 8,198
        {"late", "code-reordering", 54, 1.03, 1.6},      // a load behind a barrier: gains 13 % on the simulator
        {"summed", "redundant-loads", 67, 1.0, 1.2},     // a sum in shared memory: gains 0.5 % on the simulator,
        {"unrolled_sum", "redundant-loads", 101, 1.0, 1.2},  // ... and 4.5 %
        {"kept_back", "loop-unrolling", 76, 1.5, 4},         // loads behind stores
        {"flagged", "vectorised-access", 82, 1.0, 1.1},      // the loop that a flag decides on stays
        {"twice", "redundant-loads", 121, 1.0, 2},           // what is only read ...
        {"twice", "redundant-loads", 122, 1.0, 4},           // ... and what is stored
        {"odd_lanes", "divergence", 129, 1.0, 1.1},  // half of the lanes have nothing to do: 5,629 cycles, 5,315
    };
    Made m = make(&(AdviceOptions){.least = 1e-6});
    for (u32 i = 0; i < WL_COUNT(wanted); i++) {
        const Advice *a = said_of(m.list, wanted[i].kernel, wanted[i].rule, wanted[i].line);
        assert_non_null(a);
        assert_true(a->estimate.speedup > wanted[i].least && a->estimate.speedup < wanted[i].most);
    }
    assert_non_null(strstr(said_of(m.list, "kept_back", "loop-unrolling", 76)->caution, "behind stores"));
    u32 numbered = 0;
    for (u32 i = 0; i < m.list->count; i++) {
        const Advice *a = &m.list->rows[i];
        if (strcmp(a->rule->name, "block-increase") || strcmp(a->kernel->function->name, "numbered")) continue;
        assert_non_null(strstr(a->what, "smaller CTAs"));  // it has as many threads as it needs
        numbered++;
    }
    assert_int_equal(numbered, 1);
    assert_non_null(strstr(said_of(m.list, "odd_lanes", "divergence", 129)->what, "Give all lanes of a warp work"));
    end(&m);
}

static const Advice *said_by(const AdviceList *list, const char *kernel, const char *rule) {
    for (u32 i = 0; i < list->count; i++)
        if (!strcmp(list->rows[i].kernel->function->name, kernel) && !strcmp(list->rows[i].rule->name, rule))
            return &list->rows[i];
    return NULL;
}

// Lanes part where they leave the loop, not at the test before it that all of them pass; no thread is without work.
static void lanes_part_where_they_leave(void **state) {
    (void)state;
    Made m = make(&(AdviceOptions){.least = 1e-6});
    const Advice *a = said_by(m.list, "uneven", "divergence");
    assert_non_null(a);
    assert_non_null(strstr(a->what, "loops of equal length"));
    for (u32 i = 0; i < a->fact_count; i++) assert_string_not_equal(a->facts[i].name, "idle_threads");
    end(&m);
}

static void who_calls_itself_is_not_inlined(void **state) {
    (void)state;
    Made m = make(&(AdviceOptions){.least = 1e-6});
    assert_null(said_by(m.list, "recursive", "function-inlining"));
    end(&m);
}

// Of one CTA's four rows three could be others', so that a quarter of the time stays; one row is nothing to deal.
static void rows_are_dealt_whole(void **state) {
    (void)state;
    Made m = make(&(AdviceOptions){.least = 1e-6});
    const Advice *a = said_by(m.list, "four_rows", "sm-balance");
    assert_non_null(a);
    assert_true(a->estimate.speedup > 2 && a->estimate.high < 4);
    f64 turn = 0;
    for (u32 i = 0; i < a->fact_count; i++)
        if (!strcmp(a->facts[i].name, "turn_pct_of_launch")) turn = a->facts[i].value;
    assert_true(turn > 23 && turn < 27);
    assert_null(said_by(m.list, "one_row", "sm-balance"));
    end(&m);
}

static void check_estimate(const AdviceEstimate *e) {
    assert_true(isfinite(e->limit) && isfinite(e->error) && e->error >= 0);
    assert_true(1 <= e->low && e->low <= e->speedup && e->speedup <= e->high && e->high <= e->limit);
    assert_true(e->program_low <= e->program_speedup && e->program_speedup <= e->program_high);
    assert_true(e->program_speedup <= e->speedup * (1 + 1e-9));
    assert_true(*e->basis);
}

static void what_holds_for_all(void **state) {
    (void)state;
    Made m = make(&(AdviceOptions){.least = 1e-6});
    assert_string_equal(m.list->provenance, "simulated");
    for (u32 i = 0; i < m.list->count; i++) {
        const Advice *a = &m.list->rows[i];
        check_estimate(&a->estimate);
        assert_true(*a->what && *a->rule->how);
        assert_true(i == 0 || m.list->rows[i - 1].estimate.program_speedup >= a->estimate.program_speedup);
        for (u32 p = 0; p < a->place_count; p++) {
            assert_true(a->places[p].share >= 0 && a->places[p].share <= 1.0001);
            assert_true(p == 0 || a->places[p - 1].share >= a->places[p].share);
        }
        for (u32 j = 0; j < i; j++)  // nothing is said twice
            assert_true(m.list->rows[j].kernel != a->kernel || strcmp(m.list->rows[j].what, a->what) != 0);
    }
    for (u32 k = 0; k < m.list->kernel_count; k++)
        for (u32 i = 0; i < m.list->kernels[k].count; i++)
            assert_ptr_equal(m.list->rows[m.list->ranked[m.list->kernels[k].first + i]].kernel,
                             m.list->kernels[k].view);
    end(&m);
}

static void two_runs_say_the_same(void **state) {
    (void)state;
    Made a = make(NULL), b = make(NULL);
    assert_int_equal(a.list->count, b.list->count);
    for (u32 i = 0; i < a.list->count; i++) {
        assert_string_equal(a.list->rows[i].what, b.list->rows[i].what);
        assert_true(a.list->rows[i].estimate.speedup == b.list->rows[i].estimate.speedup);
        assert_int_equal(a.list->rows[i].group, b.list->rows[i].group);
    }
    end(&a);
    end(&b);
}

static void rules_are_chosen(void **state) {
    (void)state;
    const char *one[] = {"wrong-type"}, *wrong[] = {"loop-unroling"};
    Made m = make(&(AdviceOptions){.only = one, .only_count = 1});
    assert_true(m.list->count > 0);
    for (u32 i = 0; i < m.list->count; i++) assert_string_equal(m.list->rows[i].rule->name, "wrong-type");
    AdviceList *list;
    AdviceOptions options = {.except = wrong, .except_count = 1};
    assert_int_equal(advice_make(m.profile, m.views, &options, &m.arena, &list, &m.diag), STATUS_INVALID);
    assert_non_null(strstr(m.diag.entries.data[m.diag.entries.len - 1].text, "loop-unrolling"));
    end(&m);
    m = make(&(AdviceOptions){.except = one, .except_count = 1});
    for (u32 i = 0; i < m.list->count; i++) assert_string_not_equal(m.list->rows[i].rule->name, "wrong-type");
    end(&m);
}

static bool nothing(void *context, const ProfileFunction *function) {
    (void)context;
    (void)function;
    return false;
}

static void nothing_to_look_at_is_said(void **state) {
    (void)state;
    Made m = make(&(AdviceOptions){.wanted = nothing});
    assert_int_equal(m.list->count, 0);
    assert_int_equal(m.list->note_count, 1);
    end(&m);
}

// What rules see of one kernel.
typedef struct Seen {
    Arena scratch;
    AdviceContext context;
    const KernelView *view;
    AdviceCase c;
} Seen;

static void look_at(Made *m, const char *kernel, Seen *s) {
    const ProfileFunction *const *list;
    u32 count, i = 0;
    *s = (Seen){.context = {.profile = m->profile, .views = m->views, .arena = &m->arena, .diag = &m->diag}};
    assert_int_equal(kernel_views_launched(m->views, 0, NULL, NULL, &list, &count), STATUS_OK);
    while (i < count && strcmp(list[i]->name, kernel)) i++;
    assert_true(i < count);
    assert_int_equal(kernel_views_get(m->views, list[i], &s->view, &m->diag), STATUS_OK);
    s->context.kernels = &s->view;
    s->context.kernel_count = 1;
    assert_int_equal(case_make(&s->context, s->view, &s->scratch, &s->c), STATUS_OK);
    assert_int_equal(s->c.part_count, 1);
}

static void forget(Seen *s) {
    case_free(&s->c);
    arena_free(&s->scratch);
}

static const CaseAccess *load_of(const Seen *s, bool shared) {
    const CasePart *part = &s->c.parts[0];
    for (u32 i = 0; i < part->access_count; i++)
        if (part->accesses[i].load && access_is_shared(&part->accesses[i]) == shared) return &part->accesses[i];
    return NULL;
}

static void loops_and_accesses_are_known(void **state) {
    (void)state;
    Made m = make(NULL);
    Seen s;
    look_at(&m, "rolled", &s);
    const CasePart *part = &s.c.parts[0];
    f64 active = 0, stalled = 0;
    assert_int_equal(part->view->flow.loops->loop_count, 1);
    assert_true(fabs(part->loops[0].trips - 32) < 0.01);
    assert_true(part->loops[0].innermost && !part->loops[0].has_barrier && !part->loops[0].has_call);
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        active += loop_has(part, 0, pc) ? part->insns[pc].issued : 0;
        stalled += loop_has(part, 0, pc) ? part->insns[pc].stalled : 0;
    }
    assert_true(fabs(part->loops[0].active - active) < 1e-6 * active);
    assert_true(fabs(part->loops[0].stalled - stalled) < 1e-6 * stalled);
    assert_true(s.c.load.total > active + stalled);
    const CaseAccess *load = load_of(&s, false);
    assert_true(load->known == ACCESS_COUNTED && load->sectors == 4 && load->fewest == 4);
    forget(&s);
    look_at(&m, "strided", &s);
    load = load_of(&s, false);
    assert_true(load->sectors == 32 && load->fewest == 4 && load->lanes == 32);
    assert_true(s.c.load.busy[RESOURCE_LSU] > 0.2);
    forget(&s);
    look_at(&m, "conflicts", &s);
    load = load_of(&s, true);
    assert_true(load->passes == 32 && load->fewest_passes == 1);
    forget(&s);
    end(&m);
}

// The time of all cycles is what the warps' samples add up to, and nobody is busy for more than all of it.
static void loads_are_possible(void **state) {
    (void)state;
    static const char *const kernels[] = {"rolled", "strided", "conflicts", "doubles"};
    Made m = make(NULL);
    for (u32 i = 0; i < WL_COUNT(kernels); i++) {
        Seen s;
        look_at(&m, kernels[i], &s);
        const EstimateLoad *load = &s.c.load;
        assert_true(load->issued > 0 && load->issued + load->not_selected <= load->total);
        assert_true(load->issue_rate > 0 && load->issue_rate <= 1);
        for (u32 r = 0; r < RESOURCE_COUNT; r++) {
            f64 used = 0;
            for (u32 pc = 0; pc < s.view->insn_count; pc++) used += s.c.parts[0].insns[pc].use[r];
            assert_true(load->busy[r] >= 0 && load->busy[r] <= 1 && load->queued[r] <= load->total);
            assert_true(used <= load->busy[r] * (1 + 1e-6));
        }
        f64 unchanged = estimate_time(load, &(EstimateChange){0});
        assert_true(fabs(unchanged - 1) < 1e-6);
        forget(&s);
    }
    end(&m);
}

static void rows_are_complete(void **state) {
    (void)state;
    for (u32 i = 0; i < advice_rule_count; i++) {
        const AdviceRule *r = &advice_rules[i];
        assert_true(*r->name && *r->title && *r->why && *r->how);
        assert_true(r->record.scale > 0 && r->record.width > 0 && r->record.helped <= r->record.tried);
        for (u32 j = 0; j < i; j++) assert_string_not_equal(advice_rules[j].name, r->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_found),
        cmocka_unit_test(each_way_is_found),
        cmocka_unit_test(lanes_part_where_they_leave),
        cmocka_unit_test(who_calls_itself_is_not_inlined),
        cmocka_unit_test(what_holds_for_all),
        cmocka_unit_test(two_runs_say_the_same),
        cmocka_unit_test(rules_are_chosen),
        cmocka_unit_test(nothing_to_look_at_is_said),
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(loops_and_accesses_are_known),
        cmocka_unit_test(loads_are_possible),
        cmocka_unit_test(rows_are_dealt_whole),
    };
    return cmocka_run_group_tests(tests, simulate, clean);
}
