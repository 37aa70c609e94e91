// SPDX-License-Identifier: Apache-2.0
// What rules make of the numbers that a kernel was launched with, and the different bytes that its accesses name.
#include <math.h>
#include <string.h>

#include "analyze/advice/sampled_testing.h"
#include "analyze/advice/shared_arrays.h"

static const GpuModel gpu = {.sms = 100,
                             .warp_schedulers = 4,
                             .clock_mhz = 1000,
                             .l1_latency = 30,
                             .l2_latency = 200,
                             .dram_latency = 300,
                             .max_ctas_per_sm = 8,
                             .max_threads_per_sm = 1024};

typedef struct Shape {
    u32 ctas, x, y;
} Shape;

// `n` 0: what it was launched with is not known.
static void sample(Sampled *s, const char *body, Shape shape, u32 n) {
    KernelView *view = sampled_begin(s, body);
    if (n) subject_launched(&s->subject, n);
    s->launch.grid[0] = shape.ctas, s->launch.block[0] = shape.x, s->launch.block[1] = shape.y;
    view->gpu = &gpu;
    view->launches.total_ns = 100000;
    view->occupancy.ctas_per_sm = 8;
    view->occupancy.warps_per_cta = shape.x * shape.y / 32;
    view->occupancy.warps_per_sm = 8 * view->occupancy.warps_per_cta;
    view->occupancy.waves = shape.ctas / 800.0;
    sample_waits(s, view, 1000);
    view->total_latency = view->total * 9 / 10;
    sampled_end(s);
}

// --- bytes -----------------------------------------------------------------------------------------------------------
// The point of a row tid.x and a column tid.y, and its four neighbours; rows are n words long.
#define NEIGHBOURS                                                                                          \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; ld.param.u32 %r3, [n]; ld.param.u64 %rd1, [p];\n"            \
    "mad.lo.s32 %r4, %r1, %r3, %r2; mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"                 \
    "mul.wide.s32 %rd4, %r3, 4; add.s64 %rd5, %rd3, %rd4; sub.s64 %rd6, %rd3, %rd4;\n"                      \
    "ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+4]; ld.global.f32 %f3, [%rd3+-4];\n"               \
    "ld.global.f32 %f4, [%rd5]; ld.global.f32 %f5, [%rd6]; add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3;\n" \
    "add.f32 %f1, %f1, %f4; add.f32 %f1, %f1, %f5; st.global.f32 [%rd1], %f1; ret;"

// A CTA of 32 x 8 has 34 rows of 10 words between them, where rows are longer than that; where they are as long as a
// CTA's part of one, its rows are one run of bytes.
static void neighbours_share_rows(void **state) {
    (void)state;
    Sampled s;
    sample(&s, NEIGHBOURS, (Shape){100, 32, 8}, 4096);
    CasePart *part = &s.c.parts[0];
    for (u32 i = 0; i < 5; i++) assert_near(access_cta_bytes(&s.c, part, &part->accesses[i]), 34 * 10 * 4 / 5.0);
    forget(&s);
    sample(&s, NEIGHBOURS, (Shape){100, 32, 8}, 8);
    part = &s.c.parts[0];
    assert_near(access_cta_bytes(&s.c, part, &part->accesses[0]), (32 * 8 + 16) * 4 / 5.0);
    forget(&s);
}

#define EVERY_NTH                                                                         \
    BEGIN "ld.param.u32 %r7, [n]; mul.lo.s32 %r8, %r4, %r7; mul.wide.s32 %rd4, %r8, 4;\n" \
          "add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd5], %f1; ret;"

static f64 part_wanted(u32 n) {
    Sampled s;
    sample(&s, EVERY_NTH, (Shape){100, 128, 1}, n);
    f64 part = access_part_wanted(&s.c, &s.c.parts[0], &s.c.parts[0].accesses[0], false);
    forget(&s);
    return part;
}

static void of_a_sector_a_word_is_wanted(void **state) {
    (void)state;
    assert_near(part_wanted(1), 1);
    assert_near(part_wanted(4), 0.25);
    assert_near(part_wanted(8), 0.125);
    assert_near(part_wanted(100), 0.125);  // other sectors are not touched at all
}

