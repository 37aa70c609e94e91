// SPDX-License-Identifier: Apache-2.0
// Functions of profiles as analyses see them, from whole profiles to such as are damaged.
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "analyze/blame.h"
#include "analyze/kernel_view.h"
#include "store/sample_profile.h"
#include "store/store_testing.h"

static const char code_text[] = ".version 8.3\n.target sm_90\n.address_size 64\n"
                                ".visible .entry first(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<4>;\n"
                                "ld.param.u64 %rd1, [p];\n"     // 0
                                "ld.global.u32 %r1, [%rd1];\n"  // 1
                                "add.u32 %r2, %r1, 1;\n"        // 2
                                "st.global.u32 [%rd1], %r2;\n"  // 3
                                "ret;\n}\n"                     // 4
                                ".visible .entry second()\n{\nret;\n}\n";

enum { FIRST = 1, SECOND = 2, STALL_ID_ISSUED = 3, STALL_ID_MEMORY = 9, STALL_ID_NEW = 77 };

static void put(StoreWriter *writer, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    assert_int_equal(sink_write(store_sink(writer), kind, fixed, tail, size), STATUS_OK);
}

static void put_source(StoreWriter *writer, Provenance provenance, const char *device) {
    char tail[256];
    RecordSource source = {.source = 1, .provenance = provenance};
    put(writer, RECORD_SOURCE, &source, tail, SAMPLE_TAIL(tail, "warplens", device, ""));
    RecordStallName issued = {1, STALL_ID_ISSUED}, memory = {1, STALL_ID_MEMORY}, new = {1, STALL_ID_NEW};
    put(writer, RECORD_STALL_NAME, &issued, tail, SAMPLE_TAIL(tail, "selected", ""));
    put(writer, RECORD_STALL_NAME, &memory, tail, SAMPLE_TAIL(tail, "long_scoreboard", ""));
    put(writer, RECORD_STALL_NAME, &new, tail, SAMPLE_TAIL(tail, "of_a_later_gpu", ""));
}

static void put_module(StoreWriter *writer, const char *text) {
    char tail[2048];
    size_t size = SAMPLE_TAIL(tail, "app.ptx");
    memcpy(tail + size, text, strlen(text));
    RecordModule module = {.module = 1, .hash = 1, .text_size = strlen(text)};
    put(writer, RECORD_MODULE, &module, tail, size + strlen(text));
}

static void put_function(StoreWriter *writer, u32 id, const char *name, u32 insns) {
    RecordFunction function = {.function = id, .module = 1, .is_entry = 1, .insn_count = insns, .registers = 40};
    put(writer, RECORD_FUNCTION, &function, name, strlen(name) + 1);
}

static void put_samples(StoreWriter *writer, u32 function, u64 period, const RecordSample *rows, u32 count) {
    RecordSamples head = {.function = function, .source = 1, .count = count, .period = period};
    put(writer, RECORD_SAMPLES, &head, rows, count * sizeof *rows);
}

static void put_launch(StoreWriter *writer, u32 launch, u32 function, u32 grid, f64 ns) {
    RecordLaunch record = {
        .launch = launch, .function = function, .source = 1, .grid = {grid, 1, 1}, .block = {256, 1, 1}};
    RecordLaunchTime time = {.launch = launch, .source = 1, .begin_ns = 10, .end_ns = 10 + ns, .registers = 64};
    RecordLaunchEnd end = {.launch = launch, .end_ns = 100};
    put(writer, RECORD_LAUNCH, &record, NULL, 0);
    put(writer, RECORD_LAUNCH_TIME, &time, NULL, 0);
    put(writer, RECORD_LAUNCH_END, &end, NULL, 0);
}

