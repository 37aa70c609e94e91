// SPDX-License-Identifier: Apache-2.0
// Polynomials against plain evaluation, and trip counts against running the loop.
#include "flow/affine.h"
#include "flow/affine_poly.h"
#include "flow/flow_results.h"
#include "flow/flow_testing.h"

static i64 evaluate(const Poly *poly, const i64 *factors) {
    u64 sum = (u64)poly->constant;
    for (u32 i = 0; i < poly->count; i++) {
        u64 product = (u64)poly->terms[i].coefficient;
        for (u32 k = 0; k < term_degree(&poly->terms[i]); k++) product *= (u64)factors[poly->terms[i].factors[k]];
        sum += product;
    }
    return (i64)sum;
}

static Poly random_poly(Random *random) {
    Poly poly = poly_constant((i64)random_below(random, 20) - 10);
    for (u32 i = random_below(random, 3); i-- > 0;) {
        Poly factor = poly_factor(random_below(random, 5));
        assert_true(poly_add(&poly, &factor, (i64)random_below(random, 9) - 4));
    }
    return poly;
}

TEST(polynomials_compute) {
    static const i64 factors[] = {3, -7, 11, 1 << 10, 13};
    Random random = {3};
    for (u32 round = 0; round < 20000; round++) {
        Poly a = random_poly(&random), b = random_poly(&random), c = random_poly(&random), product, sum = a;
        assert_true(poly_add(&sum, &b, -3));
        assert_int_equal(evaluate(&sum, factors), evaluate(&a, factors) - 3 * evaluate(&b, factors));
        assert_true(poly_multiply(&a, &b, &product));
        assert_int_equal(evaluate(&product, factors), evaluate(&a, factors) * evaluate(&b, factors));
        Poly left, right;
        if (!poly_multiply(&product, &c, &left) || !poly_multiply(&b, &c, &right)) continue;
        assert_int_equal(evaluate(&left, factors), evaluate(&product, factors) * evaluate(&c, factors));
        Poly other;
        if (poly_multiply(&a, &right, &other)) assert_true(poly_equal(&left, &other));
    }
}

TEST(polynomials_have_limits) {
    Poly poly = poly_constant(0);
    for (u32 i = 0; i < AFFINE_TERMS; i++) {
        Poly factor = poly_factor(i);
        assert_true(poly_add(&poly, &factor, 1));
    }
    Poly more = poly_factor(99), product;
    assert_false(poly_add(&poly, &more, 1));
    Poly square, fourth;
    assert_true(poly_multiply(&more, &more, &square));
    assert_true(poly_multiply(&square, &square, &fourth));
    assert_true(poly_multiply(&fourth, &more, &product));
    assert_false(poly_multiply(&fourth, &square, &product));
}

// v0 = init; do { v0 += step } while (v0 compare limit), or tested at the top when `before` is set.
static const FlowCode *counting_loop(Sketch *s, i64 init, i64 step, FlowCompare compare, i64 limit, bool before) {
    memset(s, 0, sizeof *s);
    sketch_insn(s, FLOW_PLAIN, WL_NONE)->arith = FLOW_MOVE;
    sketch_def(s, 0);
    sketch_immediate(s, init);
    for (u32 part = 0; part < 2; part++) {
        if (part == (before ? 1u : 0u)) {
            sketch_insn(s, FLOW_PLAIN, WL_NONE)->arith = FLOW_ADD;
            sketch_def(s, 0);
            sketch_use(s, 0);
            sketch_immediate(s, step);
            if (before) {
                sketch_insn(s, FLOW_BRANCH, WL_NONE);
                sketch_target(s, 1);
            }
            continue;
        }
        FlowInsn *insn = sketch_insn(s, FLOW_PLAIN, WL_NONE);
        insn->arith = FLOW_COMPARE;
        insn->compare = (u8)compare;
        sketch_def(s, 1);
        sketch_use(s, 0);
        sketch_immediate(s, limit);
        sketch_insn(s, FLOW_BRANCH, 1)->guard_negated = before;
        sketch_target(s, before ? 5 : 1);
    }
    sketch_insn(s, FLOW_RET, WL_NONE);
    return sketch_code(s, 2);
}

static bool holds(FlowCompare compare, i64 a, i64 b) {
    return compare == FLOW_EQUAL        ? a == b
           : compare == FLOW_NOT_EQUAL  ? a != b
           : compare == FLOW_LESS       ? a < b
           : compare == FLOW_LESS_EQUAL ? a <= b
           : compare == FLOW_GREATER    ? a > b
                                        : a >= b;
}

static i64 run_loop(i64 init, i64 step, FlowCompare compare, i64 limit, bool before) {
    i64 value = init;
    for (i64 trips = 1; trips < 1000; trips++) {
        if (before && !holds(compare, value, limit)) return trips;
        value += step;
        if (!before && !holds(compare, value, limit)) return trips;
    }
    return -1;
}

static i64 find_trips(const FlowCode *code) {
    Arena arena = {0};
    FlowResults results;
    assert_int_equal(flow_analyse(code, &arena, &results), STATUS_OK);
    assert_int_equal(results.loops->loop_count, 1);
    i64 trips = results.loops->loops[0].trip_count;
    arena_free(&arena);
    return trips;
}

