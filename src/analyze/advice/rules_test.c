// SPDX-License-Identifier: Apache-2.0
// Rules on kernels of which there are only samples, made up: what they find in the code.
#include <string.h>

#include "analyze/advice/sampled_testing.h"

static u32 wait_for_load = 200, block_threads = 128;
static const GpuModel *on_gpu;
static const ProfileFunction *on_function;
static f64 launch_ns;       // 0: not known
static f64 issues_nothing;  // part of the samples in which the scheduler issued nothing; 0: as they fall

// Barriers were waited for besides.
static void sample(Sampled *s, const char *body) {
    KernelView *view = sampled_begin(s, body);
    const FlowCode *code = view->flow.code;
    s->launch.block[0] = block_threads;
    view->gpu = on_gpu;
    if (on_function) view->function = on_function;
    on_function = NULL;
    view->launches.total_ns = launch_ns;
    sample_waits(s, view, wait_for_load);
    for (u32 pc = 0; pc < code->insn_count; pc++)
        if (code->insns[pc].is_barrier) subject_stall(&s->subject, pc, STALL_BARRIER, 500);
    if (issues_nothing > 0) view->total_latency = (u64)(issues_nothing * (f64)view->total);
    sampled_end(s);
}

// One of the copies of an unrolled loop: column x + d, if there is one.
#define COPY(d, test) \
    "add.s32 %r10, %r4, " #d "; " test " @%p1 ld.global.f32 %f1, [%rd3+4*" #d "]; @%p1 add.f32 %f2, %f2, %f1;\n"
#define INSIDE "setp.lt.s32 %p1, %r10, %r5;"

static void guards_of_copies_are_tests(void **state) {
    (void)state;
    Sampled s;
    sample(&s, BEGIN "mov.f32 %f2, 0f00000000;\n" COPY(1, INSIDE) COPY(2, INSIDE) COPY(3, INSIDE) COPY(4, INSIDE)
                   COPY(5, INSIDE) "st.global.f32 [%rd3], %f2; ret;");
    const Hit *hit = ask(&s, "branch-elimination");
    assert_non_null(hit);
    // An addition and a comparison for each of the five copies.
    assert_near(hit->change.issues, 10 * 10);
    forget(&s);
    // Two tests are no pattern.
    sample(&s, BEGIN "mov.f32 %f2, 0f00000000;\n" COPY(1, INSIDE) COPY(2, INSIDE) "st.global.f32 [%rd3], %f2; ret;");
    assert_null(ask(&s, "branch-elimination"));
    forget(&s);
    // What data decides has to be asked.
#define BY_DATA "ld.global.u32 %r11, [%rd3]; setp.lt.s32 %p1, %r10, %r11;"
    sample(&s, BEGIN "mov.f32 %f2, 0f00000000;\n" COPY(1, BY_DATA) COPY(2, BY_DATA) COPY(3, BY_DATA) COPY(4, BY_DATA)
                   COPY(5, BY_DATA) "st.global.f32 [%rd3], %f2; ret;");
    assert_null(ask(&s, "branch-elimination"));
    forget(&s);
}

static void signs_are_tested_together(void **state) {
    (void)state;
    Sampled s;
#define EITHER "or.b32 %r11, %r10, %r1; setp.ge.s32 %p1, %r11, 0;"
    sample(&s, BEGIN "mov.f32 %f2, 0f00000000;\n" COPY(1, EITHER) COPY(2, EITHER) COPY(3, EITHER) COPY(4, EITHER)
                   COPY(5, EITHER) "st.global.f32 [%rd3], %f2; ret;");
    assert_non_null(ask(&s, "branch-elimination"));
    forget(&s);
#define WITH_DATA "ld.global.u32 %r12, [%rd3]; or.b32 %r11, %r10, %r12; setp.ge.s32 %p1, %r11, 0;"
    sample(&s, BEGIN "mov.f32 %f2, 0f00000000;\n" COPY(1, WITH_DATA) COPY(2, WITH_DATA) COPY(3, WITH_DATA)
                   COPY(4, WITH_DATA) COPY(5, WITH_DATA) "st.global.f32 [%rd3], %f2; ret;");
    assert_null(ask(&s, "branch-elimination"));
    forget(&s);
}

// A sum that a loop loads and stores again and again.
#define SUMMED(load, store)                                                                             \
    BEGIN "mov.u32 %r8, 0; turn: " load " %r6, [%rd3]; add.s32 %r6, %r6, %r8; " store " [%rd3], %r6;\n" \
          "add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; ret;"

static bool is_to_be_kept(const char *body) {
    Sampled s;
    sample(&s, body);
    bool kept = ask(&s, "redundant-loads") != NULL;
    forget(&s);
    return kept;
}

// Words by which threads tell each other something, and those of locks, stay in memory.
static void only_weak_accesses_are_redundant(void **state) {
    (void)state;
    assert_true(is_to_be_kept(SUMMED("ld.global.u32", "st.global.u32")));
    assert_false(is_to_be_kept(SUMMED("ld.volatile.global.u32", "st.volatile.global.u32")));
    assert_false(is_to_be_kept(SUMMED("ld.acquire.gpu.global.u32", "st.release.gpu.global.u32")));
    assert_false(is_to_be_kept(SUMMED("ld.relaxed.gpu.global.u32", "st.relaxed.gpu.global.u32")));
    assert_false(is_to_be_kept(BEGIN "turn: atom.global.cas.b32 %r6, [%rd3], 0, 1; setp.ne.s32 %p2, %r6, 0;\n"
                                     "@%p2 bra turn; atom.global.exch.b32 %r7, [%rd3], 0; ret;"));
}