// --- arrays ----------------------------------------------------------------------------------------------------------
static const GpuModel dram_gpu = {.sms = 100,
                                  .warp_schedulers = 4,
                                  .clock_mhz = 1000,
                                  .l1_latency = 30,
                                  .l2_latency = 200,
                                  .dram_latency = 300,
                                  .l2_usable = 32 << 20,
                                  .l2_bytes = 48 << 20,
                                  .dram_channels = 10,
                                  .dram_burst = 64,
                                  .dram_clock_mhz = 1000,
                                  .t_burst = 1};

// What data sends lanes to, in the array of p.
#define LOOK_UP                                                                                             \
    BEGIN "mov.u64 %rd10, precalc_xorwow_matrix; add.s64 %rd11, %rd10, %rd2; ld.global.u32 %r7, [%rd11];\n" \
          "mul.wide.s32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];\n"               \
          "add.f32 %f1, %f1, %f1; st.global.f32 [%rd11], %f1; ret;"

// `bytes`: of the array that p points to, 0: not known.
static f64 of_look_up(u64 bytes, f64 (*measure)(const CasePart *part, const CaseAccess *look_up)) {
    Sampled s;
    KernelView *view = sampled_begin(&s, LOOK_UP);
    subject_launched(&s.subject, 1);
    ViewArray array = {.parameter = view->flow.code->first_param, .bytes = bytes};
    view->arrays = &array, view->array_count = bytes ? 1 : 0;
    view->gpu = &dram_gpu;
    view->launches.total_ns = 100000;
    sample_waits(&s, view, 100000);
    view->total_latency = view->total * 9 / 10;
    sampled_end(&s);
    f64 value = measure(&s.c.parts[0], &s.c.parts[0].accesses[1]);
    forget(&s);
    return value;
}

static f64 dram_use(const CasePart *part, const CaseAccess *a) { return part->insns[a->pc].use[RESOURCE_DRAM]; }
static f64 sectors(const CasePart *part, const CaseAccess *a) { return (void)part, a->sectors; }

// Of a table of two sectors 32 lanes take both, of one of 16 nearly all; of a large array each has its own.
static void lanes_share_sectors_of_small_tables(void **state) {
    (void)state;
    assert_float_equal(of_look_up(64, sectors), 4, 1e-6);  // four are what 32 words need
    assert_float_equal(of_look_up(512, sectors), 16 * (1 - pow(15.0 / 16, 32)), 1e-6);
    assert_float_equal(of_look_up(0, sectors), 32, 1e-6);
    assert_true(of_look_up(1 << 20, sectors) > 31.9);
}

// Of an array that the L2 holds nothing comes from DRAM in the end, of larger ones what it does not hold.
static void large_arrays_are_looked_up_in_dram(void **state) {
    (void)state;
    assert_near(of_look_up(0, dram_use), 0);
    assert_near(of_look_up(16 << 20, dram_use), 0);
    f64 half = of_look_up(64 << 20, dram_use), most = of_look_up((u64)32 << 30, dram_use);
    assert_true(half > 0);
    assert_near(half / most, 0.5);
}

// Warps wait longer for what they look up than DRAM would take.
static bool waits_for_the_l2(const char *body, u64 bytes) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    subject_launched(&s.subject, 1);
    ViewArray array = {.parameter = view->flow.code->first_param, .bytes = bytes};
    view->arrays = &array, view->array_count = bytes ? 1 : 0;
    view->gpu = &dram_gpu;
    sample_waits(&s, view, 10000);
    u32 last = 0;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++)
        if (waits_for_load(view, pc)) last = pc;
    subject_stall(&s.subject, last, STALL_LONG_SCOREBOARD, 20000);
    sampled_end(&s);
    bool does = s.c.gathers_l2;
    forget(&s);
    return does;
}

// Then it is for the L2 where that holds the array, but not behind atomics.
static void small_arrays_are_looked_up_in_the_l2(void **state) {
    (void)state;
    assert_true(waits_for_the_l2(LOOK_UP, 16 << 20));
    assert_false(waits_for_the_l2(LOOK_UP, 64 << 20));
    assert_false(waits_for_the_l2(LOOK_UP, 0));
    assert_false(waits_for_the_l2("red.global.add.u32 [precalc_xorwow_matrix], 1;" LOOK_UP, 16 << 20));
}

