// SPDX-License-Identifier: Apache-2.0
// kernel-merge: what two kernels that follow each other move and issue when they are one, of which there are only
// samples, made up.
#include <string.h>

#include "analyze/advice/sampled_testing.h"

enum { CTAS = 400, THREADS = CTAS * 128, WORDS = 4 * THREADS /* bytes of an array with a word for each thread */ };

// Arrays behind the kernel's two pointers, told apart by where they end.
static void give_arrays(KernelView *view, ViewArray *arrays, u64 p, u64 q) {
    arrays[0] = (ViewArray){.parameter = view->flow.code->first_param, .bytes = WORDS, .end = p};
    arrays[1] = (ViewArray){.parameter = view->flow.code->first_param + 2, .bytes = WORDS, .end = q};
    view->arrays = arrays;
    view->array_count = 2;
}

#define OF_Q "ld.param.u64 %rd6, [q]; add.s64 %rd7, %rd6, %rd2;\n"
// What is around each thread's word of p, into q; then q and p, into p.
#define AROUND                                                                                           \
    BEGIN OF_Q "ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+4]; ld.global.f32 %f3, [%rd3+-4];\n" \
               "add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3; st.global.f32 [%rd7], %f1; ret;"
#define GO_ON                                                                                   \
    BEGIN OF_Q "ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd7]; add.f32 %f1, %f1, %f2;\n" \
               "st.global.f32 [%rd3], %f1; ret;"

static f64 left_with(bool known) {
    Sampled s, t;
    ViewArray of_first[2], of_second[2];
    KernelView *a = sampled_begin(&s, AROUND), *b = sampled_begin(&t, GO_ON);
    s.launch.grid[0] = t.launch.grid[0] = CTAS;
    if (known) give_arrays(a, of_first, 1000, 2000), give_arrays(b, of_second, 1000, 2000);
    f64 left = merged_bytes_left(a, b);
    subject_free(&s.subject), subject_free(&t.subject);
    return left;
}

// Three loads of an array of a word for each thread are no more bytes than it has, and what both kernels load one
// kernel loads once: of p and q, p and q, p the second and the last two of the first stay.
static void arrays_are_loaded_once(void **state) {
    (void)state;
    assert_float_equal(left_with(true), 2.0 / 5, 1e-9);
    assert_float_equal(left_with(false), 1 - 2.0 / 7, 1e-9);
}

// A launch of a microsecond, in which schedulers issue in half of the cycles.
static KernelView *sample(Sampled *s, const char *body) {
    KernelView *view = sampled_begin(s, body);
    s->launch.grid[0] = CTAS;
    view->launches.total_ns = 1000;
    sample_waits(s, view, 1000);
    view->total_latency = view->total / 2;
    return view;
}

#define LONG "add.f32 %f1, %f1, %f1; add.f32 %f1, %f1, %f1; add.f32 %f1, %f1, %f1; add.f32 %f1, %f1, %f1;\n"
#define MADE_OF(made) BEGIN OF_Q "ld.global.f32 %f1, [%rd3];\n" made "st.global.f32 [%rd7], %f1; ret;"

// What computes stays twice, and what finds the place once: of 24 instructions of the longer kernel 9, of 16 of the
// other one.
static void places_are_found_once(void **state) {
    (void)state;
    Sampled s, t;
    KernelView *a = sample(&s, MADE_OF(LONG LONG)), *b = sample(&t, MADE_OF(""));
    sampled_end(&s), sampled_end(&t);
    const KernelView *views[] = {a, b};
    f64 count = a->flow.code->insn_count, fewer = b->flow.code->insn_count;
    f64 expected = (9 / count + 1 / fewer + (fewer - 1) / fewer) / 2;
    assert_float_equal(merged_issues(&s.c, views, 2), expected, 1e-9);
    forget(&s), forget(&t);
}

// Each thread makes several words of q of those of p, or adds them up; CTAs then go over q and add what is around.
#define MAKE(more)                                                                                                  \
    BEGIN OF_Q "mov.u32 %r8, 0; mov.f32 %f4, 0f00000000;\n"                                                         \
               "turn: ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1; " more " st.global.f32 [%rd7], %f2;\n"      \
               "add.s64 %rd3, %rd3, 512; add.s64 %rd7, %rd7, 512; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, 10;\n" \
               "@%p2 bra turn; ret;"
#define TAKE                                                                                                      \
    BEGIN OF_Q "mov.u32 %r8, 0; mov.f32 %f4, 0f00000000;\n"                                                       \
               "turn: ld.global.f32 %f1, [%rd7]; ld.global.f32 %f2, [%rd7+4]; add.f32 %f4, %f4, %f1;\n"           \
               "add.f32 %f4, %f4, %f2; add.s64 %rd7, %rd7, 512; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, 10;\n" \
               "@%p2 bra turn; st.global.f32 [%rd3], %f4; ret;"

// The time that is left when the first makes such words and the second takes them from the same array; 0: nothing is
// said.
static f64 time_left(const char *make, u64 taken) {
    Sampled s, t;
    ViewArray of_first[2], of_second[2];
    u32 rule = 0;
    KernelView *a = sample(&s, make), *b = sample(&t, TAKE);
    give_arrays(a, of_first, 1000, 2000), give_arrays(b, of_second, 3000, taken);
    a->launches.total_ns = 1500;
    a->total_latency = a->total * 9 / 10;
    sampled_end(&s), sampled_end(&t);
    while (strcmp(advice_rules[rule].name, "kernel-merge")) rule++;
    s.c.rule = &advice_rules[rule];
    merge_map(&s.c, a, b);
    assert_int_equal(s.c.status, STATUS_OK);
    f64 left = s.c.hits.len ? s.c.hits.data[0]->change.work : 0;
    forget(&s), forget(&t);
    return left;
}

// What is made element by element can be made where it is loaded, in the second kernel's time; a running sum cannot,
// nor is there anything to make when the second kernel takes another array.
static void elements_are_made_where_they_are_loaded(void **state) {
    (void)state;
    assert_float_equal(time_left(MAKE(""), 2000), 1000.0 / 2500, 1e-9);
    assert_float_equal(time_left(MAKE("add.f32 %f4, %f4, %f1; mov.f32 %f2, %f4;"), 2000), 0, 1e-9);
    assert_float_equal(time_left(MAKE(""), 4000), 0, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_are_loaded_once),
                                       cmocka_unit_test(places_are_found_once),
                                       cmocka_unit_test(elements_are_made_where_they_are_loaded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
