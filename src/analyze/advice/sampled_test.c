// SPDX-License-Identifier: Apache-2.0
// What rules see of a kernel of which there are only PC samples: recorded machine code, samples made up.
#include "store/sample_profile.h"
#include "store/store_testing.h"

#include <math.h>
#include <string.h>

#include "analyze/advice/rule.h"
#include "base/file.h"

// Of tests/sass/kernels.cu, `histogram`:
enum { LOAD = 22, WAITS = 23, READS = 25 };  // of the image; behind it; what needs it
enum { ATOMIC = 45, EXIT = 46 };             // the last two
enum { BARRIER = 29, BEHIND = 30 };          // the second one
static const RecordSample of_histogram[] = {{.pc = LOAD, .stall = STALL_SELECTED, .samples = 12},
                                            {.pc = WAITS, .stall = STALL_LONG_SCOREBOARD, .samples = 900},
                                            {.pc = EXIT + 1, .stall = STALL_DRAIN, .samples = 50}};

static void write_file(Sink *sink, RecordKind kind, const void *record, const char *head, size_t head_size,
                       const char *file) {
    FileData data;
    assert_int_equal(file_read(file, &data, NULL), STATUS_OK);
    char *tail = mem_zero(head_size + data.size + 1, 1);
    memcpy(tail, head, head_size);
    memcpy(tail + head_size, data.data, data.size);
    assert_int_equal(sink_write(sink, kind, record, tail, head_size + data.size), STATUS_OK);
    mem_free(tail);
    file_release(&data);
}

static size_t size_of(const char *file) {
    FileData data;
    assert_int_equal(file_read(file, &data, NULL), STATUS_OK);
    size_t size = data.size;
    file_release(&data);
    return size;
}

static const char *cubin = "tests/sass/kernels_90.cubin", *listing = "tests/sass/kernels_90.json";

static void write_profile(const char *kernel, const RecordSample *rows, u32 count) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    char tail[64];
    RecordSource source = {.source = 1, .provenance = PROVENANCE_SAMPLED};
    size_t size = SAMPLE_TAIL(tail, "CUPTI", "NVIDIA H200", "device 0");
    assert_int_equal(sink_write(sink, RECORD_SOURCE, &source, tail, size), STATUS_OK);
    for (u32 r = 0; r < STALL_COUNT; r++) {
        RecordStallName name = {.source = 1, .stall = r};
        size = SAMPLE_TAIL(tail, stall_names[r], "");
        assert_int_equal(sink_write(sink, RECORD_STALL_NAME, &name, tail, size), STATUS_OK);
    }
    RecordModule module = {.module = 1, .kind = 1, .hash = 7, .text_size = size_of(cubin)};
    write_file(sink, RECORD_MODULE, &module, "", 1, cubin);
    RecordListing listed = {.module = 1, .text_size = size_of(listing)};
    write_file(sink, RECORD_LISTING, &listed, "nvdisasm-json", sizeof "nvdisasm-json", listing);
    RecordFunction function = {.function = 1, .module = 1, .is_entry = 1};
    assert_int_equal(sink_write(sink, RECORD_FUNCTION, &function, kernel, strlen(kernel) + 1), STATUS_OK);
    assert_int_equal(sample_launch(sink, 1, 1), STATUS_OK);
    RecordSamples samples = {.function = 1, .source = 1, .period = 1024, .count = count};
    assert_int_equal(sink_write(sink, RECORD_SAMPLES, &samples, rows, count * sizeof *rows), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
}

typedef struct Sampled {
    Profile *profile;
    KernelViews *views;
    const KernelView *view;
} Sampled;

static Sampled open_sampled(const char *kernel, const RecordSample *rows, u32 samples) {
    Sampled s;
    const ProfileFunction *const *list;
    u32 count;
    write_profile(kernel, rows, samples);
    assert_int_equal(profile_open(path, &s.profile, NULL), STATUS_OK);
    assert_int_equal(kernel_views_open(s.profile, &(KernelViewOptions){.gpu_folder = "gpus"}, &s.views, NULL),
                     STATUS_OK);
    assert_int_equal(kernel_views_launched(s.views, 0, NULL, NULL, &list, &count), STATUS_OK);
    assert_int_equal(kernel_views_get(s.views, list[0], &s.view, NULL), STATUS_OK);
    return s;
}

