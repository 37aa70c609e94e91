// SPDX-License-Identifier: Apache-2.0
// Lanes that pass a test together, as far as the code says.
#include "analyze/advice/rule.h"
#include "analyze/analyze_testing.h"
#include "flow/flow_testing.h"

// `test` sets %p1, on which a branch goes around a multiplication. Lanes that do not jump, or, `taken`, that do.
static f64 lanes_of(const char *test, u32 x, u32 y, bool taken) {
    static Subject s;
    char body[1024];
    snprintf(body, sizeof body,
             "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; mov.u32 %%r3, %%ntid.x; ld.param.u64 %%rd1, [p];\n"
             "cvt.u32.u64 %%r4, %%rd1; mad.lo.s32 %%r5, %%r2, %%r3, %%r1; mov.u32 %%r6, %%tid.y;\n"
             "%s\n@%%p1 bra end; mul.lo.s32 %%r9, %%r5, %%r5; st.global.u32 [%%rd1], %%r9;\nend: ret;",
             test);
    subject_ptx(&s, body);
    ProfileLaunch launch = {.grid = {100, 10, 1}, .block = {x, y, 1}};
    s.view.launches.typical = &launch;
    AdviceCase c = {.view = &s.view};
    CasePart part = {.view = &s.view};
    u32 branch = 0;
    while (s.view.flow.code->insns[branch].kind != FLOW_BRANCH) branch++;
    f64 lanes = lanes_of_way(&c, &part, branch, taken);
    subject_free(&s);
    return lanes;
}

static void made_of_the_thread(void **state) {
    (void)state;
    assert_near(lanes_of("and.b32 %r7, %r5, 1; setp.ne.s32 %p1, %r7, 0;", 128, 1, false), 16);
    assert_near(lanes_of("and.b32 %r7, %r1, 7; setp.eq.s32 %p1, %r7, 0;", 128, 1, true), 4);
    assert_near(lanes_of("setp.ge.u32 %p1, %r1, 8;", 128, 1, false), 8);  // of the first warp, the others have none
    assert_near(lanes_of("setp.ge.u32 %p1, %r1, 8;", 128, 1, true), 30);  // 24 and three times 32
    assert_near(lanes_of("setp.ne.s32 %p1, %r6, 3;", 8, 16, false), 8);   // one row of a warp's four
    assert_near(lanes_of("mov.u32 %r7, %laneid; setp.ne.s32 %p1, %r7, 0;", 256, 1, false), 1);
}

static void uniform_values_may_be_anything(void **state) {
    (void)state;
    // Which half is meant says a parameter; that it is half does not depend on it.
    assert_near(lanes_of("and.b32 %r7, %r5, 1; and.b32 %r8, %r4, 1; setp.ne.s32 %p1, %r7, %r8;", 64, 1, false), 16);
    assert_near(lanes_of("and.b32 %r7, %r1, %r4; setp.ne.s32 %p1, %r7, 0;", 64, 1, false), 0);  // here it does
    assert_near(lanes_of("setp.ne.s32 %p1, %r4, 5;", 64, 1, true), 32);  // the same for all lanes
    // Loaded by each lane for itself: not known.
    assert_near(lanes_of("ld.global.u32 %r7, [%rd1]; mad.lo.s32 %r8, %r7, %r1, 1;"
                         "mul.wide.s32 %rd2, %r8, 4; ld.global.u32 %r9, [%rd2]; setp.ne.s32 %p1, %r9, 0;",
                         64, 1, false),
                0);
}

// Lines of machine code as of sass_of_lines(), in a launch of 100 CTAs of 128 threads.
typedef struct OfLines {
    SassModule module;
    Arena arena;
    FlowCode *code;
    KernelView view;
    ProfileLaunch launch;
    AdviceCase c;
    CasePart part;
} OfLines;

static void of_lines(OfLines *m, const char *const *lines) {
    *m = (OfLines){.view = {.kind = VIEW_SASS}, .launch = {.grid = {100, 1, 1}, .block = {128, 1, 1}}};
    sass_of_lines(&m->module, lines);
    FlowSassSource source = {.module = &m->module, .is_entry = true, .param_base = 0x210};
    assert_int_equal(flow_from_sass(&source, &m->arena, &m->code), STATUS_OK);
    assert_int_equal(flow_analyse(m->code, &m->arena, &m->view.flow), STATUS_OK);
    m->view.launches.typical = &m->launch;
    m->c.view = m->part.view = &m->view;
}