// Turns go on by a row of places, each thread's own, in p, and add up what these lead to in q.
#define MAPPED(also)                                                                                              \
    BEGIN "ld.param.u64 %rd9, [q]; mov.u32 %r8, 0; turn: ld.global.u32 %r7, [%rd3]; mul.wide.s32 %rd4, %r7, 4;\n" \
          "add.s64 %rd5, %rd9, %rd4; ld.global.f32 %f1, [%rd5]; add.f32 %f2, %f2, %f1;\n" also                    \
          "add.s64 %rd3, %rd3, 524288; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn;\n"          \
          "st.shared.f32 [tile], %f2; ret;"

// What indirect-addressing says of it where p and q have so many bytes; "": nothing.
static void say_of_places(char said[128], const char *body, u64 places, u64 array) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    subject_launched(&s.subject, 1);
    u32 first = view->flow.code->first_param;
    ViewArray arrays[] = {{.parameter = first, .bytes = places}, {.parameter = first + 2, .bytes = array}};
    view->arrays = arrays, view->array_count = 2;
    view->gpu = &dram_gpu;
    view->launches.total_ns = 100000000;  // DRAM has time
    sample_waits(&s, view, 100000);
    sampled_end(&s);
    const Hit *hit = ask(&s, "indirect-addressing");
    snprintf(said, 128, "%s", hit ? hit->what : "");
    forget(&s);
}

static bool is_said_of_places(const char *what, const char *body, u64 places, u64 array) {
    char said[128];
    say_of_places(said, body, places, array);
    return strstr(said, what) != NULL;
}

// A table of places that the L2 cannot hold, which lead to few elements, many of them to each, may be a formula; not if
// each place has an entry of a matrix beside it, or a result of its own.
static void many_places_of_few_elements_could_be_computed(void **state) {
    (void)state;
    assert_true(is_said_of_places("Compute the address", MAPPED(""), 512 << 20, 1 << 20));
    assert_false(is_said_of_places("Compute the address", MAPPED(""), 16 << 20, 1 << 20));    // in the L2
    assert_false(is_said_of_places("Compute the address", MAPPED(""), 128 << 20, 16 << 20));  // each by a few
    assert_false(is_said_of_places("Compute the address",
                                   MAPPED("ld.global.f32 %f3, [%rd2]; fma.rn.f32 %f2, %f3, %f1, %f2;\n"), 512 << 20,
                                   1 << 20));
    assert_false(is_said_of_places("Compute the address", MAPPED("st.global.f32 [%rd2], %f1;\n"), 512 << 20, 1 << 20));
}

// As many places as there are elements name each of them once: they can be stored in that order.
static void elements_that_are_named_once_could_be_in_order(void **state) {
    (void)state;
    assert_true(is_said_of_places("in the order of the list", MAPPED(""), 8 << 20, 8 << 20));
    assert_false(is_said_of_places("in the order of the list", MAPPED(""), 8 << 20, 4 << 20));
    assert_false(is_said_of_places("in the order of the list", MAPPED(""), 4 << 20, 8 << 20));
    assert_false(
        is_said_of_places("in the order of the list", MAPPED("st.global.f32 [%rd5], %f2;\n"), 8 << 20, 8 << 20));
}

// What data names in p says where to look in q.
#define TWO_TABLES                                                                                          \
    BEGIN "mov.u64 %rd10, precalc_xorwow_matrix; add.s64 %rd11, %rd10, %rd2; ld.global.u32 %r7, [%rd11];\n" \
          "ld.param.u64 %rd9, [q]; mul.wide.s32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4;\n"                  \
          "ld.global.u32 %r8, [%rd5]; mul.wide.s32 %rd6, %r8, 4; add.s64 %rd7, %rd9, %rd6;\n"               \
          "ld.global.f32 %f1, [%rd7]; add.f32 %f1, %f1, %f1; st.shared.f32 [tile], %f1; ret;"

// The L2's work that goes when both tables are one, if either took it a quarter of the time.
static f64 relief_of_one_table(u64 first, u64 second) {
    Sampled s;
    GpuModel with_l1 = dram_gpu;
    with_l1.l1_size = 256 << 10;
    KernelView *view = sampled_begin(&s, TWO_TABLES);
    subject_launched(&s.subject, 1);
    u32 parameter = view->flow.code->first_param;
    ViewArray arrays[] = {{.parameter = parameter, .bytes = first}, {.parameter = parameter + 2, .bytes = second}};
    view->arrays = arrays, view->array_count = 2;
    view->gpu = &with_l1;
    sample_waits(&s, view, 200);
    sampled_end(&s);
    const CasePart *part = &s.c.parts[0];
    for (u32 i = 1; i < 3; i++) part->insns[part->accesses[i].pc].use[RESOURCE_L2] = 0.25;
    const Hit *hit = ask(&s, "indirect-addressing");
    assert_non_null(hit);
    f64 relief = hit->change.relief[RESOURCE_L2];
    forget(&s);
    return relief;
}