static void close_sampled(Sampled *s) {
    kernel_views_close(s->views);
    profile_close(s->profile);
}

typedef struct Asked {
    Sampled s;
    const KernelView *view;
    Arena arena, scratch;
    AdviceContext context;
    AdviceCase c;
} Asked;

// What is known of the kernel of which there are these samples.
static const AdviceCase *look_at(Asked *a, const char *kernel, const RecordSample *rows, u32 count) {
    *a = (Asked){.s = open_sampled(kernel, rows, count)};
    a->view = a->s.view;
    a->context = (AdviceContext){
        .profile = a->s.profile, .views = a->s.views, .arena = &a->arena, .kernels = &a->view, .kernel_count = 1};
    assert_int_equal(case_make(&a->context, a->s.view, &a->scratch, &a->c), STATUS_OK);
    return &a->c;
}

// What the rule says of it: it finds one place.
static const EstimateChange *ask(Asked *a, const char *kernel, const RecordSample *rows, u32 count, const char *rule) {
    look_at(a, kernel, rows, count);
    u32 i = 0;
    while (strcmp(advice_rules[i].name, rule)) i++;
    a->c.rule = &advice_rules[i];
    advice_functions[i](&a->c);
    assert_int_equal(a->c.status, STATUS_OK);
    assert_int_equal(a->c.hits.len, 1);
    return &a->c.hits.data[0]->change;
}

static void forget(Asked *a) {
    case_free(&a->c);
    arena_free(&a->scratch);
    arena_free(&a->arena);
    close_sampled(&a->s);
}

// All instructions of the block ran as often, although only one of them was caught issuing; and the kernel has issued
// as often as was sampled, although blocks that were only caught waiting have run, too.
TEST(instructions_of_a_block_run_equally_often) {
    Asked a;
    const AdviceCase *c = look_at(&a, "histogram", of_histogram, WL_COUNT(of_histogram));
    const FlowResults *flow = &c->view->flow;
    const FlowBlock *block = &flow->cfg->blocks[flow->cfg->block_of[LOAD]];
    f64 one = c->parts[0].insns[LOAD].executed, all = 0;
    assert_true(one * block->count > 11 && one * block->count <= 12);
    for (u32 pc = block->first; pc < block->first + block->count; pc++)
        assert_true(fabs(c->parts[0].insns[pc].executed - one) < 1e-9);
    for (u32 pc = 0; pc < c->view->insn_count; pc++) all += c->parts[0].insns[pc].issued;
    assert_true(fabs(all - 12) < 1e-9 && fabs(c->load.issued - 12) < 1e-9);
    const CaseAccess *load = case_access(&c->parts[0], LOAD);
    assert_true(load && load->load && load->requests > 0);
    forget(&a);
}

// An H200 samples it behind the exit.
TEST(drain_is_of_the_exit_and_blamed_on_the_stores_before) {
    Sampled s = open_sampled("histogram", of_histogram, WL_COUNT(of_histogram));
    f64 drain = 0;
    Arena arena = {0};
    Blame *blame;
    const KernelView *view = s.view;
    assert_int_equal(view->samples[EXIT].all[STALL_DRAIN], 50);
    assert_int_equal(view->samples[EXIT + 1].all[STALL_DRAIN], 0);
    assert_int_equal(blame_kernel(view, NULL, &arena, &blame), STATUS_OK);
    for (u32 i = 0; i < blame->edge_count; i++)
        if (blame->edges[i].reason == STALL_DRAIN && blame->edges[i].def == ATOMIC) drain += blame->edges[i].samples;
    assert_true(fabs(drain - 50) < 1e-9);
    arena_free(&arena);
    close_sampled(&s);
}