static void of_lines_end(OfLines *m) {
    arena_free(&m->arena);
    sass_free(&m->module);
}

// The first guarded exit is asked for.
static f64 lanes_of_machine(const char *const *lines) {
    OfLines m;
    of_lines(&m, lines);
    u32 branch = 0;
    while (m.code->insns[branch].kind != FLOW_EXIT) branch++;
    f64 lanes = lanes_of_way(&m.c, &m.part, branch, false);
    of_lines_end(&m);
    return lanes;
}
#define MACHINE(...) lanes_of_machine((const char *const[]){__VA_ARGS__, NULL})

static void predicates_of_machine_code(void **state) {
    (void)state;
    // if (tid < n && tid % 4 != 0), joined by the comparison, and by a table: 0xa8 is c & (a | b)
    assert_near(MACHINE("|S2R|R0,SR_TID.X", "|ULDC|UR4,c[0x0][0x220]", "|LOP3.LUT|R1,R0,0x3,RZ,0xc0,!PT",
                        "|ISETP.GE.AND|P0,PT,R0,UR4,PT", "|ISETP.EQ.OR|P0,PT,R1,RZ,P0", "@P0|EXIT|", "|NOP|", "|EXIT|"),
                24);
    assert_near(MACHINE("|S2R|R0,SR_TID.X", "|ULDC|UR4,c[0x0][0x220]", "|LOP3.LUT|R1,R0,0x3,RZ,0xc0,!PT",
                        "|ISETP.GE.AND|P0,PT,R0,UR4,PT", "|ISETP.EQ.AND|P1,PT,R1,RZ,PT",
                        "|PLOP3.LUT|P2,PT,P0,P1,PT,0xa8,0x0", "@P2|EXIT|", "|NOP|", "|EXIT|"),
                24);
    assert_near(MACHINE("|S2R|R0,SR_TID.X", "|LOP3.LUT|R1,R0,0x3,RZ,0xc0,!PT", "|ISETP.EQ.AND|P1,PT,R1,RZ,PT",
                        "|ISETP.GT.U32.XOR|P2,PT,R1,0x1,P1", "@!P2|EXIT|", "|NOP|", "|EXIT|"),
                24);  // 2, 3 and 0 of four
    // Tables of three numbers: 0x78 is (a & b) ^ c, here what is left of tid / 4 * 4; 0xfe is a | b | c.
    assert_near(MACHINE("|S2R|R0,SR_TID.X", "|LOP3.LUT|R1,R0,0x3,R0,0x78,!PT", "|ISETP.NE.AND|P0,PT,R1,RZ,PT",
                        "@P0|EXIT|", "|NOP|", "|EXIT|"),
                4);
    assert_near(MACHINE("|S2R|R0,SR_TID.X", "|SHF.R.U32.HI|R2,RZ,0x1,R0", "|LOP3.LUT|R1,R0,0x8,R2,0xfe,!PT",
                        "|ISETP.GT.AND|P0,PT,R1,0xb,PT", "@P0|EXIT|", "|NOP|", "|EXIT|"),
                4);  // 0 to 3 become 8, 9, 11 and 11, all others more
    // The larger of tid - 1 and 9, the smaller of tid + 1 and 12.
    assert_near(MACHINE("|S2R|R0,SR_TID.X", "|VIADDMNMX|R1,R0,0xffffffff,0x9,!PT", "|ISETP.NE.AND|P0,PT,R1,0x9,PT",
                        "@P0|EXIT|", "|NOP|", "|EXIT|"),
                11);
    assert_near(MACHINE("|S2R|R0,SR_TID.X", "|VIADDMNMX|R1,R0,0x1,0xc,PT", "|ISETP.NE.AND|P0,PT,R1,0xc,PT", "@P0|EXIT|",
                        "|NOP|", "|EXIT|"),
                (21 + 3 * 32) / 4.0);  // of four warps
    // if (tid < n && tid % 2 == colour): the one is small where the other is large.
    assert_near(MACHINE("|S2R|R0,SR_TID.X", "|ULDC|UR4,c[0x0][0x220]", "|ULDC|UR5,c[0x0][0x224]",
                        "|LOP3.LUT|R1,R0,0x1,RZ,0xc0,!PT", "|ISETP.GE.AND|P0,PT,R0,UR4,PT",
                        "|ISETP.NE.OR|P0,PT,R1,UR5,P0", "@P0|EXIT|", "|NOP|", "|EXIT|"),
                16);
}