// The second's; and the first's where that alone fits the L1.
static void one_table_may_fit_the_l1(void **state) {
    (void)state;
    assert_near(relief_of_one_table(4 << 20, 4 << 20), 0.25);
    assert_near(relief_of_one_table(200 << 10, 4 << 20), 0.5);
    assert_near(relief_of_one_table(100 << 10, 100 << 10), 0.25);  // as both did
    assert_near(relief_of_one_table(0, 4 << 20), 0.25);
}

// powf as far as it is looked for, in one line of the source, with twice the argument as exponent.
#define LAUNCHED_POWER                                                                                        \
    BEGIN "ld.global.f32 %f1, [%rd3]; ld.param.f32 %f6, [n]; add.f32 %f7, %f6, %f6; mul.f32 %f2, %f1, %f7;\n" \
          "neg.f32 %f3, %f2; fma.rn.f32 %f4, %f1, %f7, %f3; fma.rn.f32 %f5, %f4, %f4, 0f3d6357bb;\n"          \
          "st.global.f32 [%rd3], %f5; ret;"

static bool writes_products(u32 argument) {
    Sampled s;
    const KernelView *view = sampled_begin(&s, LAUNCHED_POWER);
    if (argument) subject_launched(&s.subject, argument);
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, 10);
        s.subject.places[pc].line = 7;
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "strength-reduction");
    bool does = hit && strstr(hit->what, "powf");
    forget(&s);
    return does;
}

// An exponent that the launches decide on is what their arguments make it.
static void launched_exponents_are_known(void **state) {
    (void)state;
    assert_true(writes_products(0xbf800000));   // -1: its double is -2
    assert_true(writes_products(0x40000000));   // 2
    assert_false(writes_products(0x40166666));  // 2.35
    assert_false(writes_products(0));           // not known
}

// Lanes side by side go on from an element of p that data names for their warp.
#define WALK                                                                                             \
    BEGIN "shr.u32 %r10, %r1, 5; mad.lo.s32 %r10, %r2, 4, %r10; mov.u64 %rd10, precalc_xorwow_matrix;\n" \
          "mul.wide.s32 %rd4, %r10, 4; add.s64 %rd11, %rd10, %rd4; ld.global.u32 %r7, [%rd11];\n"        \
          "and.b32 %r11, %r1, 31; add.s32 %r8, %r7, %r11; mul.wide.s32 %rd4, %r8, 4; mov.u32 %r9, 0;\n"  \
          "add.s64 %rd5, %rd1, %rd4; turn: ld.global.f32 %f1, [%rd5]; add.f32 %f2, %f2, %f1;\n"          \
          "add.s64 %rd5, %rd5, 128; add.s32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %r7; @%p1 bra turn;\n"    \
          "st.global.f32 [%rd11], %f2; ret;"

// `active`: of the time of the SMs, when they have CTAs; 0: not known.
static f64 dram_use_of_walk(u64 bytes, f64 active) {
    static const ProfileFunction function = {.name = "subject"};
    Sampled s;
    KernelView *view = sampled_begin(&s, WALK);
    s.launch.grid[0] = 200;
    subject_launched(&s.subject, 1);
    ViewArray array = {.parameter = view->flow.code->first_param, .bytes = bytes};
    view->arrays = &array, view->array_count = 1;
    view->gpu = &dram_gpu;
    view->function = &function;
    view->occupancy.ctas_per_sm = 8, view->occupancy.warps_per_cta = 4;
    view->launches.total_ns = 100000;
    sample_waits(&s, view, 100000);
    view->total_latency = view->total * 9999 / 10000;
    f64 sm_cycles = view->launches.total_ns * (f64)dram_gpu.clock_mhz / 1000 * (f64)dram_gpu.sms;
    view->period = (u64)(active * sm_cycles / (f64)view->total);
    sampled_end(&s);
    const CasePart *part = &s.c.parts[0];
    f64 use = part->insns[part->accesses[1].pc].use[RESOURCE_DRAM];
    forget(&s);
    return use;
}