static f64 blamed(const Blame *blame, u32 use, StallReason reason, u32 def) {
    for (u32 i = 0; i < blame->edge_count; i++) {
        const BlameEdge *e = &blame->edges[i];
        if (e->use == use && e->reason == reason && e->def == def) return e->samples;
    }
    return 0;
}

// Who returns from a function waits for the jump; an H200 samples it at the first instruction of the next function.
TEST(returns_are_waited_for_behind_them) {
    enum { RETURN = 73 + 92, NEXT = RETURN + 1, CALL = 31 };  // of `quotient`, behind which its two routines lie
    static const RecordSample rows[] = {{.pc = CALL, .stall = STALL_SELECTED, .samples = 10},
                                        {.pc = RETURN, .stall = STALL_SELECTED, .samples = 10},
                                        {.pc = NEXT, .stall = STALL_BRANCH_RESOLVING, .samples = 300},
                                        {.pc = NEXT, .stall = STALL_WAIT, .samples = 7}};
    cubin = "tests/sass/kernels_90.cubin", listing = "tests/sass/kernels_90.json";
    Sampled s = open_sampled("quotient", rows, WL_COUNT(rows));
    Arena arena = {0};
    Blame *blame;
    assert_int_equal(s.view->flow.code->insns[RETURN].kind, FLOW_RET);
    assert_int_equal(s.view->samples[NEXT].all[STALL_BRANCH_RESOLVING], 0);
    assert_int_equal(s.view->samples[NEXT].all[STALL_WAIT], 7);
    assert_int_equal(blame_kernel(s.view, NULL, &arena, &blame), STATUS_OK);
    assert_true(fabs(blamed(blame, RETURN, STALL_BRANCH_RESOLVING, RETURN) - 300) < 1e-9);
    arena_free(&arena);
    close_sampled(&s);
}

// An H200 samples warps that wait at a barrier behind it: they wait for what lies before that barrier.
TEST(barriers_are_looked_for_before_their_samples) {
    static const RecordSample rows[] = {{.pc = LOAD, .stall = STALL_SELECTED, .samples = 12},
                                        {.pc = READS, .stall = STALL_LONG_SCOREBOARD, .samples = 900},
                                        {.pc = BARRIER, .stall = STALL_SELECTED, .samples = 12},
                                        {.pc = BEHIND, .stall = STALL_BARRIER, .samples = 400}};
    Sampled s = open_sampled("histogram", rows, WL_COUNT(rows));
    Arena arena = {0};
    Blame *blame;
    assert_int_equal(blame_kernel(s.view, NULL, &arena, &blame), STATUS_OK);
    assert_true(blamed(blame, BEHIND, STALL_BARRIER, BEHIND) < 1);
    assert_true(blamed(blame, BEHIND, STALL_BARRIER, LOAD) > 300);
    arena_free(&arena);
    close_sampled(&s);
}

// Six loads raise one barrier; what waits for it waits for all, so for the last of them rather than for each alike.
TEST(of_loads_that_share_a_barrier_the_last_is_blamed) {
    enum { USE = 49 };  // of `product`: the first that needs what the loads before it brought
    static const RecordSample rows[] = {{.pc = USE, .stall = STALL_LONG_SCOREBOARD, .samples = 800},
                                        {.pc = USE, .stall = STALL_SELECTED, .samples = 10}};
    Sampled s = open_sampled("product", rows, WL_COUNT(rows));
    Arena arena = {0};
    Blame *blame;
    const FlowIssue *issue = s.view->flow.code->issue;
    u32 first = WL_NONE, last = WL_NONE;
    for (u32 pc = 40; pc < USE; pc++) {
        bool raises = issue[pc].write_barrier < 6 && issue[USE].wait_mask >> issue[pc].write_barrier & 1;
        if (raises && first == WL_NONE) first = pc;
        if (raises) last = pc;
    }
    assert_true(first < last && last < USE);
    assert_int_equal(blame_kernel(s.view, NULL, &arena, &blame), STATUS_OK);
    assert_true(blamed(blame, USE, STALL_LONG_SCOREBOARD, last) > 2 * blamed(blame, USE, STALL_LONG_SCOREBOARD, first));
    arena_free(&arena);
    close_sampled(&s);
}