// A loop of %r7 turns.
#define LOOP                                                                                                \
    "mov.u32 %r8, 0; mov.f32 %f1, 0f3f800000;\n"                                                            \
    "turn: fma.rn.f32 %f1, %f1, %f1, %f1; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r7; @%p2 bra turn;\n" \
    "st.global.f32 [%rd3], %f1; ret;"

// ... of as many turns as `turns` says, again until the stack is empty.
#define DEEP(turns)                                                                                           \
    BEGIN "mov.u32 %r8, 9; deep: mov.u32 %r7, 0;\n"                                                           \
          "more: ld.global.u32 %r6, [%rd3]; setp.gt.s32 %p1, %r6, %r5; @%p1 bra skip; add.s32 %r8, %r8, 1;\n" \
          "skip: add.s32 %r7, %r7, 1; setp.lt.s32 %p3, %r7, " turns "; @%p3 bra more;\n"                      \
          "sub.s32 %r8, %r8, 3; setp.gt.s32 %p2, %r8, 0; @%p2 bra deep; st.global.u32 [%rd3], %r8; ret;"

static u32 uneven_loops(const char *body) {
    Sampled s;
    u32 count = 0;
    sample(&s, body);
    ask(&s, "divergence");
    for (u32 i = 0; i < s.c.hits.len; i++) count += strstr(s.c.hits.data[i]->what, "equal length") != NULL;
    forget(&s);
    return count;
}

static void loops_that_data_ends_keep_lanes_waiting(void **state) {
    (void)state;
    Sampled s;
    sample(&s, BEGIN "ld.global.u32 %r7, [%rd3];" LOOP);  // as many turns as was loaded by each lane
    const Hit *hit = ask(&s, "divergence");
    assert_non_null(hit);
    assert_true(hit->doubtful && strstr(hit->what, "equal length"));
    forget(&s);
    sample(&s, BEGIN "mov.u32 %r7, %r5;" LOOP);  // the same for all
    assert_null(ask(&s, "divergence"));
    forget(&s);
    // A stack of which data says whether it grows, in turns of another loop, too.
    assert_int_equal(uneven_loops(DEEP("%r5")), 1);
    assert_int_equal(uneven_loops(DEEP("%r6")), 1);  // both loops: a single change
    sample(&s, BEGIN "add.s32 %r7, %r1, 8;" LOOP);   // the thread's index says how many: not data
    assert_null(ask(&s, "divergence"));
    forget(&s);
}

#define COPIES(to)                                                                                      \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" #to "], [%rd1+" #to "], 64, " \
    "[512];\n"
#define COPIES_OF_ONE(to) "ld.global.u32 %r6, [%rd1+" #to "]; st.shared.u32 [" #to "], %r6;\n"

static void lanes_without_work_need_no_threads(void **state) {
    (void)state;
    Sampled s;
    sample(&s, BEGIN
           "and.b32 %r6, %r4, 1; setp.eq.s32 %p1, %r6, 0; @%p1 bra end;\n"
           "ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1; mul.f32 %f3, %f2, %f1; mul.f32 %f4, %f3, %f2;\n"
           "mul.f32 %f5, %f4, %f3; mul.f32 %f6, %f5, %f4; mul.f32 %f7, %f6, %f5; mul.f32 %f8, %f7, %f6;\n"
           "mul.f32 %f9, %f8, %f7; mul.f32 %f10, %f9, %f8; mul.f32 %f11, %f10, %f9; mul.f32 %f12, %f11, %f10;\n"
           "mul.f32 %f13, %f12, %f7; mul.f32 %f14, %f13, %f8; mul.f32 %f15, %f14, %f9; add.f32 %f16, %f15, %f10;\n"
           "mul.f32 %f17, %f16, %f7; mul.f32 %f18, %f17, %f8; mul.f32 %f19, %f18, %f9; add.f32 %f20, %f19, %f10;\n"
           "mul.f32 %f21, %f20, %f7; mul.f32 %f22, %f21, %f8; mul.f32 %f23, %f22, %f9; add.f32 %f24, %f23, %f10;\n"
           "mul.f32 %f25, %f24, %f7; mul.f32 %f26, %f25, %f8; mul.f32 %f27, %f26, %f9; add.f32 %f28, %f27, %f10;\n"
           "st.global.f32 [%rd3], %f28;\nend: ret;");
    const Hit *hit = ask(&s, "divergence");
    assert_non_null(hit);
    assert_non_null(strstr(hit->what, "Give all lanes of a warp work"));
    f64 idle = 0;
    for (u32 i = 0; i < hit->facts.len; i++)
        if (!strcmp(hit->facts.data[i].name, "idle_threads")) idle = hit->facts.data[i].value;
    assert_near(idle, 50);
    assert_true(hit->change.issues > 0.45 * s.c.load.issued && hit->change.issues < 0.51 * s.c.load.issued);
    forget(&s);
    // A thread that asks for bulk copies does so for all.
    sample(&s, BEGIN "setp.ne.s32 %p1, %r1, 0; @%p1 bra end;\n" COPIES(0) COPIES(64) COPIES(128) "end: ret;");
    assert_null(ask(&s, "divergence"));
    forget(&s);
    sample(&s, BEGIN "setp.ne.s32 %p1, %r1, 0; @%p1 bra end;\n" COPIES_OF_ONE(0) COPIES_OF_ONE(64) "end: ret;");
    assert_non_null(ask(&s, "divergence"));
    forget(&s);
}

#define BARRIER "bar.sync 0; ld.global.f32 %f3, [%rd3]; st.global.f32 [%rd3+4], %f3; ret;"
#define TURNS                                                                                               \
    "mov.u32 %r8, 0; mov.f32 %f1, 0f3f800000;\n"                                                            \
    "turn: fma.rn.f32 %f1, %f1, %f1, %f1; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r7; @%p2 bra turn;\n" \
    "st.global.f32 [%rd3], %f1;\n" BARRIER