// What a simulated run leaves: samples of two periods, counts, places, launches, causes.
static void write_run(const char *text) {
    StoreWriter *writer = create_profile();
    put_source(writer, PROVENANCE_SIMULATED, "2 x NVIDIA H200, Tesla T4");
    put_module(writer, text);
    put_function(writer, FIRST, "first", 5);
    put_function(writer, SECOND, "second", 1);
    assert_int_equal(sample_file(store_sink(writer), 1, "a.cu"), STATUS_OK);
    RecordInsn insns[3] = {{.file = 1, .line = 7}, {.file = 1, .line = 8}, {.file = 1, .line = 9}};
    assert_int_equal(sample_insns(store_sink(writer), FIRST, insns, 3), STATUS_OK);
    const RecordSample cycles[] = {
        {2, STALL_ID_ISSUED, 100, 100}, {2, STALL_ID_MEMORY, 4000, 3000}, {3, STALL_ID_NEW, 50, 0}};
    const RecordSample coarse[] = {{2, STALL_ID_MEMORY, 4, 3}, {3, STALL_ID_MEMORY, 1, 0}};
    const RecordSample few[] = {{0, STALL_ID_ISSUED, 10, 0}};
    put_samples(writer, FIRST, 1, cycles, 3);
    put_samples(writer, FIRST, 1024, coarse, 2);
    put_samples(writer, SECOND, 1, few, 1);
    const RecordPcCount counts[] = {
        {1, METRIC_INST, 8}, {1, METRIC_THREAD_INST, 128}, {2, METRIC_INST, 16}, {2, METRIC_ISSUED, 32}};
    assert_int_equal(sample_pc_counts(store_sink(writer), FIRST, counts, 4), STATUS_OK);
    put_launch(writer, 1, FIRST, 4, 100);
    put_launch(writer, 2, FIRST, 4000, 300);
    put_launch(writer, 3, FIRST, 8, 200);
    put_launch(writer, 4, SECOND, 1, 400);
    RecordStallCauses causes = {.function = FIRST, .source = 1, .count = 2};
    const RecordStallCause rows[] = {{2, STALL_ID_MEMORY, FIRST, 1, 3900, 40}, {99, STALL_ID_MEMORY, FIRST, 1, 5, 1}};
    put(writer, RECORD_STALL_CAUSES, &causes, rows, sizeof rows);
    assert_int_equal(store_close(writer), STATUS_OK);
}

typedef struct Opened {
    Profile *profile;
    KernelViews *views;
    const KernelView *const *list;
    u32 count;
    Diag diag;
} Opened;

static Opened open_with(KernelViewOptions options) {
    Opened o = {0};
    options.gpu_folder = "gpus";
    assert_int_equal(profile_open(path, &o.profile, &o.diag), STATUS_OK);
    assert_int_equal(kernel_views_open(o.profile, &options, &o.views, &o.diag), STATUS_OK);
    assert_int_equal(kernel_views_all(o.views, 0, &o.list, &o.count, &o.diag), STATUS_OK);
    return o;
}

static void close_all(Opened *o) {
    kernel_views_close(o->views);
    profile_close(o->profile);
    diag_free(&o->diag);
}

static Opened reopen(void) { return open_with((KernelViewOptions){0}); }

// --- what is there
// -----------------------------------------------------------------------------------------------------
TEST(a_view_has_the_figures_of_its_function) {
    write_run(code_text);
    Opened o = reopen();
    assert_int_equal(o.count, 2);
    const KernelView *view = o.list[0];
    assert_string_equal(view->function->name, "first");
    assert_string_equal(view->provenance, "simulated");
    assert_true(view->kind == VIEW_PTX && view->flow.code && !view->no_code && view->insn_count == 5);
    assert_string_equal(view->gpu->name, "NVIDIA H200");
    assert_true(view->latency_known);
    assert_true(view->basis == VIEW_CYCLES && view->period == 1);
    assert_true(view->samples[2].all[STALL_LONG_SCOREBOARD] == 4000 &&
                view->samples[2].latency[STALL_LONG_SCOREBOARD] == 3000);
    assert_true(view->samples[2].all[STALL_SELECTED] == 100 && view->samples[2].latency[STALL_SELECTED] == 0);
    assert_int_equal(view->samples[3].all[STALL_MISC], 50);  // a reason that has no name here
    assert_true(view->total == 4150 && view->total_latency == 3000 && view->total_issued == 100);
    assert_true(view->executed[1] == 8 && view->executed[2] == 16 && view->executed[0] == 0);
    assert_true(view->issued[2] == 32);
    assert_string_equal(view->places[1].file, "a.cu");
    assert_true(view->places[1].line == 8 && view->places[4].line == 0);
    assert_int_equal(view->cause_count, 1);  // the other one is of no instruction
    assert_true(view->causes[0].stall == STALL_LONG_SCOREBOARD && view->causes[0].cause_pc == 1);
    MetricSet metrics;
    kernel_view_metrics(o.views, view, 1, &metrics);
    assert_true(metrics.value[METRIC_INST] == 8 && metrics.value[METRIC_LANES] == 16);
    kernel_view_metrics(o.views, view, 5, &metrics);
    assert_false(metrics.present[METRIC_INST]);
    close_all(&o);
}