// What a CTA loads from there on comes from DRAM, of arrays that the L2 does not hold. SMs that are out of work half of
// the time load half as much.
static void rows_that_data_names_come_from_dram(void **state) {
    (void)state;
    assert_near(dram_use_of_walk(16 << 20, 0), 0);
    f64 half = dram_use_of_walk(64 << 20, 0), most = dram_use_of_walk((u64)32 << 30, 0);
    assert_true(half > 0 && most < 1);
    assert_near(half / most, 0.5);
    assert_float_equal(dram_use_of_walk((u64)32 << 30, 0.5) / most, 0.5, 0.02);
    assert_near(dram_use_of_walk((u64)32 << 30, 0.95) / most, 1);  // as CTAs begin and end
}

// The part of the time that DRAM can be busy at most.
static f64 most_of_dram(const char *body) {
    static GpuModel with_l2;
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    with_l2 = dram_gpu;
    with_l2.l2_slices = 50, with_l2.noc_clock_mhz = 1000, with_l2.l2_port = with_l2.l2_write_port = 64;
    view->gpu = &with_l2;
    view->launches.total_ns = 100000;
    sample_waits(&s, view, 1000);
    view->total_latency = view->total * 9 / 10;
    sampled_end(&s);
    f64 most = s.c.load.most[RESOURCE_DRAM];
    forget(&s);
    return most;
}

// Lanes side by side ask for four sectors, those that data sends to 32, which take DRAM 3.6 times as long.
static void memories_have_no_more_to_do_than_is_asked_for(void **state) {
    (void)state;
    f64 one = most_of_dram(BEGIN "ld.global.u32 %r7, [%rd3]; ret;") / 4;
    assert_true(one > 0);
    assert_near(most_of_dram(LOOK_UP) / one, 4 + 32 * 3.6 + 4);
}

// Loads words of p, stores what it makes of them behind them.
#define GOES_ON BEGIN "ld.global.f32 %f1, [%rd3]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd3+8192], %f1; ret;"
#define ONLY_LOADS BEGIN "ld.global.f32 %f1, [%rd3]; setp.gt.f32 %p2, %f1, 0f3F800000; @%p2 trap; ret;"

static void lie_in(Sampled *s, const char *body, ViewArray *array) {
    KernelView *view = sampled_begin(s, body);
    subject_launched(&s->subject, 1);
    array->parameter = view->flow.code->first_param;
    view->arrays = array, view->array_count = 1;
}

// `first` and `second` lie in allocations that end there.
static f64 shared_part(const char *first, u64 first_end, u64 second_end, bool only_stored) {
    Sampled s, t;
    ViewArray a = {.bytes = 4096, .end = first_end}, b = {.bytes = 4096, .end = second_end};
    lie_in(&s, first, &a), lie_in(&t, GOES_ON, &b);
    const KernelView *before = &s.subject.view;
    f64 part = shared_arrays_part(&before, 1, &t.subject.view, only_stored);
    subject_free(&s.subject), subject_free(&t.subject);
    return part;
}

static void pointers_say_whose_array_is_loaded(void **state) {
    (void)state;
    assert_near(shared_part(GOES_ON, 0x9000, 0x9000, true), 1);
    assert_near(shared_part(GOES_ON, 0x9000, 0xb000, true), 0);
    assert_near(shared_part(GOES_ON, 0x9000, 0, true), -1);  // launches had different ones
    assert_near(shared_part(ONLY_LOADS, 0x9000, 0x9000, true), 0);
    assert_near(shared_part(ONLY_LOADS, 0x9000, 0x9000, false), 1);
}

// One CTA a row of 4 KiB: its sum goes to q, and with `sum` beside q the row is scaled into the upper half of p.
#define ROW                                                                                                        \
    BEGIN                                                                                                          \
    "ld.param.u64 %rd7, [q]; mul.wide.s32 %rd8, %r2, 4; add.s64 %rd9, %rd7, %rd8; mul.wide.s32 %rd4, %r2, 4096;\n" \
    "mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd1, %rd4; add.s64 %rd6, %rd6, %rd5; ld.global.f32 %f1, [%rd6];\n"
#define SUM(place) ROW "setp.ne.s32 %p1, %r1, 0; @%p1 bra done; st.global.f32 [" place "], %f1; done: ret;"
#define SCALE(sum) ROW "ld.global.f32 %f2, [" sum "]; mul.f32 %f1, %f1, %f2; st.global.f32 [%rd6+65536], %f1; ret;"