// Offsets of the lanes of a warp at the load behind `address`, which sets %r9.
static bool offsets_of(const char *address, u32 draw, u32 warp, i64 offsets[32]) {
    static Subject s;
    char body[1024];
    snprintf(body, sizeof body,
             "mov.u32 %%r1, %%tid.x; ld.param.u64 %%rd1, [p]; cvt.u32.u64 %%r4, %%rd1;\n%s\n"
             "ld.shared.u32 %%r8, [%%r9+16]; st.global.u32 [%%rd1], %%r8; ret;",
             address);
    subject_ptx(&s, body);
    ProfileLaunch launch = {.grid = {100, 10, 1}, .block = {256, 1, 1}};
    s.view.launches.typical = &launch;
    u32 load = 0;
    while (s.view.flow.code->insns[load].space != SPACE_SHARED) load++;
    AdviceCase c = {.view = &s.view};
    CaseLoop loops[8] = {0};
    CasePart part = {.view = &s.view, .loops = loops};
    assert_true(s.view.flow.loops->loop_count <= WL_COUNT(loops));
    for (u32 l = 0; l < s.view.flow.loops->loop_count; l++) loops[l].together = lanes_leave_together(&c, &part, l);
    bool known = lanes_of_address(&c, &part, load, draw, warp, offsets);
    subject_free(&s);
    return known;
}

static void addresses_that_are_no_stride(void **state) {
    (void)state;
    i64 at[32];
    // Rows of 64 words, a lane each, of which every other warp has the second half.
    for (u32 warp = 0; warp < 4; warp++) {
        assert_true(offsets_of("and.b32 %r5, %r1, 63; shl.b32 %r6, %r5, 8; add.s32 %r9, %r6, %r4;", warp, warp, at));
        assert_int_equal(at[0], 0);
        assert_int_equal(at[31], 31 * 256);
    }
    assert_true(offsets_of("shr.u32 %r5, %r1, 3; and.b32 %r6, %r1, 7; mad.lo.s32 %r9, %r5, 132, %r6;", 0, 1, at));
    assert_int_equal(at[9], 132 + 1);
    // What each lane has loaded is not known.
    assert_false(
        offsets_of("mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r9, [%rd3];", 0, 0, at));
}

// A pointer that goes on by as much for all lanes, in one loop after the other: rows of 32 words, a lane each.
static void pointers_that_walk(void **state) {
    (void)state;
    i64 at[32];
    const char *turns =
        "shl.b32 %%r9, %%r1, 7; mov.u32 %%r6, 0;\n"
        "first: add.s32 %%r9, %%r9, 4; add.s32 %%r6, %%r6, 1; setp.lt.u32 %%p1, %%r6, %%r4; @%%p1 bra first;\n"
        "mov.u32 %%r7, 0;\n"
        "again: add.s32 %%r9, %%r9, %s; add.s32 %%r7, %%r7, 1; setp.lt.u32 %%p2, %%r7, %s; @%%p2 bra again;\n";
    char body[512];
    snprintf(body, sizeof body, turns, "16", "%r4");
    assert_true(offsets_of(body, 0, 1, at));
    assert_int_equal(at[1], 128);
    assert_int_equal(at[31], 31 * 128);
    snprintf(body, sizeof body, turns, "%r1", "%r4");  // each lane by its own step
    assert_false(offsets_of(body, 0, 1, at));
    snprintf(body, sizeof body, turns, "16", "%r1");  // each lane as often as it likes
    assert_false(offsets_of(body, 0, 1, at));
}

// ... by a product, as that of a pitch known at launch: it is added to what walks, which is no factor of it.
static void pointers_that_walk_by_products(void **state) {
    (void)state;
    i64 at[32];
    const char *turns =
        "shl.b32 %%r9, %%r1, 7; mov.u32 %%r6, 0;\n"
        "turn: mad.lo.s32 %%r9, %s; add.s32 %%r6, %%r6, 1; setp.lt.u32 %%p1, %%r6, %%r4; @%%p1 bra turn;\n";
    char body[512];
    snprintf(body, sizeof body, turns, "%r4, 2, %r9");
    assert_true(offsets_of(body, 0, 1, at));
    assert_int_equal(at[31], 31 * 128);
    snprintf(body, sizeof body, turns, "%r9, 2, %r4");
    assert_false(offsets_of(body, 0, 1, at));
    snprintf(body, sizeof body, turns, "%r1, 2, %r9");
    assert_false(offsets_of(body, 0, 1, at));
}