TEST(launches_and_occupancy_are_the_kernels) {
    write_run(code_text);
    Opened o = reopen();
    const ViewLaunches *launches = &o.list[0]->launches;
    assert_true(launches->count == 3 && launches->typical->id == 3 && launches->total_ns == 600);
    assert_true(launches->shapes == 3 && launches->alike == 0.5);  // 4 and 8 blocks are alike, 4000 are not
    assert_true(launches->share == 0.6 && o.list[1]->launches.share == 0.4);
    const ViewOccupancy *occupancy = &o.list[0]->occupancy;
    // 64 registers of 256 threads: 4 CTAs of 8 warps fit into the 65,536 registers of an SM
    assert_true(occupancy->ctas_per_sm == 4 && occupancy->warps_per_cta == 8 && occupancy->warps_per_sm == 32);
    assert_true(occupancy->limits == (1u << LIMIT_REGISTERS | 1u << LIMIT_GRID));
    assert_true(!occupancy->achieved_known && occupancy->warps_per_scheduler == 8);
    close_all(&o);
}

// Launch 1 and 3 of "first", whose kernel has a pointer, a number and a structure with a pointer.
static const char launched_text[] = ".version 8.3\n.target sm_90\n.address_size 64\n"
                                    ".visible .entry first(.param .u64 p, .param .u32 n, .param .align 8 .b8 s[16])\n"
                                    "{\n.reg .b32 %r<2>;\nld.param.u32 %r1, [n];\nret;\nret;\nret;\nret;\n}\n"
                                    ".visible .entry second()\n{\nret;\n}\n";

typedef struct Given {
    u64 pointer;
    u32 number, unused;
    u64 inner;
    u32 size, other;
} Given;

static void put_arguments(StoreWriter *writer, u32 launch, Given given) {
    RecordLaunchArguments record = {.launch = launch, .size = sizeof given};
    put(writer, RECORD_LAUNCH_ARGUMENTS, &record, &given, sizeof given);
}

TEST(arguments_that_launches_have_in_common) {
    StoreWriter *writer = create_profile();
    put_source(writer, PROVENANCE_SIMULATED, "NVIDIA H200");
    put_module(writer, launched_text);
    put_function(writer, FIRST, "first", 5);
    const RecordSample rows[] = {{2, STALL_ID_MEMORY, 40, 30}};
    put_samples(writer, FIRST, 1, rows, 1);
    Given given = {0x7f0000001000, 12, 0, 0x7f8000000000, 5, 6};
    put_launch(writer, 1, FIRST, 4000, 300);
    put_arguments(writer, 1, given);
    put_launch(writer, 2, FIRST, 8, 1);  // another shape
    given.number = 99;
    put_arguments(writer, 2, given);
    put_launch(writer, 3, FIRST, 4000, 300);
    given.number = 12, given.other = 7;  // as a number of the step would be
    put_arguments(writer, 3, given);
    put_launch(writer, 4, FIRST, 4000, 300);  // nothing is known of it
    const RecordAlloc allocs[] = {{.address = 0x7f0000000000, .bytes = 100},
                                  {.address = 0x7f0000000000, .bytes = 0x3000},  // the last one there counts
                                  {.address = 0x7f0000002000, .bytes = 0x10},    // freed by then
                                  {.address = 0x7f0000002000, .freed = 1},
                                  {.address = 0x7f8000000000, .bytes = 64}};
    for (u32 i = 0; i < WL_COUNT(allocs); i++) put(writer, RECORD_ALLOC, &allocs[i], "", 1);
    assert_int_equal(store_close(writer), STATUS_OK);
    Opened o = reopen();
    const FlowCode *code = o.list[0]->flow.code;
    const FlowArguments *arguments = o.list[0]->flow.arguments;
    i64 value = 0;
    assert_non_null(arguments);
    u32 first = code->first_param;
    assert_false(flow_argument(code, arguments, first, 0, 8, &value));
    assert_true(flow_argument(code, arguments, first + 1, 0, 4, &value) && value == 12);
    assert_false(flow_argument(code, arguments, first + 2, 0, 4, &value));  // half of a pointer
    assert_true(flow_argument(code, arguments, first + 2, 8, 4, &value) && value == 5);
    assert_false(flow_argument(code, arguments, first + 2, 12, 4, &value));  // differs
    const AffineFactor pointer = {.kind = AFFINE_PARAMETER, .bits = 64, .id = first};
    const AffineFactor inner = {.kind = AFFINE_PARAMETER, .bits = 64, .id = first + 2};
    const AffineFactor number = {.kind = AFFINE_PARAMETER, .bits = 32, .id = first + 1};
    assert_int_equal(kernel_view_array_bytes(o.list[0], &pointer), 0x2000);
    assert_int_equal(kernel_view_array_bytes(o.list[0], &inner), 64);
    assert_int_equal(kernel_view_array_bytes(o.list[0], &number), 0);
    close_all(&o);
}