static void lie_apart(Sampled *s, const char *body, ViewArray arrays[2], u32 ctas) {
    KernelView *view = sampled_begin(s, body);
    subject_launched(&s->subject, 1);
    s->launch.grid[0] = ctas;
    arrays[0] = (ViewArray){.parameter = view->flow.code->first_param, .bytes = 131072, .end = 0x40000};
    arrays[1] = (ViewArray){.parameter = view->flow.code->first_param + 2, .bytes = 64, .end = 0x80000};
    view->arrays = arrays, view->array_count = 2;
}

static bool hands_on(const char *first, const char *second, u32 ctas_of_second, HandedOn *handed) {
    Sampled s, t;
    ViewArray a[2], b[2];
    lie_apart(&s, first, a, 16), lie_apart(&t, second, b, ctas_of_second);
    bool does = shared_arrays_by_cta(&s.subject.view, &t.subject.view, handed);
    subject_free(&s.subject), subject_free(&t.subject);
    return does;
}

// Of each CTA's result for the next kernel's CTA of the same number, not for all or others; of what it has loaded all
// is loaded again.
static void ctas_go_on_with_their_own_results(void **state) {
    (void)state;
    HandedOn handed;
    assert_true(hands_on(SUM("%rd9"), SCALE("%rd9"), 16, &handed));
    assert_near(handed.again, 131072);
    assert_near(handed.all, 131072);
    assert_false(hands_on(SUM("%rd9"), SCALE("%rd9"), 8, &handed));
    assert_false(hands_on(SUM("%rd9"), SCALE("%rd9+4"), 16, &handed));  // the next one's
    assert_false(hands_on(SUM("%rd9"), SCALE("%rd7"), 16, &handed));    // one for all
    assert_false(hands_on(SUM("%rd6"), SCALE("%rd9"), 16, &handed));    // each thread's
}

// --- lanes -----------------------------------------------------------------------------------------------------------
static f64 sectors_of_load(u32 n) {
    Sampled s;
    sample(&s, EVERY_NTH, (Shape){100, 128, 1}, n);
    f64 sectors = s.c.parts[0].accesses[0].sectors;
    forget(&s);
    return sectors;
}

static void a_stride_of_the_launch_is_a_stride(void **state) {
    (void)state;
    assert_near(sectors_of_load(0), 32);  // a row's, for all that is known
    assert_near(sectors_of_load(1), 4);
    assert_near(sectors_of_load(2), 8);
}

// Doubles and bytes, in whose rows of n lanes stand one below the other.
#define COLUMNS                                                                                                     \
    BEGIN "ld.param.u32 %r7, [n]; mul.lo.s32 %r8, %r4, %r7; mul.wide.s32 %rd4, %r8, 8; add.s64 %rd5, %rd1, %rd4;\n" \
          "cvt.s64.s32 %rd6, %r8; mov.u64 %rd10, precalc_xorwow_matrix; add.s64 %rd7, %rd10, %rd6; ld.global.u64 "  \
          "%rd8, [%rd5]; xor.b64 %rd9, %rd8, 1;\n"                                                                  \
          "ld.global.u8 %r9, [%rd7]; add.s32 %r10, %r9, 1; st.global.u32 [%rd1], %r10; ret;"

static u32 places_of_coalescing(u32 n) {
    Sampled s;
    u32 found = 0;
    sample(&s, COLUMNS, (Shape){100, 128, 1}, n);
    ask(&s, "global-coalescing");
    for (u32 i = 0; i < s.c.hits.len; i++) found += strstr(s.c.hits.data[i]->what, "neighbouring words") != NULL;
    forget(&s);
    return found;
}

static void arrays_of_rows_are_one_change(void **state) {
    (void)state;
    assert_int_equal(places_of_coalescing(0), 1);
    assert_int_equal(places_of_coalescing(1024), 1);
    assert_int_equal(places_of_coalescing(8), 2);  // structures of 64 bytes and of 8: others
}

// --- turns -----------------------------------------------------------------------------------------------------------
// Adds up words that lie n apart, to an end that the thread's first one decides.
#define STEPS                                                                                              \
    BEGIN "mov.f32 %f1, 0f00000000; mov.u32 %r8, %r4; ld.param.u32 %r7, [n]; mul.wide.s32 %rd5, %r7, 4;\n" \
          "turn: ld.global.f32 %f2, [%rd3]; mul.f32 %f1, %f1, %f2; add.s64 %rd3, %rd3, %rd5;\n"            \
          "add.s32 %r8, %r8, %r7; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.f32 [%rd1], %f1; ret;"