static void warps_with_equal_work_are_balanced(void **state) {
    (void)state;
    Sampled s;
    sample(&s, BEGIN "add.s32 %r7, %r1, 8;" TURNS);  // as many turns as the thread's index says
    const Hit *hit = ask(&s, "warp-balance");
    assert_non_null(hit);
    assert_near(hit->change.stalls, 500);
    forget(&s);
    sample(&s, BEGIN "mov.u32 %r7, %r5;" TURNS);  // all as many: who comes late was kept by others
    assert_null(ask(&s, "warp-balance"));
    forget(&s);
}

// A step of a tree: the first `half` threads add what is as far behind, and `more`.
#define STEP(half, more)                                                                                      \
    "setp.lt.u32 %p3, %r1, " #half "; @%p3 ld.shared.f32 %f3, [%r12]; @%p3 ld.shared.f32 %f4, [%r12+4*" #half \
    "];\n" more "@%p3 add.f32 %f3, %f3, %f4; @%p3 st.shared.f32 [%r12], %f3; bar.sync 0;\n"
#define TREE(more)                                                                                             \
    "mov.u32 %r12, 64; mad.lo.s32 %r12, %r1, 4, %r12; ld.global.f32 %f1, [%rd3]; st.shared.f32 [%r12], %f1;\n" \
    "bar.sync 0;\n" STEP(64, more) STEP(32, more) STEP(16, more)                                               \
        STEP(8, more) "ld.shared.f32 %f5, [%r12]; st.global.f32 [%rd3], %f5; ret;"

static void trees_become_shuffles(void **state) {
    (void)state;
    Sampled s;
    sample(&s, BEGIN TREE(""));
    const Hit *hit = ask(&s, "warp-balance");
    assert_non_null(hit);
    assert_non_null(strstr(hit->what, "shuffles"));
    // Six instructions and a barrier in each of four steps.
    assert_near(hit->change.issues, 0.6 * 4 * 6 * 10);
    forget(&s);
    sample(&s, BEGIN TREE("@%p3 ld.shared.f32 %f6, [%r12+8]; @%p3 add.f32 %f3, %f3, %f6;\n"));  // a stencil
    hit = ask(&s, "warp-balance");
    assert_true(!hit || !strstr(hit->what, "shuffles"));
    forget(&s);
}

static void words_are_taken_by_four(void **state) {
    (void)state;
    Sampled s;
    wait_for_load = 800;
    sample(&s, BEGIN "ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd3], %f2; ret;");
    const Hit *hit = ask(&s, "vectorised-access");
    assert_non_null(hit);
    assert_non_null(strstr(hit->what, "take 4 elements"));
    assert_true(hit->change.stalls > 0.75 * 800 && hit->change.stalls < 0.75 * s.c.load.total);
    forget(&s);
    // Two words of a thread side by side are one element of eight bytes.
    sample(&s, BEGIN "mul.wide.s32 %rd4, %r4, 8; add.s64 %rd5, %rd1, %rd4;\n"
                     "ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd5+4]; add.f32 %f3, %f1, %f2;\n"
                     "st.global.f32 [%rd3], %f3; ret;");
    hit = ask(&s, "vectorised-access");
    assert_non_null(hit);
    forget(&s);
    // Neighbours' words are no longer the thread's own.
    sample(&s, BEGIN "ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+4]; add.f32 %f3, %f1, %f2; ret;");
    hit = ask(&s, "vectorised-access");
    assert_true(!hit || !strstr(hit->what, "take"));
    forget(&s);
    sample(&s, BEGIN "ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd3], %f2;\n" BARRIER);
    assert_null(ask(&s, "vectorised-access"));
    forget(&s);
    wait_for_load = 200;
}

// A loop over words from where %r7 says.
#define WALK                                                                                                \
    "mul.wide.s32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4; mov.u32 %r8, 0; mov.f32 %f1, 0f00000000;\n"       \
    "turn: ld.global.f32 %f2, [%rd5]; add.f32 %f1, %f1, %f2; add.s64 %rd5, %rd5, 4; add.s32 %r8, %r8, 1;\n" \
    "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.f32 [%rd3], %f1; ret;"

static void runs_of_lanes_can_be_shared(void **state) {
    (void)state;
    Sampled s;
    sample(&s, BEGIN "ld.global.u32 %r7, [%rd3];" WALK);  // each lane from where it has loaded
    const Hit *hit = ask(&s, "global-coalescing");
    assert_non_null(hit);
    assert_true(hit->doubtful && strstr(hit->what, "runs"));
    assert_true(hit->change.issues < 0);  // 32 times as many warps begin and end, and each adds up
    forget(&s);
    sample(&s, BEGIN "mov.u32 %r7, %r4;" WALK);  // neighbours' words: nothing to share
    assert_null(ask(&s, "global-coalescing"));
    forget(&s);
}

// Each lane goes where it was sent: 32 passes through the L1, and one for the index.
#define GATHER                                                                          \
    "ld.global.u32 %r7, [%rd3]; mul.wide.s32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4;\n" \
    "ld.global.f32 %f1, [%rd5]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd3], %f2; ret;"

static void a_full_l1_is_seen_in_latencies(void **state) {
    (void)state;
    Sampled s;
    sample(&s, BEGIN GATHER);  // so many warps in line would wait longer
    assert_false(s.c.l1_full);
    forget(&s);
    issues_nothing = 0.99;
    sample(&s, BEGIN GATHER);  // so few, and they wait as long: they are in line
    assert_true(s.c.l1_full);
    forget(&s);
    issues_nothing = 0;
}

// Counts what was loaded: each of the copies of an unrolled loop is a small part of the time.
#define COUNT \
    "add.s32 %r7, %r7, 3; mul.wide.s32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4; red.global.add.u32 [%rd5], 1;\n"