TEST(trip_counts_are_those_of_the_loop) {
    static Sketch sketch;
    Random random = {8};
    u32 known = 0;
    for (u32 round = 0; round < 5000; round++) {
        i64 init = (i64)random_below(&random, 40) - 20, limit = (i64)random_below(&random, 40) - 20;
        i64 step = (i64)random_below(&random, 9) - 4;
        FlowCompare compare = (FlowCompare)(FLOW_EQUAL + random_below(&random, 6));
        bool before = random_below(&random, 2);
        i64 trips = find_trips(counting_loop(&sketch, init, step, compare, limit, before));
        if (trips >= 0) assert_int_equal(trips, run_loop(init, step, compare, limit, before));
        known += trips >= 0;
    }
    assert_true(known > 2000);
}

// @v1 v0 = 40 + 2; then a reader of v0 under a guard of its own. Whether v0 is known to be 42 where it is read.
static bool is_known_under(u32 guard, bool negated) {
    static Sketch sketch;
    Arena arena = {0};
    FlowResults results;
    memset(&sketch, 0, sizeof sketch);
    sketch_insn(&sketch, FLOW_PLAIN, WL_NONE);
    sketch_def(&sketch, 1);
    sketch_insn(&sketch, FLOW_PLAIN, 1)->arith = FLOW_ADD;
    sketch_def(&sketch, 0);
    sketch_immediate(&sketch, 40);
    sketch_immediate(&sketch, 2);
    sketch_insn(&sketch, FLOW_PLAIN, guard)->guard_negated = negated;
    sketch_use(&sketch, 0);
    sketch_insn(&sketch, FLOW_RET, WL_NONE);
    assert_int_equal(flow_analyse(sketch_code(&sketch, 2), &arena, &results), STATUS_OK);
    const AffineForm *form = &results.affine->forms[results.chains->of_operand[1]];
    bool known = form->term_count == 0 && form->constant == 42;
    arena_free(&arena);
    return known;
}

TEST(guarded_values_are_known_under_their_guard) {
    assert_true(is_known_under(1, false));
    assert_false(is_known_under(1, true));
    assert_false(is_known_under(WL_NONE, false));
}

static void sketch_thread(Sketch *s, u8 component) {
    sketch_insn(s, FLOW_PLAIN, WL_NONE)->arith = FLOW_MOVE;
    sketch_def(s, 0);
    sketch_operand(s, (FlowOperand){.kind = FLOW_SREG, .id = SREG_TID, .component = component}, false);
}

// v0 = tid.x; on one way v0 = tid again, of that component; then, in a loop if `turns`, v2 = v0 + 4 and v0 = tid.x.
// What v2 is made of.
static u32 kinds_of_sum(u8 component, bool turns) {
    static Sketch sketch;
    Arena arena = {0};
    FlowResults results;
    memset(&sketch, 0, sizeof sketch);
    sketch_thread(&sketch, 0);
    sketch_insn(&sketch, FLOW_PLAIN, WL_NONE);
    sketch_def(&sketch, 1);
    sketch_insn(&sketch, FLOW_BRANCH, 1);
    sketch_target(&sketch, 4);
    sketch_thread(&sketch, component);
    sketch_insn(&sketch, FLOW_PLAIN, WL_NONE)->arith = FLOW_ADD;
    sketch_def(&sketch, 2);
    sketch_use(&sketch, 0);
    sketch_immediate(&sketch, 4);
    sketch_thread(&sketch, 0);
    if (turns) {
        sketch_insn(&sketch, FLOW_BRANCH, 1);
        sketch_target(&sketch, 4);
    }
    sketch_insn(&sketch, FLOW_RET, WL_NONE);
    assert_int_equal(flow_analyse(sketch_code(&sketch, 3), &arena, &results), STATUS_OK);
    u32 sum = 4, node = results.chains->of_operand[results.code->insns[sum].operands];
    u32 kinds = affine_kinds(results.affine, node);
    arena_free(&arena);
    return kinds;
}

// Who the thread is is read again here and there to save a register, and is the same thread.
TEST(what_is_read_again_is_the_same) {
    assert_int_equal(kinds_of_sum(0, false), 1 << AFFINE_SREG);
    assert_int_equal(kinds_of_sum(0, true), 1 << AFFINE_SREG);
    assert_int_equal(kinds_of_sum(1, false), 1 << AFFINE_NODE);
}

TEST(memory_may_run_out) {
    static Sketch sketch;
    const FlowCode *code = counting_loop(&sketch, 0, 1, FLOW_LESS, 10, false);
    bool finished = false;
    for (u64 n = 0; n < 400; n++) {
        Arena arena = {0};
        FlowResults results;
        u64 left = n;
        testing_memory_out_after(&left);
        Status status = flow_analyse(code, &arena, &results);
        testing_memory_back();
        assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
        finished = status == STATUS_OK;
        arena_free(&arena);
    }
    assert_true(finished);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polynomials_compute),
        cmocka_unit_test(polynomials_have_limits),
        cmocka_unit_test(trip_counts_are_those_of_the_loop),
        cmocka_unit_test(guarded_values_are_known_under_their_guard),
        cmocka_unit_test(what_is_read_again_is_the_same),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