// What is left over of four turns at once, without a loop: a third turn that is made where a predicate says so.
static void sums_that_a_predicate_decides(void **state) {
    (void)state;
    i64 at[32];
    const char *left = "shl.b32 %%r9, %%r1, 2; mov.u32 %%r6, %%r9; setp.ne.s32 %%p1, %%r4, 1; @%%p1 bra over;\n"
                       "add.s32 %%r9, %%r6, 256; setp.ne.s32 %%p2, %%r4, 2; %s\nover: add.s32 %%r9, %%r9, 16;\n";
    char body[512];
    snprintf(body, sizeof body, left, "@%p2 add.s32 %r9, %r6, 384;");
    assert_true(offsets_of(body, 0, 1, at));
    assert_int_equal(at[1], 4);
    assert_int_equal(at[31], 31 * 4);
    snprintf(body, sizeof body, left, "@%p2 add.s32 %r9, %r6, %r1;");  // by as much as each lane likes
    assert_false(offsets_of(body, 0, 1, at));
}

// for (i = tid; i < n; i += step), of which the compiler keeps the first turns apart: lanes leave it in two different
// ones at most, and go on side by side. With steps of less than a warp they do not.
static void lanes_that_leave_a_loop_together(void **state) {
    (void)state;
    i64 at[32];
    const char *turns = "mov.u32 %%r5, %%r1;\n"
                        "first: add.s32 %%r5, %%r5, %s; setp.lt.s32 %%p1, %%r5, %%r4; @%%p1 bra first;\n"
                        "shl.b32 %%r9, %%r5, 2;\n";
    char body[512];
    snprintf(body, sizeof body, turns, "256");
    assert_true(offsets_of(body, 0, 1, at));
    assert_int_equal(at[1], 4);
    assert_int_equal(at[31], 31 * 4);
    snprintf(body, sizeof body, turns, "4");
    assert_false(offsets_of(body, 0, 1, at));
}

// An index that is kept within an array goes on from lane to lane but at the ends; of two that differ between lanes it
// is the lesser.
static void bounds_are_far_away(void **state) {
    (void)state;
    i64 at[32];
    for (u32 draw = 0; draw < 12; draw++) {
        assert_true(offsets_of("add.s32 %r5, %r1, 3; min.s32 %r6, %r5, %r4; max.s32 %r7, %r6, 2; shl.b32 %r9, %r7, 2;",
                               draw, 1, at));
        assert_int_equal(at[31], 31 * 4);
    }
    assert_true(offsets_of("shl.b32 %r5, %r1, 1; sub.s32 %r6, 80, %r1; min.s32 %r9, %r5, %r6;", 0, 0, at));
    assert_int_equal(at[26], 2 * 26);
    assert_int_equal(at[31], 80 - 31);
}

// A warp's place in an array, which it has loaded; what each lane has loaded sends it anywhere.
static void what_a_warp_loads_is_the_same_for_its_lanes(void **state) {
    (void)state;
    i64 at[32];
    const char *place = "%s mul.wide.u32 %%rd2, %%r5, 4; add.s64 %%rd3, %%rd1, %%rd2; ld.global.u32 %%r6, [%%rd3];\n"
                        "and.b32 %%r7, %%r1, 31; mad.lo.s32 %%r9, %%r7, 8, %%r6;";
    char body[512];
    snprintf(body, sizeof body, place, "shr.u32 %r5, %r1, 5;");
    assert_true(offsets_of(body, 0, 1, at));
    assert_int_equal(at[31], 31 * 8);
    snprintf(body, sizeof body, place, "shr.u32 %r5, %r1, 4;");
    assert_false(offsets_of(body, 0, 1, at));
}

// What the lanes name in the first load of global memory.
static bool offsets_of_machine(const char *const *lines, u32 draw, i64 offsets[32], u32 *through) {
    OfLines m;
    of_lines(&m, lines);
    u32 load = 0;
    while (!m.code->insns[load].is_load || m.code->insns[load].space != SPACE_GLOBAL) load++;
    bool known = lanes_of_address(&m.c, &m.part, load, draw, 1, offsets);
    *through = lanes_through(&m.c, &m.part, load);
    of_lines_end(&m);
    return known;
}