static void copies_of_atomics_are_one_change(void **state) {
    (void)state;
    Sampled s;
    on_gpu = &gpu_of_atomics;
    wait_for_load = 200000;  // many times what an idle machine takes
    sample(&s, BEGIN "ld.global.u32 %r7, [%rd3];\n" COUNT COUNT COUNT COUNT COUNT COUNT COUNT COUNT "ret;");
    const Hit *hit = ask(&s, "atomic-contention");
    assert_non_null(hit);
    assert_int_equal(s.c.hits.len, 1);
    assert_true(s.c.load.busy[RESOURCE_ATOMIC] > 0.9);
    // Of eight copies one stays, for eight neighbouring words at once.
    assert_near(hit->change.relief[RESOURCE_ATOMIC], s.c.load.busy[RESOURCE_ATOMIC] * (1 - 1.0 / 64));
    forget(&s);
    on_gpu = NULL;
    wait_for_load = 200;
}

// Adds one to a counter of shared memory: words of so many bytes apart between threads, and between digits.
#define COUNT_DIGIT(thread, digit)                                                                           \
    BEGIN ".shared .align 4 .b8 own[8192]; ld.global.u32 %r6, [%rd3]; and.b32 %r6, %r6, 15;\n"               \
          "mov.u32 %r7, own; mad.lo.s32 %r8, %r1, " #thread ", %r7; mad.lo.s32 %r9, %r6, " #digit ", %r8;\n" \
          "ld.shared.u32 %r10, [%r9]; add.s32 %r10, %r10, 1; st.shared.u32 [%r9], %r10; ret;"

static void rows_of_threads_can_be_columns(void **state) {
    (void)state;
    Sampled s;
    sample(&s, COUNT_DIGIT(64, 4));
    const Hit *hit = ask(&s, "shared-conflicts");
    assert_non_null(hit);
    for (u32 i = 0; i < s.c.parts[0].access_count; i++)
        if (access_is_shared(&s.c.parts[0].accesses[i])) assert_near(s.c.parts[0].accesses[i].passes, ACCESS_AT_RANDOM);
    forget(&s);
    sample(&s, COUNT_DIGIT(4, 512));  // each lane has its own bank
    assert_null(ask(&s, "shared-conflicts"));
    for (u32 i = 0; i < s.c.parts[0].access_count; i++)
        if (access_is_shared(&s.c.parts[0].accesses[i])) assert_near(s.c.parts[0].accesses[i].passes, 1);
    forget(&s);
}

// The same of bits of a loaded word, shifted and masked.
#define COUNT_BITS(shift, mask)                                                                        \
    BEGIN ".shared .align 4 .b8 own[8192]; ld.global.u32 %r6, [%rd3]; shl.b32 %r6, %r6, " #shift ";\n" \
          "and.b32 %r6, %r6, " #mask "; mov.u32 %r7, own; mad.lo.s32 %r8, %r1, 4, %r7;\n"              \
          "add.s32 %r9, %r6, %r8; ld.shared.u32 %r10, [%r9]; add.s32 %r10, %r10, 1;\n"                 \
          "st.shared.u32 [%r9], %r10; ret;"

static f64 passes_of_counter(const char *body) {
    Sampled s;
    f64 passes = 0;
    sample(&s, body);
    for (u32 i = 0; i < s.c.parts[0].access_count; i++)
        if (access_is_shared(&s.c.parts[0].accesses[i])) passes = s.c.parts[0].accesses[i].passes;
    forget(&s);
    return passes;
}

static void masks_keep_lanes_in_their_banks(void **state) {
    (void)state;
    assert_near(passes_of_counter(COUNT_BITS(2, 0x1f80)), 1);
    assert_near(passes_of_counter(COUNT_BITS(7, 0x1fff)), 1);
    assert_near(passes_of_counter(COUNT_BITS(2, 0x1ffc)), ACCESS_AT_RANDOM);
    assert_near(passes_of_counter(COUNT_BITS(6, 0x1fff)), ACCESS_AT_RANDOM);
}

// Lanes that each set a flag where data says, in an array of so many bytes of their own.
static f64 sectors_of_flags(u32 bytes) {
    Sampled s;
    ProfileFunction function = {.name = "flags", .local_bytes = bytes};
    f64 sectors = 0;
    on_function = &function;
    sample(&s, BEGIN ".local .align 4 .b8 flags[64]; ld.global.u32 %r6, [%rd3]; and.b32 %r6, %r6, 60;\n"
                     "mov.u32 %r7, flags; add.s32 %r8, %r7, %r6; st.local.u32 [%r8], %r1; ret;");
    for (u32 i = 0; i < s.c.parts[0].access_count; i++)
        if (s.c.parts[0].accesses[i].space == SPACE_LOCAL) sectors = s.c.parts[0].accesses[i].sectors;
    forget(&s);
    return sectors;
}

static void lanes_meet_in_small_arrays(void **state) {
    (void)state;
    f64 few = sectors_of_flags(32), many = sectors_of_flags(4096);
    assert_true(few > 7.5 && few < 8);    // eight words, each a line
    assert_true(many > 31 && many < 32);  // hardly two lanes in the same word
}

// What printf and the like are to print is put into an array for them, which has to be in memory.
static void arguments_of_outside_calls_stay(void **state) {
    (void)state;
    Sampled s;
    sample(&s, BEGIN ".local .align 8 .b8 buffer[8]; mov.u64 %rd5, buffer; cvta.local.u64 %rd6, %rd5;\n"
                     "st.local.u32 [%rd5], %r4; { .param .b64 a; st.param.b64 [a], %rd6;\n"
                     "proto: .callprototype _ (.param .b64 _); call %rd1, (a), proto; } ret;");
    assert_null(ask(&s, "function-inlining"));
    assert_null(ask(&s, "register-reuse"));
    assert_null(ask(&s, "spills"));
    forget(&s);
}