// As many as the grid has threads are the elements of a step of time, when an argument says so.
static void a_step_as_large_as_the_grid_is_one_of_time(void **state) {
    (void)state;
    Sampled s;
    sample(&s, STEPS, (Shape){40, 128, 1}, 40 * 128);
    const Hit *hit = ask(&s, "block-increase");
    assert_true(!hit || !strstr(hit->what, "to fill all SMs"));
    assert_null(ask(&s, "vectorised-access"));
    forget(&s);
}

#define TURNS                                                                                   \
    BEGIN "mov.u32 %r8, 0; ld.param.u32 %r7, [n];\n"                                            \
          "turn: ld.global.f32 %f2, [%rd3]; mul.f32 %f1, %f1, %f2; add.s64 %rd3, %rd3, 4096;\n" \
          "add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r7; @%p2 bra turn; st.global.f32 [%rd1], %f1; ret;"

static void turns_of_the_launch_are_known(void **state) {
    (void)state;
    Sampled s;
    sample(&s, TURNS, (Shape){100, 128, 1}, 37);
    assert_near(s.c.parts[0].loops[0].trips, 37);
    forget(&s);
}

// A cipher's rounds: a word of the key and a number for each, made of which round it is, or of data.
#define MIX "shl.b32 %r14, %r6, 4; add.s32 %r6, %r6, %r14; xor.b32 %r6, %r6, %r4;\n"
#define ROUNDS(of)                                                                                                \
    BEGIN "mov.u32 %r8, 0; mov.u32 %r9, 0; ld.param.u32 %r7, [n]; mov.u32 %r6, %r4;\n"                            \
          "turn: and.b32 %r10, " of ", 63; shl.b32 %r11, %r10, 2; cvt.u64.u32 %rd5, %r11; mov.u64 %rd6, table;\n" \
          "add.s64 %rd7, %rd6, %rd5; ld.const.u32 %r12, [%rd7]; add.s32 %r13, %r12, %r9;\n"                       \
          "xor.b32 %r6, %r6, %r13; add.s32 %r9, %r9, 77;\n" MIX MIX MIX MIX                                       \
          "add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r7; @%p2 bra turn; st.global.u32 [%rd3], %r6; ret;"

static bool makes_turns_constant(const char *body, u32 n) {
    Sampled s;
    sample(&s, body, (Shape){100, 128, 1}, n);
    const Hit *hit = ask(&s, "loop-unrolling");
    bool does = hit && strstr(hit->what, "Make the number of turns") != NULL;
    forget(&s);
    return does;
}

// What is made of the round's number is a constant when an argument does not say how many there are; what data decides
// stays, and more than a sequence can have.
static void turns_make_constants(void **state) {
    (void)state;
    assert_true(makes_turns_constant(ROUNDS("%r8"), 32));
    assert_false(makes_turns_constant(ROUNDS("%r8"), 0));
    assert_false(makes_turns_constant(ROUNDS("%r8"), 1000));
    assert_false(makes_turns_constant(ROUNDS("%r6"), 32));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_share_rows),
        cmocka_unit_test(of_a_sector_a_word_is_wanted),
        cmocka_unit_test(lanes_share_sectors_of_small_tables),
        cmocka_unit_test(large_arrays_are_looked_up_in_dram),
        cmocka_unit_test(small_arrays_are_looked_up_in_the_l2),
        cmocka_unit_test(many_places_of_few_elements_could_be_computed),
        cmocka_unit_test(elements_that_are_named_once_could_be_in_order),
        cmocka_unit_test(one_table_may_fit_the_l1),
        cmocka_unit_test(launched_exponents_are_known),
        cmocka_unit_test(rows_that_data_names_come_from_dram),
        cmocka_unit_test(memories_have_no_more_to_do_than_is_asked_for),
        cmocka_unit_test(pointers_say_whose_array_is_loaded),
        cmocka_unit_test(ctas_go_on_with_their_own_results),
        cmocka_unit_test(a_stride_of_the_launch_is_a_stride),
        cmocka_unit_test(arrays_of_rows_are_one_change),
        cmocka_unit_test(a_step_as_large_as_the_grid_is_one_of_time),
        cmocka_unit_test(turns_of_the_launch_are_known),
        cmocka_unit_test(turns_make_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