// Of `product`: pointers go on in halves, with a carry from the lower one, as each turn's end has them; sums of the
// matrix unit do not go on by as much.
TEST(pointers_move_on_in_halves) {
    static const RecordSample rows[] = {{.pc = 40, .stall = STALL_SELECTED, .samples = 12}};
    cubin = "tests/sass/kernels_90.cubin", listing = "tests/sass/kernels_90.json";
    Asked a;
    const AdviceCase *c = look_at(&a, "product", rows, WL_COUNT(rows));
    const FlowResults *flow = &c->view->flow;
    u32 on = 0, others = 0;
    for (u32 node = flow->chains->def_count; node < flow->chains->node_count; node++)
        for (u32 l = 0; l < flow->loops->loop_count; l++) {
            if (flow->chains->nodes[node].block != flow->loops->loops[l].header) continue;
            bool counts = affine_kinds(flow->affine, node) & 1u << AFFINE_COUNTER;
            assert_int_equal(node_moves_on(&c->parts[0], l, node), counts);
            on += counts, others += !counts;
        }
    assert_true(on >= 4 && others >= 8);
    forget(&a);
}

// Moves before and behind the calls, and constants that the function makes for its return, are the call's.
TEST(what_passes_parameters_goes_with_the_call) {
    enum { MOVE = 0x1d0 / 16, CALL, RESULT, COMPUTES, FUNCTION = 155, MAKES_ZERO = 159, RETURN = 160 };
    RecordSample rows[] = {{.pc = MOVE, .stall = STALL_SELECTED, .samples = 10},
                           {.pc = CALL, .stall = STALL_SELECTED, .samples = 10},
                           {.pc = RESULT, .stall = STALL_SELECTED, .samples = 10},
                           {.pc = COMPUTES, .stall = STALL_SELECTED, .samples = 30},
                           {.pc = FUNCTION, .stall = STALL_SELECTED, .samples = 10},
                           {.pc = MAKES_ZERO, .stall = STALL_SELECTED, .samples = 10},
                           {.pc = RETURN, .stall = STALL_SELECTED, .samples = 10},
                           {.pc = RETURN + 1, .stall = STALL_BRANCH_RESOLVING, .samples = 500}};
    cubin = "tests/sass/calls.cubin", listing = "tests/sass/calls.json";
    Asked a;
    const EstimateChange *change = ask(&a, "_Z7duffingPKfP6float2f", rows, WL_COUNT(rows), "function-inlining");
    const CaseInsn *in = a.c.parts[0].insns;
    // Three moves and the call before it, three and the next call behind it.
    f64 pass = 4 * in[MOVE].issued + 4 * in[RESULT].issued + in[MAKES_ZERO].issued + in[RETURN].issued;
    assert_true(in[RESULT].issued > 3 && in[MAKES_ZERO].issued > 3);
    assert_true(fabs(change->issues - pass) < 1e-9);
    assert_true(change->stalls > 499);
    forget(&a);
}

// Of tests/sass/pointer.cubin, four calls through a pointer in a loop's turn: they end no block, and what passes
// parameters lies between them: with each call go its return, the pointer's load, and four moves.
TEST(moves_beside_calls_through_pointers_go_with_them) {
    enum { FIRST_CALL = 37, LOADS_POINTER = 39, MULTIPLIES = 47, RETURNS = 127 };
    RecordSample rows[] = {{.pc = FIRST_CALL, .stall = STALL_SELECTED, .samples = 10},
                           {.pc = MULTIPLIES, .stall = STALL_SELECTED, .samples = 50},
                           {.pc = RETURNS, .stall = STALL_SELECTED, .samples = 28}};
    cubin = "tests/sass/pointer.cubin", listing = "tests/sass/pointer.json";
    Asked a;
    const EstimateChange *change =
        ask(&a, "_Z9annuitiesPK7InsuredPffiPFffffE", rows, WL_COUNT(rows), "function-inlining");
    const CaseInsn *in = a.c.parts[0].insns;
    f64 one = in[FIRST_CALL].issued, gone = (change->issues - in[RETURNS].issued) / one;
    assert_true(one > 0.5 && in[LOADS_POINTER].issued == one);
    assert_true(fabs(gone - 4 * (1 + 1 + 4)) < 1e-9);
    forget(&a);
}