TEST(samples_of_one_period_are_taken) {
    write_run(code_text);
    Opened o = open_with((KernelViewOptions){.period = 1024});
    assert_int_equal(o.count, 1);
    const KernelView *view = o.list[0];
    assert_true(view->basis == VIEW_SAMPLES && view->period == 1024 && view->total == 5);
    assert_int_equal(view->samples[3].all[STALL_LONG_SCOREBOARD], 1);
    close_all(&o);
    o = open_with((KernelViewOptions){.period = 512, .every_function = true});
    assert_int_equal(o.count, 2);
    assert_true(o.list[0]->basis == VIEW_NOTHING && o.list[0]->total == 0);
    close_all(&o);
}

// The collector changes a GPU's period while the program runs: each sample stands for as many cycles as its period.
TEST(samples_of_a_gpu_count_by_their_period) {
    StoreWriter *writer = create_profile();
    put_source(writer, PROVENANCE_SAMPLED, "NVIDIA H200");
    put_module(writer, code_text);
    put_function(writer, FIRST, "first", 5);
    put_function(writer, SECOND, "second", 1);
    const RecordSample fine[] = {{2, STALL_ID_ISSUED, 100, 100}, {2, STALL_ID_MEMORY, 300, 200}},
                       coarse[] = {{2, STALL_ID_MEMORY, 25, 10}}, other[] = {{0, STALL_ID_ISSUED, 50, 0}};
    put_samples(writer, FIRST, 4096, fine, 2);
    put_samples(writer, FIRST, 65536, coarse, 1);
    put_samples(writer, SECOND, 65536, other, 1);
    assert_int_equal(store_close(writer), STATUS_OK);
    Opened o = reopen();
    const KernelView *view = o.list[0], *coarser = o.list[1];
    assert_int_equal(view->function->id, FIRST);
    assert_true(view->basis == VIEW_SAMPLES && view->period == 4096 && view->longest == 65536);
    assert_true(view->taken == 425 && view->total == 800 && view->total_issued == 100 && view->total_latency == 360);
    assert_int_equal(view->samples[2].all[STALL_LONG_SCOREBOARD], 700);
    assert_true(fabs(view->effective - 800.0 * 800 / (400 + 25 * 256)) < 1e-9);
    // In the same unit, so that kernels can be compared; its samples are as sure as those of one period.
    assert_true(coarser->period == 4096 && coarser->total == 800 && coarser->taken == 50 && coarser->effective == 50);
    close_all(&o);
    o = open_with((KernelViewOptions){.period = 65536});
    assert_true(o.list[0]->total == 50 && o.list[1]->total == 25 && o.list[1]->taken == 25);
    close_all(&o);
}

TEST(views_are_the_same_when_asked_for_again) {
    write_run(code_text);
    Opened o = reopen();
    const KernelView *again;
    assert_int_equal(kernel_views_get(o.views, o.list[1]->function, &again, &o.diag), STATUS_OK);
    assert_true(again == o.list[1]);
    ProfileFunction stranger = {.id = 55};
    assert_int_equal(kernel_views_get(o.views, &stranger, &again, &o.diag), STATUS_NOT_FOUND);
    const KernelView *const *list;
    u32 count;
    assert_int_equal(kernel_views_all(o.views, 1, &list, &count, &o.diag), STATUS_OK);
    assert_true(count == 1 && list[0] == o.list[0]);
    close_all(&o);
}