// Loads at rows of 784 bytes, a row for each thread: i & -256 and i - (i & -256) are what becomes of i / 256 and i %
// 256.
#define ROWS                                                                                                     \
    BEGIN "and.b32 %r6, %r4, -256; sub.s32 %r7, %r4, %r6; mul.lo.s32 %r8, %r7, 784; mad.lo.s32 %r9, %r6, " PITCH \
          ", %r8; cvt.s64.s32 %rd4, %r9; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];\n"                 \
          "ld.global.f32 %f2, [%rd5+4]; add.f32 %f3, %f1, %f2; st.global.f32 [%rd3], %f3; ret;"

static void places_by_quotients_are_tried_out(void **state) {
    (void)state;
    Sampled s;
#define PITCH "784"
    sample(&s, ROWS);
    const Hit *hit = ask(&s, "global-coalescing");
    assert_non_null(hit);
    assert_int_equal(s.c.parts[0].accesses[0].apart, 784);
    assert_near(s.c.parts[0].accesses[0].sectors, 32);
    assert_true(lanes_go_apart(&s.c, &s.c.parts[0], s.c.parts[0].accesses[0].pc));
    s.launch.grid[0] = 2,
    s.launch.block[0] = 32;  // what would be the first CTA's second warp is the second CTA's first
    assert_true(lanes_go_apart(&s.c, &s.c.parts[0], s.c.parts[0].accesses[0].pc));
    forget(&s);
#undef PITCH
#define PITCH "0"  // CTAs of 256 threads' numbers all start at the same row
    sample(&s, ROWS);
    assert_false(lanes_go_apart(&s.c, &s.c.parts[0], s.c.parts[0].accesses[0].pc));
    forget(&s);
    // A remainder by what is known at launch only decides how far lanes are apart: not known.
    sample(&s, BEGIN "and.b32 %r6, %r4, 3; mul.lo.s32 %r7, %r6, %r5; cvt.s64.s32 %rd4, %r7; add.s64 %rd5, %rd1, %rd4;\n"
                     "ld.global.f32 %f1, [%rd5]; st.global.f32 [%rd3], %f1; ret;");
    assert_int_equal(s.c.parts[0].accesses[0].known, ACCESS_UNKNOWN);
    forget(&s);
}

// A loop of ten turns that loads a word, and stores it where the turn says.
#define RING                                                                                            \
    ".local .align 4 .b8 ring[64]; mov.u32 %r8, 0;\n"                                                   \
    "turn: and.b32 %r7, %r8, %r5; shl.b32 %r7, %r7, 2; mov.u32 %r9, ring; add.s32 %r9, %r9, %r7;\n"     \
    "ld.global.u32 %r6, [%rd3]; st.local.u32 [%r9], %r6; add.s64 %rd3, %rd3, 4; add.s32 %r8, %r8, 1;\n" \
    "setp.lt.s32 %p2, %r8, %r5; @%p2 bra turn; ld.local.u32 %r10, [%r9]; st.global.u32 [%rd3], %r10; ret;"

static f64 stalls_without_array(u32 bytes) {
    Sampled s;
    ProfileFunction function = {.name = "ring", .local_bytes = bytes};
    sample(&s, BEGIN RING);
    s.subject.view.function = &function;
    const Hit *hit = ask(&s, "register-reuse");
    assert_non_null(hit);
    f64 stalls = hit->change.stalls;
    forget(&s);
    return stalls;
}

// A loop that goes round in an array several times is not unrolled for it: its loads stay one after the other.
static void loops_round_an_array_stay(void **state) {
    (void)state;
    assert_true(stalls_without_array(64) > stalls_without_array(16) + 100);
}

static f64 latency_of_second(const char *body) {
    Sampled s;
    sample(&s, body);
    assert_int_equal(s.c.parts[0].access_count, 2);
    f64 latency = s.c.parts[0].accesses[1].latency;
    assert_true(s.c.parts[0].accesses[0].latency == latency);
    forget(&s);
    return latency;
}

// A load whose address another one brings begins when that has ended: of the two waits each has one.
static void loads_one_behind_the_other_have_a_part_of_the_wait_each(void **state) {
    (void)state;
    f64 beside = latency_of_second(BEGIN "ld.global.u64 %rd7, [%rd3]; ld.global.u32 %r8, [%rd3+8];\n"
                                         "add.s32 %r9, %r8, %r5; ret;");
    f64 behind = latency_of_second(BEGIN "ld.global.u64 %rd7, [%rd3]; ld.global.u32 %r8, [%rd7];\n"
                                         "add.s32 %r9, %r8, %r5; ret;");
    f64 two =
        latency_of_second(BEGIN "ld.global.u32 %r7, [%rd3]; add.s32 %r7, %r7, 5; mul.wide.s32 %rd4, %r7, 4;\n"
                                "add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r8, [%rd5]; add.s32 %r9, %r8, %r5; ret;");
    assert_near(beside, 20);  // one wait of 200 samples, 10 issues
    assert_near(behind, 20);  // two of them
    assert_near(two, 20);
}