// Of tests/sass/turns.cubin, 24 turns of four calls, with a constant for each: without calls they are one sequence, in
// which constants are operands.
TEST(turns_of_inlined_calls_are_one_sequence) {
    enum { COUNTS = 18, CONSTANT = 40, CALL = 42 };
    RecordSample rows[] = {{.pc = COUNTS, .stall = STALL_SELECTED, .samples = 10},
                           {.pc = CALL, .stall = STALL_SELECTED, .samples = 50},
                           {.pc = CONSTANT, .stall = STALL_IMC_MISS, .samples = 700}};
    cubin = "tests/sass/turns.cubin", listing = "tests/sass/turns.json";
    Asked a;
    const EstimateChange *change =
        ask(&a, "_Z5dialsPK6float2S1_PK6float4PfS5_", rows, WL_COUNT(rows), "function-inlining");
    assert_int_equal(a.c.parts[0].view->flow.loops->loops[0].trip_count, 24);
    assert_true(change->stalls > 699);
    assert_string_equal(a.c.hits.data[0]->facts.data[0].name, "loop_trip_count");
    forget(&a);
}

// Of tests/sass/kernels.cu, `quotient`, where the long division is one of 32 bits: the reciprocal, the product that
// is the quotient, and what corrects it.
enum { RECIPROCAL = 51, PRODUCT = 60, CORRECTED = 68 };
static const RecordSample of_quotient[] = {{.pc = RECIPROCAL + 1, .stall = STALL_SELECTED, .samples = 20},
                                           {.pc = CORRECTED, .stall = STALL_WAIT, .samples = 300}};

// By a reciprocal that is known: the product and a shift are left, the reciprocal's six steps and the seven of the
// correction are not; with them goes all that waited for their predicates.
TEST(of_a_division_the_product_stays) {
    cubin = "tests/sass/kernels_90.cubin", listing = "tests/sass/kernels_90.json";
    Asked a;
    const EstimateChange *change = ask(&a, "quotient", of_quotient, WL_COUNT(of_quotient), "strength-reduction");
    f64 one = a.c.parts[0].insns[PRODUCT].issued, gone = change->issues;
    assert_true(one > 0.5);
    assert_true(fabs(gone - 13 * one) < 1e-9);
    assert_true(change->stalls > 299);
    forget(&a);
}

// The same in long long, when no number had an upper word: what asks for one and where lanes meet behind that go away,
// but signs of 32 bits take four instructions.
TEST(numbers_that_fit_are_not_asked_for_upper_words) {
    enum { ASKS = 44, MEETS = 71 };
    RecordSample rows[] = {{.pc = ASKS, .stall = STALL_SELECTED, .samples = 20},
                           {.pc = RECIPROCAL + 1, .stall = STALL_SELECTED, .samples = 20},
                           {.pc = MEETS, .stall = STALL_BRANCH_RESOLVING, .samples = 300}};
    cubin = "tests/sass/kernels_90.cubin", listing = "tests/sass/kernels_90.json";
    Asked a;
    const EstimateChange *change = ask(&a, "quotient", rows, WL_COUNT(rows), "wrong-type");
    const CaseInsn *in = a.c.parts[0].insns;
    f64 signs = 4 * in[PRODUCT].issued, gone = 4 * in[ASKS].issued + in[MEETS].issued;
    assert_true(in[ASKS].issued > 0.5 && fabs(change->issues - (gone - signs)) < 1e-9);
    assert_true(change->stalls > 299);
    forget(&a);
}