// --- what is missing
// ---------------------------------------------------------------------------------------------------
static void expect_no_code(const char *text, const char *why) {
    write_run(text);
    Opened o = reopen();
    assert_true(!o.list[0]->flow.code && o.list[0]->kind == VIEW_NO_CODE);
    assert_string_equal(o.list[0]->no_code, why);
    assert_int_equal(o.list[0]->insn_count, 5);
    assert_int_equal(o.list[0]->samples[2].all[STALL_LONG_SCOREBOARD], 4000);
    assert_true(o.diag.entries.len >= 1 && o.diag.errors == 0);
    close_all(&o);
}

TEST(without_usable_code_there_are_still_figures) {
    expect_no_code("", "the profile holds no code of its module");
    expect_no_code("this is no PTX", "the code of its module in the profile cannot be read as PTX");
    expect_no_code(".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry other() { ret; }\n",
                   "the function is not in the code of its module");
    expect_no_code(".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry first() { ret; }\n",
                   "the code of its module is not the one that was measured");
}

TEST(a_profile_of_nothing_has_no_views) {
    assert_int_equal(store_close(create_profile()), STATUS_OK);
    Opened o = reopen();
    assert_int_equal(o.count, 0);
    close_all(&o);
}

TEST(a_gpu_without_model_is_not_known) {
    StoreWriter *writer = create_profile();
    put_source(writer, PROVENANCE_SAMPLED, "NVIDIA Nothing 9000");
    put_module(writer, code_text);
    put_function(writer, FIRST, "first", 5);
    const RecordSample rows[] = {{2, STALL_ID_MEMORY, 40, 30}, {4000000000u, STALL_ID_MEMORY, 1, 1}};
    put_samples(writer, FIRST, 512, rows, 2);
    put_launch(writer, 1, FIRST, 4, 100);
    assert_int_equal(store_close(writer), STATUS_OK);
    Opened o = reopen();
    const KernelView *view = o.list[0];
    assert_true(!view->gpu && !view->latency_known && view->occupancy.ctas_per_sm == 0);
    assert_true(view->basis == VIEW_SAMPLES && view->total == 40 && !view->executed && !view->issued);
    assert_string_equal(view->provenance, "sampled");
    Arena arena = {0};
    Blame *blame;
    assert_int_equal(blame_kernel(view, NULL, &arena, &blame), STATUS_OK);
    assert_true(blame->edge_count == 1 && blame->edges[0].def == 1 && blame->edges[0].samples == 40);
    arena_free(&arena);
    close_all(&o);
}

// --- what is broken
// ----------------------------------------------------------------------------------------------------
static void execute(const char *sql) {
    sqlite3 *db;
    char *error = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s: %s", sql, error);
    sqlite3_close(db);
}

// Everything that can be asked of it; no answer may be out of bounds.
static void use_everything(void) {
    Diag diag = {0};
    Profile *profile;
    KernelViews *views;
    const KernelView *const *list;
    u32 count;
    KernelViewOptions options = {.gpu_folder = "gpus", .every_function = true};
    if (profile_open(path, &profile, &diag) != STATUS_OK) return diag_free(&diag);
    Status status = kernel_views_open(profile, &options, &views, &diag);
    if (status == STATUS_OK) status = kernel_views_all(views, 0, &list, &count, &diag);
    for (u32 i = 0; status == STATUS_OK && i < count; i++) {
        Arena arena = {0};
        Blame *blame;
        BlameTruth truth;
        MetricSet metrics;
        assert_int_equal(blame_kernel(list[i], NULL, &arena, &blame), STATUS_OK);
        assert_int_equal(blame_compare(blame, &arena, &truth), STATUS_OK);
        for (u32 pc = 0; pc < list[i]->insn_count; pc++) kernel_view_metrics(views, list[i], pc, &metrics);
        assert_true(list[i]->launches.share >= 0 && list[i]->launches.share <= 1 + 1e-9);
        arena_free(&arena);
    }
    assert_true(status == STATUS_OK || diag.errors);
    kernel_views_close(views);
    profile_close(profile);
    diag_free(&diag);
}