// Behind a loop an addition to one word, which was sampled more often than there are warps.
static void once_for_each_warp(void **state) {
    (void)state;
    Sampled s;
    static const GpuModel gpu = {.sms = 100,
                                 .warp_schedulers = 4,
                                 .clock_mhz = 1000,
                                 .noc_clock_mhz = 1000,
                                 .l2_atomic_interval = 100,
                                 .max_ctas_per_sm = 8,
                                 .max_threads_per_sm = 1024};
    on_gpu = &gpu;
    static const ProfileFunction function = {.name = "sum"};
    on_function = &function;
    launch_ns = 100000;  // 40,000,000 issue slots for 4,000 warps
    issues_nothing = 0.9;
    sample(&s, BEGIN "mov.u32 %r7, %r5;\n"
                     "mov.u32 %r8, 0; turn: add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r7; @%p2 bra turn;\n"
                     "red.global.add.u32 [%rd1], %r8; ret;");
    const CasePart *part = &s.c.parts[0];
    const CaseAccess *red = &part->accesses[part->access_count - 1];
    assert_true(red->atomic);
    f64 slots = 4e7 * s.c.load.issue_rate, warps = red->requests * slots / s.c.load.issued;
    assert_true(warps > 3999 && warps <= 4000 * s.c.load.too_high * 1.001);  // as far as is certain
    // The L2 has one of each of 4,000 warps in the 100,000 cycles, less those that beginning and ending take.
    assert_near(100 * s.c.load.busy[RESOURCE_ATOMIC], 4 / (1 - s.c.fixed));
    forget(&s);
    on_gpu = NULL;
    launch_ns = issues_nothing = 0;
}

// Four bytes of a thread in four stores: each writes the four sectors of its warp, together they write them once.
static void joined_stores_write_a_sector_once(void **state) {
    (void)state;
    Sampled s;
    static const GpuModel gpu = {.sms = 100,
                                 .warp_schedulers = 4,
                                 .clock_mhz = 1000,
                                 .noc_clock_mhz = 1000,
                                 .l2_slices = 50,
                                 .l2_port = 64,
                                 .l2_write_port = 64};
    static const ProfileFunction function = {.name = "bytes"};
    on_gpu = &gpu, on_function = &function;
    launch_ns = 10000;
    issues_nothing = 0.9;
    sample(&s, BEGIN "st.global.u8 [%rd3], %r4; st.global.u8 [%rd3+1], %r4; st.global.u8 [%rd3+2], %r4;\n"
                     "st.global.u8 [%rd3+3], %r4; ret;");
    const Hit *hit = ask(&s, "vectorised-access");
    assert_non_null(hit);
    assert_true(s.c.load.busy[RESOURCE_L2] > 0);
    assert_near(hit->change.relief[RESOURCE_L2], s.c.load.busy[RESOURCE_L2] * 0.75);
    forget(&s);
    on_gpu = NULL;
    launch_ns = issues_nothing = 0;
}

static const char *library(const char *name) {
    ProfileFunction function = {.name = name};
    return kernel_library(&(KernelView){.function = &function});
}

static void kernels_of_libraries_are_known(void **state) {
    (void)state;
    assert_string_equal(library("_ZN3cub17CUB_300001_SM_7506detail6reduce18DeviceReduceKernelE"), "CUB");
    assert_string_equal(library("_ZN2at6native29vectorized_elementwise_kernelILi4E"), "PyTorch");
    assert_string_equal(library("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32"), "cuBLAS or cuDNN");
    assert_null(library("_Z3cubPf"));
    assert_null(library("histogram"));
}

// 2.6 us to begin and end a launch.
static void short_launches_are_told(void **state) {
    (void)state;
    Arena arena = {0};
    GpuModel gpu = {.clock_mhz = 1000, .launch_overhead = 2200, .launch_end = 400};
    KernelView view = {.gpu = &gpu, .launches = {.count = 10, .total_ns = 40000}};
    assert_non_null(strstr(case_short(&arena, &view), "launches are short (4 us)"));
    view.launches.total_ns = 50000;
    assert_string_equal(case_short(&arena, &view), "");
    view.gpu = NULL;
    assert_string_equal(case_short(&arena, &view), "");
    arena_free(&arena);
}

// What DRAM has to do with a store to local memory, when threads have so many bytes of it: all of the L1 has them.
static f64 dram_of_local(u32 bytes) {
    Sampled s;
    static const GpuModel gpu = {.sms = 100,
                                 .warp_schedulers = 4,
                                 .clock_mhz = 1000,
                                 .l1_size = 1 << 30,
                                 .l2_usable = 1 << 20,
                                 .max_ctas_per_sm = 8,
                                 .max_threads_per_sm = 1024,
                                 .dram_channels = 10,
                                 .dram_burst = 64,
                                 .dram_clock_mhz = 1000,
                                 .t_burst = 1};
    ProfileFunction function = {.name = "frames", .local_bytes = bytes};
    on_gpu = &gpu, on_function = &function;
    launch_ns = 10000;
    issues_nothing = 0.9;
    sample(&s, ".local .b32 v[64]; " BEGIN "st.local.u32 [v], %r4; ret;");
    f64 busy = s.c.load.busy[RESOURCE_DRAM];
    forget(&s);
    on_gpu = NULL;
    launch_ns = issues_nothing = 0;
    return busy;
}

static void frames_that_leave_the_l2_are_written_to_dram(void **state) {
    (void)state;
    assert_true(dram_of_local(4) <= 0);
    assert_true(dram_of_local(4096) > 0.01);
}

// What block-increase and thread-increase say of a grid of one CTA: "" nothing.
static const char *for_one_cta(u32 threads, const char *rule, const char *body) {
    static char text[256];
    Sampled s;
    static const GpuModel gpu = {.sms = 100,
                                 .warp_schedulers = 4,
                                 .clock_mhz = 1000,
                                 .l1_latency = 30,
                                 .l2_latency = 200,
                                 .max_ctas_per_sm = 8,
                                 .max_threads_per_sm = 1024};
    on_gpu = &gpu;
    sample(&s, body);
    s.launch = (ProfileLaunch){.grid = {1, 1, 1}, .block = {threads, 1, 1}};
    ViewOccupancy *o = &s.subject.view.occupancy;
    *o = (ViewOccupancy){.ctas_per_sm = 8, .warps_per_cta = (threads + 31) / 32, .warps_per_sm = 32, .waves = 0.001};
    for (u32 l = 0; l < s.view->flow.loops->loop_count; l++) s.c.parts[0].loops[l].trips = 1000;
    const Hit *hit = ask(&s, rule);
    snprintf(text, sizeof text, "%s", hit ? hit->what : "");
    forget(&s);
    on_gpu = NULL;
    return text;
}