// nvcc 13.0, sm_90: x[(tid + start) % length], of which the host says start and length: neighbours but where the ring
// begins anew.
static void places_in_a_ring_are_neighbours(void **state) {
    (void)state;
    static const char *const lines[] = {"|S2R|R23,SR_TID.X",
                                        "|ULDC|UR4,c[0x0][0x224]",
                                        "|MOV|R21,UR4",
                                        "|ULDC|UR5,c[0x0][0x220]",
                                        "|IADD3|R23,R23,UR5,RZ",
                                        "|I2F.U32.RP|R14,R21",
                                        "|ISETP.NE.U32.AND|P2,PT,R21,RZ,PT",
                                        "|MUFU.RCP|R14,R14",
                                        "|VIADD|R6,R14,0xffffffe",
                                        "|F2I.FTZ.U32.TRUNC.NTZ|R7,R6",
                                        "|MOV|R6,RZ",
                                        "|IADD3|R12,RZ,-R7,RZ",
                                        "|IMAD|R11,R12,R21,RZ",
                                        "|IMAD.HI.U32|R12,R7,R11,R6",
                                        "|IMAD.HI.U32|R12,R12,R23,RZ",
                                        "|IMAD.MOV|R14,RZ,RZ,-R12",
                                        "|IMAD|R23,R14,R21,R23",
                                        "|ISETP.GE.U32.AND|P1,PT,R23,R21,PT",
                                        "@P1|IMAD.IADD|R23,R23,0x1,-R21",
                                        "|ISETP.GE.U32.AND|P1,PT,R23,R21,PT",
                                        "@P1|IADD3|R23,R23,-R21,RZ",
                                        "@!P2|LOP3.LUT|R23,RZ,R21,RZ,0x33,!PT",
                                        "|LDC.64|R8,c[0x0][0x210]",
                                        "|IMAD.WIDE.U32|R10,R23,0x4,R8",
                                        "|LDG.E|R18,desc[UR8][R10.64]",
                                        "|STG.E|desc[UR8][R8.64],R18",
                                        "|EXIT|",
                                        NULL};
    i64 at[32];
    u32 through, anew = 0;
    for (u32 draw = 0; draw < 6; draw++) {
        assert_true(offsets_of_machine(lines, draw, at, &through));
        assert_int_equal(through, LANES_DIVIDED | LANES_GUARDED);
        for (u32 lane = 1; lane < 32; lane++) anew += at[lane] - at[lane - 1] != 4;
    }
    assert_true(anew <= 2);  // of 6 rings of 4,096 places and more
}

// What a guard keeps back is what it was, but for the access that the guard lets through as well.
static void guarded_addresses(void **state) {
    (void)state;
    i64 at[32];
    u32 through;
#define GUARDED_LOAD(guard)                                                                                  \
    ((const char *const[]){"|S2R|R0,SR_TID.X", "|LDC.64|R8,c[0x0][0x210]", "|ISETP.GT.AND|P0,PT,R0,0x27,PT", \
                           "@P0|IMAD.SHL.U32|R0,R0,0x8,RZ", "|IMAD.WIDE.U32|R10,R0,0x4,R8",                  \
                           guard "|LDG.E|R18,desc[UR8][R10.64]", "|STG.E|desc[UR8][R8.64],R18", "|EXIT|", NULL})
    // The second warp: lanes 0 to 7 are threads 32 to 39.
    assert_true(offsets_of_machine(GUARDED_LOAD(""), 0, at, &through));
    assert_int_equal(through, LANES_GUARDED);
    assert_int_equal(at[7], 7 * 4);
    assert_int_equal(at[8], 4 * (8 * 40 - 32));
    assert_true(offsets_of_machine(GUARDED_LOAD("@P0"), 0, at, &through));
    assert_int_equal(at[7], 7 * 32);
    assert_int_equal(at[8], 8 * 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_in_a_ring_are_neighbours),
                                       cmocka_unit_test(guarded_addresses),
                                       cmocka_unit_test(lanes_that_leave_a_loop_together),
                                       cmocka_unit_test(bounds_are_far_away),
                                       cmocka_unit_test(what_a_warp_loads_is_the_same_for_its_lanes),
                                       cmocka_unit_test(made_of_the_thread),
                                       cmocka_unit_test(uniform_values_may_be_anything),
                                       cmocka_unit_test(predicates_of_machine_code),
                                       cmocka_unit_test(addresses_that_are_no_stride),
                                       cmocka_unit_test(pointers_that_walk),
                                       cmocka_unit_test(pointers_that_walk_by_products),
                                       cmocka_unit_test(sums_that_a_predicate_decides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