TEST(damaged_profiles_are_survived) {
    static const char *const damages[] = {
        "INSERT INTO launch_argument SELECT id, x'01020304' FROM launch",
        "INSERT INTO launch_argument SELECT id, zeroblob(5000) FROM launch",
        "INSERT INTO launch_argument SELECT id, 'text' FROM launch",
        "INSERT INTO launch_argument SELECT -id, zeroblob(8) FROM launch",
        "UPDATE sample SET pc = 4294967295 - pc",
        "UPDATE sample SET pc = pc + 4194300",
        "UPDATE sample SET stall = 4000000000 + stall",
        "UPDATE sample SET stall = stall + 1000, samples = -5",
        "UPDATE sample SET samples = 9223372036854775807, not_issued = 9223372036854775807",
        "UPDATE sample SET period = -period",
        "UPDATE sample SET function = function + 77",
        "UPDATE sample SET source = 5",
        "UPDATE stall SET name = ''",
        "UPDATE stall SET id = id + 100000",
        "UPDATE source SET device = '18446744073709551615 x '",
        "UPDATE source SET device = ', , ,'",
        "UPDATE function SET insn_count = 0",
        "UPDATE function SET insn_count = 4000000000",
        "UPDATE function SET module = 99",
        "UPDATE function SET name = ''",
        "UPDATE function SET registers = 4000000000, shared_bytes = 4000000000",
        "UPDATE launch SET grid_x = 0, block_x = 0",
        "UPDATE launch SET grid_x = 4294967295, grid_y = 4294967295, grid_z = 4294967295",
        "UPDATE launch SET block_x = 4294967295, block_y = 4294967295, block_z = 4294967295",
        "UPDATE launch SET function = 99",
        "UPDATE launch_time SET begin_ns = 9e300, end_ns = -9e300",
        "UPDATE launch_time SET end_ns = 9e300",
        "UPDATE stall_cause SET pc = 4294967295 - pc, cause_pc = 4294967295",
        "UPDATE stall_cause SET cycles = -1, cause_pc = 4000000",
        "UPDATE pc_metric SET pc = 4294967295 - pc",
        "UPDATE pc_metric SET value = 9e300",
        "UPDATE pc_metric SET value = -9e300",
        "UPDATE insn SET pc = pc + 100000, file = 77",
        "UPDATE module SET text = x'0102', text_size = 5000000000",
        "DELETE FROM stall",
        "DELETE FROM source",
        "DELETE FROM module",
        "DELETE FROM function",
        "DELETE FROM launch",
        "DROP TABLE sample",
        "DROP TABLE pc_metric",
    };
    for (u32 i = 0; i < WL_COUNT(damages); i++) {
        write_run(code_text);
        execute(damages[i]);
        use_everything();
    }
}

TEST(memory_may_run_out) {
    write_run(code_text);
    bool succeeded = false;
    for (u64 n = 0; n < 3000 && !succeeded; n += n < 100 ? 1 : 13) {
        Profile *profile;
        KernelViews *views = NULL;
        const KernelView *const *list;
        u32 count;
        Diag diag = {0};
        assert_int_equal(profile_open(path, &profile, &diag), STATUS_OK);
        u64 left = n;
        testing_memory_out_after(&left);
        KernelViewOptions options = {.gpu_folder = "gpus"};
        Status status = kernel_views_open(profile, &options, &views, &diag);
        if (status == STATUS_OK) status = kernel_views_all(views, 0, &list, &count, &diag);
        testing_memory_back();
        succeeded = status == STATUS_OK;
        assert_true(succeeded || status == STATUS_NO_MEMORY);
        kernel_views_close(views);
        profile_close(profile);
        diag_free(&diag);
    }
    assert_true(succeeded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_view_has_the_figures_of_its_function),
        IN_FOLDER(launches_and_occupancy_are_the_kernels),
        IN_FOLDER(arguments_that_launches_have_in_common),
        IN_FOLDER(samples_of_one_period_are_taken),
        IN_FOLDER(samples_of_a_gpu_count_by_their_period),
        IN_FOLDER(views_are_the_same_when_asked_for_again),
        IN_FOLDER(without_usable_code_there_are_still_figures),
        IN_FOLDER(a_profile_of_nothing_has_no_views),
        IN_FOLDER(a_gpu_without_model_is_not_known),
        IN_FOLDER(damaged_profiles_are_survived),
        IN_FOLDER(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