// A turn: what is loaded from address %rd3, or from shared memory, is stored to address %rd6 or there.
#define DEALT(body)                                                          \
    BEGIN "mov.u32 %r8, 0; mov.u64 %rd6, %rd3; mul.wide.s32 %rd7, %r3, 4;\n" \
          "mov.u32 %r9, tile; mad.lo.s32 %r9, %r1, 4, %r9;\n"                \
          "more: " body                                                      \
          " add.s64 %rd3, %rd3, %rd7; add.s32 %r8, %r8, 1; setp.lt.s32 %p1, %r8, %r5; @%p1 bra more; ret;"

static void turns_that_need_no_other_are_dealt(void **state) {
    (void)state;
    const char *own = DEALT("ld.global.f32 %f1, [%rd3]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd3], %f1;");
    assert_non_null(strstr(for_one_cta(256, "block-increase", own), "Split the loop"));
    assert_non_null(strstr(for_one_cta(1, "thread-increase", own), "CTAs of 256 threads instead of 1"));
    assert_string_equal(for_one_cta(1, "block-increase", own), "");  // lanes first
    // What the turn before has stored.
    const char *next = DEALT("ld.global.f32 %f1, [%rd3+-4096]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd3], %f1;");
    assert_null(strstr(for_one_cta(256, "block-increase", next), "Split the loop"));
    assert_string_equal(for_one_cta(1, "thread-increase", next), "");
    // ... which it may not, if what is read is said to stay as it is: tables of an exact sine (held_out_38/xylophones).
    const char *table = DEALT("ld.global.nc.f32 %f1, [%rd3+-4096]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd3], %f1;");
    assert_non_null(strstr(for_one_cta(256, "block-increase", table), "Split the loop"));
    // A tile that each turn fills, and one that goes on from turn to turn.
    const char *tile =
        DEALT("ld.global.f32 %f1, [%rd3]; st.shared.f32 [%r9], %f1; bar.sync 0; ld.shared.f32 %f2, [tile];"
              "bar.sync 0; st.global.f32 [%rd3], %f2;");
    assert_non_null(strstr(for_one_cta(256, "block-increase", tile), "Split the loop"));
    const char *state_of_cta =
        DEALT("ld.shared.f32 %f2, [tile]; bar.sync 0; ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f2, %f1;"
              "st.shared.f32 [%r9], %f2; bar.sync 0; st.global.f32 [%rd3], %f2;");
    assert_null(strstr(for_one_cta(256, "block-increase", state_of_cta), "Split the loop"));
}

// A walk from word to word, with arithmetic on a second array at each: `link` makes the next place %r8.
#define LIST_OF(link)                                                                                       \
    BEGIN "mov.u32 %r8, %r4; mov.f32 %f2, 0f00000000;\n"                                                    \
          "more: mul.wide.s32 %rd4, %r8, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5+1048576];\n" \
          "fma.rn.f32 %f2, %f1, %f1, %f2; fma.rn.f32 %f2, %f2, %f2, %f1;\n" link                            \
          " setp.ge.s32 %p1, %r8, 0; @%p1 bra more; st.global.f32 [%rd3], %f2; ret;"

static void what_a_list_leads_to_is_loaded_ahead(void **state) {
    (void)state;
    Sampled s;
    sample(&s, LIST_OF("ld.global.u32 %r8, [%rd5];"));
    const Hit *hit = ask(&s, "code-reordering");
    assert_true(hit && hit->text && strstr(hit->text->how, "next turn"));  // no barrier is there to load ahead of
    forget(&s);
    // Where to go on is decided by what is computed there.
    sample(&s, LIST_OF("ld.global.u32 %r9, [%rd5]; cvt.rzi.s32.f32 %r10, %f2; add.s32 %r8, %r9, %r10;"));
    assert_null(ask(&s, "code-reordering"));
    forget(&s);
}

// for (; i < %r5; i += step) b[i] = a[i]: %r4 is the thread's number in the grid, %r9 what a turn goes on by.
#define COPY_LOOP(step)                                                                                     \
    BEGIN "mov.u32 %r6, %nctaid.x; " step " mul.wide.s32 %rd4, %r9, 4;\n"                                   \
          "more: ld.global.f32 %f1, [%rd3]; st.global.f32 [%rd3+1048576], %f1; add.s64 %rd3, %rd3, %rd4;\n" \
          "add.s32 %r4, %r4, %r9; setp.lt.s32 %p1, %r4, %r5; @%p1 bra more; ret;"

static bool widens_with(const char *body, f64 waves) {
    Sampled s;
    wait_for_load = 2000;
    sample(&s, body);
    wait_for_load = 200;
    s.subject.view.occupancy.waves = waves;
    const Hit *hit = ask(&s, "vectorised-access");
    bool found = hit && strstr(hit->what, "accesses of 16 bytes");
    forget(&s);
    return found;
}

static bool widens(const char *body) { return widens_with(body, 0); }