TEST(numbers_with_upper_words_need_them) {
    enum { ASKS = 44, CALLS = 47 };
    RecordSample rows[] = {{.pc = ASKS, .stall = STALL_SELECTED, .samples = 20},
                           {.pc = RECIPROCAL + 1, .stall = STALL_SELECTED, .samples = 20},
                           {.pc = CALLS, .stall = STALL_SELECTED, .samples = 20}};
    cubin = "tests/sass/kernels_90.cubin", listing = "tests/sass/kernels_90.json";
    Asked a;
    look_at(&a, "quotient", rows, WL_COUNT(rows));
    shorten_divisions(&a.c);
    assert_int_equal(a.c.hits.len, 0);
    forget(&a);
}

// Of tests/sass/cycle.cubin, four remainders by one number in a loop's turn.
TEST(of_a_remainder_two_products_stay) {
    enum { TIMES = 52 };
    RecordSample rows[] = {{.pc = TIMES, .stall = STALL_SELECTED, .samples = 100}};
    cubin = "tests/sass/cycle.cubin", listing = "tests/sass/cycle.json";
    Asked a;
    const EstimateChange *change = ask(&a, "_Z5drivePK5LightPKjS3_PjPiij", rows, WL_COUNT(rows), "strength-reduction");
    f64 one = a.c.parts[0].insns[TIMES].issued;
    // Six steps of the reciprocal, and of the corrections, four times six and two for all, two for each remainder stay.
    assert_true(one > 0.5 && fabs(change->issues - (6 + 4 * 6 + 2 - 4 * 2) * one) < 1e-9);
    forget(&a);
}

// Of tests/sass/remainders.cubin, five remainders of 64 bits by 2^31 - 1 in a loop's turn.
TEST(remainders_by_all_ones_are_folded) {
    enum { TAKES_OFF = 77, UPPER_WORD = 80 };
    RecordSample rows[] = {{.pc = TAKES_OFF, .stall = STALL_SELECTED, .samples = 200},
                           {.pc = UPPER_WORD, .stall = STALL_WAIT, .samples = 300}};
    cubin = "tests/sass/remainders.cubin", listing = "tests/sass/remainders.json";
    Asked a;
    const EstimateChange *change = ask(&a, "_Z4dropPKjPKfPtii", rows, WL_COUNT(rows), "strength-reduction");
    f64 one = a.c.parts[0].insns[TAKES_OFF].issued;
    // Four of 18 instructions, of which 5 stay, with two more for the upper word, and one of 15 without an upper word.
    assert_true(one > 1 && fabs(change->issues - (4 * (18 - 5 + 2) + 15 - 5) * one) < 1e-9);
    assert_true(change->stalls > 200 && change->stalls < 300);
    forget(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_FOLDER(instructions_of_a_block_run_equally_often),
                                       IN_FOLDER(drain_is_of_the_exit_and_blamed_on_the_stores_before),
                                       IN_FOLDER(returns_are_waited_for_behind_them),
                                       IN_FOLDER(barriers_are_looked_for_before_their_samples),
                                       IN_FOLDER(of_loads_that_share_a_barrier_the_last_is_blamed),
                                       IN_FOLDER(pointers_move_on_in_halves),
                                       IN_FOLDER(what_passes_parameters_goes_with_the_call),
                                       IN_FOLDER(moves_beside_calls_through_pointers_go_with_them),
                                       IN_FOLDER(turns_of_inlined_calls_are_one_sequence),
                                       IN_FOLDER(of_a_division_the_product_stays),
                                       IN_FOLDER(numbers_that_fit_are_not_asked_for_upper_words),
                                       IN_FOLDER(numbers_with_upper_words_need_them),
                                       IN_FOLDER(of_a_remainder_two_products_stay),
                                       IN_FOLDER(remainders_by_all_ones_are_folded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
