// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "metric/formula.h"
#include "metric/metric.h"

static f64 value_of(const char *text, const MetricSet *set) {
    Formula formula;
    assert_int_equal(formula_compile(text, &formula, NULL), STATUS_OK);
    return formula_run(&formula, set);
}

static void catalogue_is_sound(void **state) {
    (void)state;
    const char *bad = NULL;
    Status status = metric_check(&bad);
    if (status != STATUS_OK) fail_msg("metrics.def: %s", bad);
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        assert_int_equal(metric_find(metric_table[i].name), i);
        assert_true(strlen(metric_table[i].text) > 0);
    }
    assert_int_equal(metric_find("no such metric"), METRIC_COUNT);
}

static void formulas_compute(void **state) {
    (void)state;
    static const struct {
        const char *text;
        f64 value;
    } cases[] = {
        {"1 + 2 * 3", 7},     {"(1 + 2) * 3", 9}, {"10 - 4 - 3", 3}, {"24 / 4 / 2", 3}, {"-2 * -3", 6},
        {"min(3, 2 + 2)", 3}, {"max(3,4)*2", 8},  {"0.25*8", 2},     {"  1+1  ", 2},    {"min(max(1,2),max(3,4))", 2},
        {"--1", 1},
    };
    MetricSet set = {0};
    for (u32 i = 0; i < WL_COUNT(cases); i++) assert_true(value_of(cases[i].text, &set) == cases[i].value);
}

static void mistakes_are_found(void **state) {
    (void)state;
    static const struct {
        const char *text;
        Status status;
        u32 at;
    } cases[] = {
        {"", STATUS_INVALID, 0},       {"1 +", STATUS_INVALID, 3},   {"(1", STATUS_INVALID, 2},
        {"1 2", STATUS_INVALID, 2},    {"1..2", STATUS_INVALID, 2},  {"1 / nothing.sum", STATUS_NOT_FOUND, 4},
        {"min(1)", STATUS_INVALID, 5}, {"min", STATUS_NOT_FOUND, 0}, {"3x", STATUS_INVALID, 1},
        {"1 % 2", STATUS_INVALID, 2},
    };
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        Formula formula;
        u32 at;
        assert_int_equal(formula_compile(cases[i].text, &formula, &at), cases[i].status);
        assert_int_equal(at, cases[i].at);
        assert_int_equal(formula.count, 0);
    }
}

static void long_formulas_hit_limits(void **state) {
    (void)state;
    char deep[400], wide[400], stack[400];
    memset(deep, '(', sizeof deep);
    strcpy(deep + 300, "1");
    char *out = wide;
    for (u32 i = 0; i < 40; i++) out = stpcpy(out, i ? "+1" : "1");
    out = stack;
    for (u32 i = 0; i < 20; i++) out = stpcpy(out, "1+(");
    strcpy(out, "1");
    Formula formula;
    assert_int_equal(formula_compile(deep, &formula, NULL), STATUS_LIMIT);
    assert_int_equal(formula_compile(wide, &formula, NULL), STATUS_LIMIT);
    assert_int_equal(formula_compile(stack, &formula, NULL), STATUS_LIMIT);
}

static void absent_and_undefined(void **state) {
    (void)state;
    MetricSet set = {0};
    metric_evaluate(&set);
    assert_false(set.present[METRIC_LANES]);
    metric_add(&set, METRIC_THREAD_INST, 64);
    metric_evaluate(&set);
    assert_false(set.present[METRIC_LANES]);  // 64 / 0
    metric_add(&set, METRIC_INST, 4);
    metric_evaluate(&set);
    assert_true(set.present[METRIC_LANES] && set.value[METRIC_LANES] == 16);
    assert_true(set.present[METRIC_LANE_PCT] && set.value[METRIC_LANE_PCT] == 50);
    assert_false(set.present[METRIC_GLOBAL_LD_SPR]);
    metric_add(&set, METRIC_SHARED_LD, 2);  // one input of several is enough
    metric_evaluate(&set);
    assert_true(set.present[METRIC_SHARED_CONFLICT_DEGREE] && set.value[METRIC_SHARED_CONFLICT_DEGREE] == 0);
    set.value[METRIC_INST] = INFINITY;
    set.value[METRIC_THREAD_INST] = INFINITY;
    metric_evaluate(&set);
    assert_false(set.present[METRIC_LANES]);
}

static void program_equals_evaluation(void **state) {
    (void)state;
    MetricProgram *program;
    assert_int_equal(metric_compile(&program), STATUS_OK);
    MetricSet one = {0}, sum = {0};
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        if (!metric_table[i].formula) metric_add(&one, (MetricId)i, i * 3 + 1);
    }
    metric_merge(&sum, &one);
    metric_merge(&sum, &one);
    assert_true(sum.value[METRIC_INST] == 2 * one.value[METRIC_INST]);
    MetricSet other = sum;
    metric_evaluate(&sum);
    metric_run(program, &other);
    assert_memory_equal(&sum, &other, sizeof sum);
    mem_free(program);
}

// On a GPU a counter that was not taken is no zero.
static void complete_inputs_only(void **state) {
    (void)state;
    MetricProgram *program;
    MetricSet set = {0};
    assert_int_equal(metric_compile(&program), STATUS_OK);
    metric_add(&set, METRIC_SM_ELAPSED, 200);
    metric_add(&set, METRIC_SM_ACTIVE, 50);
    metric_add(&set, METRIC_L1_SECTORS, 10);
    metric_run(program, &set);
    assert_true(set.present[METRIC_IPC]);  // of no instructions
    metric_run_complete(program, &set);
    assert_false(set.present[METRIC_IPC]);
    assert_false(set.present[METRIC_L1_HIT_RATE]);
    assert_true(set.present[METRIC_SM_ACTIVE_PCT]);
    assert_true(set.value[METRIC_SM_ACTIVE_PCT] == 25);
    mem_free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalogue_is_sound),   cmocka_unit_test(formulas_compute),
        cmocka_unit_test(mistakes_are_found),   cmocka_unit_test(long_formulas_hit_limits),
        cmocka_unit_test(absent_and_undefined), cmocka_unit_test(program_equals_evaluation),
        cmocka_unit_test(complete_inputs_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