static void turns_over_the_grid_take_several_elements(void **state) {
    (void)state;
    assert_true(widens(COPY_LOOP("mul.lo.s32 %r9, %r3, %r6;")));  // all threads of the grid
    assert_true(widens(COPY_LOOP("mov.u32 %r9, %r3;")));          // ... of the CTA
    assert_true(widens(COPY_LOOP("mov.u32 %r9, 256;")));          // two CTAs, as the compiler knows
    assert_false(widens(COPY_LOOP("mov.u32 %r9, 1;")));           // the next lane's
    assert_false(widens(COPY_LOOP("mov.u32 %r9, 192;")));         // what others have as well
    // A pitch: other rows, which are no turns to be joined; of each row a thread could have neighbours, as long as
    // enough threads are left. Fewer turns need none.
    assert_false(widens_with(COPY_LOOP("mov.u32 %r9, %r5;"), 2));
    assert_true(widens_with(COPY_LOOP("mov.u32 %r9, %r5;"), 20));
    assert_true(widens_with(COPY_LOOP("mov.u32 %r9, %r3;"), 2));
}

// A number loaded for the thread's row, or by each thread for itself, to which its column is added.
#define PLACE_OF(row, more)                                                                                   \
    BEGIN                                                                                                     \
    "and.b32 %r6, %r4, 63; shr.u32 %r7, %r4, " row "; mul.wide.u32 %rd4, %r7, 4; add.s64 %rd4, %rd4, %rd1;\n" \
    "ld.global.u32 %r8, [%rd4];" more "add.s32 %r9, %r8, %r6; mul.wide.s32 %rd5, %r9, 4;\n"                   \
    "add.s64 %rd6, %rd1, %rd5; ld.global.f32 %f1, [%rd6]; add.f32 %f2, %f1, %f1; st.shared.f32 [tile], %f2; ret;"

static bool computes_place(const char *body) {
    Sampled s;
    sample(&s, body);
    const Hit *hit = ask(&s, "indirect-addressing");
    bool found = hit && hit->doubtful;
    forget(&s);
    return found;
}

static void places_that_lanes_share_are_computed(void **state) {
    (void)state;
    assert_true(computes_place(PLACE_OF("6", "")));
    assert_false(computes_place(PLACE_OF("0", "")));  // what each lane looks up: data
    assert_false(computes_place(PLACE_OF("6", "setp.lt.s32 %p1, %r6, %r8; @!%p1 ret;")));  // a length
}

static bool wants_constants(u32 threads) {
    Sampled s;
    block_threads = threads;
    sample(&s, BEGIN "mov.u32 %r6, 0;\n"
                     "turn: ld.global.u64 %rd1, [%rd1]; add.s32 %r6, %r6, 1; setp.ne.s64 %p1, %rd1, 0;\n"
                     "@%p1 bra turn; st.global.u32 [%rd3], %r6; ret;");
    bool found = ask(&s, "memory-transactions") != NULL;
    forget(&s);
    block_threads = 128;
    return found;
}

// Through a list all threads of a CTA go alike; a single one has nobody to share with.
static void a_single_thread_shares_nothing(void **state) {
    (void)state;
    assert_true(wants_constants(128));
    assert_false(wants_constants(1));
}

// A launch of 1 us every `every` ns; every fourth is of another function, the last ones were recorded without times.
static f64 period(u64 every) {
    enum { LAUNCHES = 64, TIMED = 48 };
    ProfileLaunch launches[LAUNCHES];
    for (u32 i = 0; i < LAUNCHES; i++) {
        u64 begin = i < TIMED ? 5000 + every * i : 0;
        launches[i] = (ProfileLaunch){.function = i % 4 == 3, .begin_ns = begin, .end_ns = begin ? begin + 1000 : 0};
    }
    return launches_period(launches, LAUNCHES, 0);
}

static void launches_follow_each_other(void **state) {
    (void)state;
    assert_float_equal(period(3000), 3000, 1);
    assert_float_equal(period(30000), 0, 0);  // the host does something else in between
    assert_float_equal(period(900), 0, 0);    // they run side by side
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_that_lanes_share_are_computed),
                                       cmocka_unit_test(launches_follow_each_other),
                                       cmocka_unit_test(a_single_thread_shares_nothing),
                                       cmocka_unit_test(frames_that_leave_the_l2_are_written_to_dram),
                                       cmocka_unit_test(turns_that_need_no_other_are_dealt),
                                       cmocka_unit_test(what_a_list_leads_to_is_loaded_ahead),
                                       cmocka_unit_test(turns_over_the_grid_take_several_elements),
                                       cmocka_unit_test(guards_of_copies_are_tests),
                                       cmocka_unit_test(only_weak_accesses_are_redundant),
                                       cmocka_unit_test(loops_that_data_ends_keep_lanes_waiting),
                                       cmocka_unit_test(lanes_without_work_need_no_threads),
                                       cmocka_unit_test(kernels_of_libraries_are_known),
                                       cmocka_unit_test(short_launches_are_told),
                                       cmocka_unit_test(warps_with_equal_work_are_balanced),
                                       cmocka_unit_test(a_full_l1_is_seen_in_latencies),
                                       cmocka_unit_test(trees_become_shuffles),
                                       cmocka_unit_test(words_are_taken_by_four),
                                       cmocka_unit_test(runs_of_lanes_can_be_shared),
                                       cmocka_unit_test(copies_of_atomics_are_one_change),
                                       cmocka_unit_test(signs_are_tested_together),
                                       cmocka_unit_test(places_by_quotients_are_tried_out),
                                       cmocka_unit_test(arguments_of_outside_calls_stay),
                                       cmocka_unit_test(rows_of_threads_can_be_columns),
                                       cmocka_unit_test(masks_keep_lanes_in_their_banks),
                                       cmocka_unit_test(lanes_meet_in_small_arrays),
                                       cmocka_unit_test(loops_round_an_array_stay),
                                       cmocka_unit_test(loads_one_behind_the_other_have_a_part_of_the_wait_each),
                                       cmocka_unit_test(once_for_each_warp),
                                       cmocka_unit_test(joined_stores_write_a_sector_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
