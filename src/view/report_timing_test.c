// SPDX-License-Identifier: Apache-2.0
// Time in reports: a made-up timed run, and what each format says of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/blame.h"
#include "base/mem.h"
#include "ptx/ops.h"
#include "store/sample_profile.h"
#include "store/store_testing.h"
#include "view/report.h"
#include "view/report_timing.h"
#include "view/sparkline.h"

static const RecordCount totals[] = {
    {METRIC_INST, 0, 8000},
    {METRIC_THREAD_INST, 0, 256000},
    {METRIC_ELAPSED, 0, 8000},
    {METRIC_DURATION, 0, 4000},
    {METRIC_SM_ELAPSED, 0, 32000},
    {METRIC_SM_ACTIVE, 0, 30000},
    {METRIC_ISSUED, 0, 10000},
    {METRIC_ISSUE_ACTIVE, 0, 10000},
    {METRIC_ISSUE_STALLED, 0, 90000},
    {METRIC_ISSUE_EMPTY, 0, 28000},
    {METRIC_WARPS_ACTIVE, 0, 90000},
    {METRIC_WARP_SLOTS, 0, 180000},
    {METRIC_WARPS_THEORETICAL, 0, 120000},
    {METRIC_REGISTERS, 0, 40},
    {METRIC_WAVES, 0, 1.5},
    {METRIC_LIMIT_REGISTERS, 0, 6},
    {METRIC_LIMIT_SHARED, 0, 12},
    {METRIC_LIMIT_WARPS, 0, 8},
    {METRIC_LIMIT_BLOCKS, 0, 32},
    {METRIC_L1_SECTORS, 0, 1000},
    {METRIC_L1_HITS, 0, 250},
    {METRIC_L2_SECTORS, 0, 750},
    {METRIC_L2_HITS, 0, 600},
    {METRIC_L2_MISSES, 0, 150},
    {METRIC_DRAM_READ_BYTES, 0, 4800},
    {METRIC_DRAM_PEAK, 0, 48000},
    {METRIC_LOADS_ENDED, 0, 100},
    {METRIC_LOAD_CYCLES, 0, 45000},
    {METRIC_STALL_WAIT, 0, 1600},
    {METRIC_STALL_LONG_SCOREBOARD, 0, 6400},
};

static const RecordPcCount by_pc[] = {{1, METRIC_STALL_LONG_SCOREBOARD, 6400},
                                      {1, METRIC_STALL_WAIT, 400},
                                      {3, METRIC_STALL_WAIT, 1200},
                                      {1, METRIC_INST, 4000},
                                      {3, METRIC_INST, 4000}};

static Status write_launch(Sink *sink, const RecordCount *figures, u32 count) {
    TRY(sample_head(sink));
    TRY(sample_stall_names(sink));
    TRY(sample_function(sink, 1, "mm", 4));
    RecordInsn insns[] = {
        {.file = 1, .line = 10}, {.file = 1, .line = 11}, {.file = 1, .line = 12}, {.file = 1, .line = 12}};
    TRY(sample_insns(sink, 1, insns, 4));
    TRY(sample_launch(sink, 1, 1));
    TRY(sample_counts(sink, 1, figures, count));
    TRY(sample_pc_counts(sink, 1, by_pc, WL_COUNT(by_pc)));
    TRY(sample_time(sink, 1));
    TRY(sample_latencies(sink, 1));
    TRY(sample_stalls(sink, 1, 4));
    TRY(sample_timeline(sink, 1, TIMELINE_GPU, 1, 8, 0));
    TRY(sample_timeline(sink, 1, TIMELINE_SM, 4, 8, 0));
    return sample_launch_end(sink, 1);
}

static void write_timed(void) {
    StoreWriter *writer = create_profile();
    assert_int_equal(write_launch(store_sink(writer), totals, WL_COUNT(totals)), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
}

static Status write_stream(void *context, const char *data, size_t size) {
    return fwrite(data, 1, size, context) == size ? STATUS_OK : STATUS_IO;
}

static const char *same_name(void *context, const char *mangled) {
    (void)context;
    return mangled;
}

static char *render(const char *format, ReportOptions options) {
    char *text = NULL;
    size_t size;
    Profile *profile;
    Diag diag = {0};
    FILE *stream = open_memstream(&text, &size);
    Output out = {.write = write_stream, .context = stream};
    options.demangle = same_name;
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(report_write(profile, exporter_find(format), &options, &out, &diag), STATUS_OK);
    profile_close(profile);
    fclose(stream);
    return text;
}

static void text_says_why(void **state) {
    (void)state;
    write_timed();
    char *text = render("text", (ReportOptions){.section = REPORT_TIMING, .ascii = true});
    assert_string_equal(
        text, "Timing (by a model of the GPU: docs/simulator-model.md)\n"
              "  mm: 8000 cycles, 4.00 us (simulated)\n"
              "    limited by   warps wait for loads, atomics or textures, and there are too few of them to hide it\n"
              "    issue slots  7.8 % issued, 70.3 % stalled, 21.9 % without warps\n"
              "    warps wait   long_scoreboard 80.0 %, wait 20.0 %\n"
              "    warps        occupancy 50.0 % of 66.7 % possible, limited by registers; 40 registers, 1.50 waves\n"
              "    caches       hits: L1 25.0 %, L2 80.0 %\n"
              "    DRAM         1.20 GB/s, 10.0 % of peak; 4800 B read, 0 B written\n"
              "    loads        450 cycles on average\n"
              "  line  waiting %  main reason           waits for\n"
              "    11       85.0  long_scoreboard 94 %  data loaded at line 10\n"
              "    12       15.0  wait 100 %            the result of line 11\n"
              "\n"
              "  no source to show: src/app.cu is not found; call it from the folder of the sources\n");
    free(text);
    text = render("text", (ReportOptions){.section = REPORT_LAUNCHES, .ascii = true});
    assert_non_null(strstr(text, "  0  mm"));
    assert_non_null(strstr(text, "  4.00 us  "));
    free(text);
    text = render("text", (ReportOptions){.section = REPORT_TIMELINE, .ascii = true});
    assert_string_equal(text, "Launch 0: mm\n"
                              "    active lanes %             ########  to 100\n"
                              "                               1000 cycles each\n");
    free(text);
}

static void whole_report_has_timing_only_when_timed(void **state) {
    (void)state;
    write_timed();
    char *text = render("text", (ReportOptions){0});
    assert_non_null(strstr(text, "Timing (by a model"));
    free(text);
    StoreWriter *writer = create_profile();
    SampleSpec spec = {.functions = 1, .lines = 2, .launches = 1, .metrics = 3};
    assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
    text = render("text", (ReportOptions){0});
    assert_null(strstr(text, "Timing"));
    free(text);
    static const ReportSection sections[] = {REPORT_TIMING, REPORT_STALLS, REPORT_TIMELINE};
    for (u32 i = 0; i < WL_COUNT(sections); i++) {
        text = render("text", (ReportOptions){.section = sections[i]});
        assert_non_null(strstr(text, "no launch was timed"));
        free(text);
    }
}

static json_t *parse(char *text) {
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s at %d:%d", error.text, error.line, error.column);
    free(text);
    return root;
}

static i64 int_of(json_t *object, const char *key) { return json_integer_value(json_object_get(object, key)); }

static void json_has_everything(void **state) {
    (void)state;
    write_timed();
    for (u32 units = 0; units < 2; units++) {
        json_t *root = parse(render("json", (ReportOptions){.units = units}));
        json_t *kernel = json_array_get(json_object_get(root, "kernels"), 0);
        json_t *launch = json_array_get(json_object_get(kernel, "launches"), 0);
        json_t *time = json_object_get(launch, "time"), *timelines = json_object_get(launch, "timelines");
        assert_int_equal(int_of(time, "end_cycle"), 18000);
        assert_true(json_number_value(json_object_get(time, "end_ns")) == 9000);
        assert_int_equal(json_array_size(timelines), units ? 2 : 1);
        json_t *last = json_array_get(timelines, units);
        assert_string_equal(json_string_value(json_object_get(last, "unit")), units ? "sm" : "gpu");
        json_t *points =
            json_array_get(json_object_get(json_object_get(last, "metrics"), "smsp__inst_executed.sum"), units ? 3 : 0);
        assert_int_equal(json_array_size(points), 8);
        assert_int_equal(json_integer_value(json_array_get(points, 2)), sample_point(0, units ? 3 : 0, 2));
        json_t *stall = json_array_get(json_object_get(kernel, "stalls"), 0);
        assert_string_equal(json_string_value(json_object_get(stall, "reason")), "long_scoreboard");
        assert_int_equal(int_of(stall, "line"), 11);
        assert_int_equal(int_of(stall, "cause_line"), 10);
        assert_int_equal(int_of(stall, "cycles"), 5000);
        assert_int_equal(json_array_size(json_object_get(kernel, "load_latency")), 2);
        json_t *metrics = json_object_get(launch, "metrics");
        assert_true(json_number_value(json_object_get(metrics, "l1tex__t_sector_hit_rate.pct")) == 25);
        assert_int_equal(int_of(metrics, "sm__cycles_elapsed.max"), 8000);
        json_decref(root);
    }
}

static u32 rows_of(const char *text) {
    u32 rows = 0;
    for (const char *at = text; (at = strstr(at, "\r\n")); at += 2) rows++;
    return rows;
}

static void csv_has_a_table_of_each(void **state) {
    (void)state;
    write_timed();
    static const struct {
        ReportSection section;
        bool units;
        u32 rows;
    } cases[] = {
        {REPORT_TIMING, false, 2}, {REPORT_STALLS, false, 3}, {REPORT_TIMELINE, false, 9}, {REPORT_TIMELINE, true, 41}};
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        char *text = render("csv", (ReportOptions){.section = cases[i].section, .units = cases[i].units});
        assert_int_equal(rows_of(text), cases[i].rows);
        free(text);
    }
    char *text = render("csv", (ReportOptions){.section = REPORT_STALLS});
    assert_non_null(strstr(text, "mm,mm,simulated,src/app.cu,11,long_scoreboard,src/app.cu,10,5000,50\r\n"));
    free(text);
}

static void curves_are_drawn(void **state) {
    (void)state;
    Arena arena = {0};
    const f64 values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, NAN};
    assert_string_equal(sparkline(&arena, values, 10, 8, 60, false), "_.:-=+*## ");
    assert_string_equal(sparkline(&arena, values, 9, 8, 60, true), "▁▂▃▄▅▆▇██");
    assert_string_equal(sparkline(&arena, values, 10, 8, 5, false), "_:=*#");
    assert_string_equal(sparkline(&arena, values, 3, 0, 60, false), "___");
    assert_string_equal(sparkline(&arena, values, 0, 1, 60, false), "");
    arena_free(&arena);
}

// What holds it back as analyze/limit.h says, else who waits longest.
static void limits_are_named(void **state) {
    (void)state;
    ReportKernel kernel = {0};
    MetricSet *set = &kernel.metrics;
    Arena arena = {0};
    assert_null(timing_limit(&kernel, &arena));
    metric_add(set, METRIC_ELAPSED, 100);
    metric_add(set, METRIC_SM_ELAPSED, 200);
    metric_add(set, METRIC_SM_ACTIVE, 50);
    assert_non_null(strstr(timing_limit(&kernel, &arena), "idle SMs"));
    metric_add(set, METRIC_SM_ACTIVE, 140);
    metric_add(set, METRIC_STALL_BARRIER, 10);
    metric_add(set, METRIC_STALL_WAIT, 9);
    assert_string_equal(timing_limit(&kernel, &arena), stall_text_find("barrier")->meaning);
    // Of waits that have several meanings, that of what most of them are for.
    const ReportStall stalls[] = {{.reason = "long_scoreboard", .cause_class = BLAME_GLOBAL, .cycles = 5},
                                  {.reason = "long_scoreboard", .cause_class = BLAME_ATOMIC, .cycles = 7},
                                  {.reason = "wait", .cause_class = BLAME_OTHER, .cycles = 9}};
    metric_add(set, METRIC_STALL_LONG_SCOREBOARD, 12);
    assert_string_equal(timing_limit(&kernel, &arena), stall_text_find("long_scoreboard")->meaning);
    kernel.stalls = stalls, kernel.stall_count = 3;
    assert_non_null(strstr(timing_limit(&kernel, &arena), "wait for atomics"));
    kernel.stall_count = 1;
    assert_non_null(strstr(timing_limit(&kernel, &arena), "wait for loads, and"));
    // Loads that take far longer than the machine needs, and nobody but atomics to blame.
    GpuModel gpu = {.l1_latency = 30, .l2_latency = 200, .dram_latency = 300};
    kernel.gpu = &gpu;
    metric_add(set, METRIC_LOAD_LATENCY, 9000);
    assert_non_null(strstr(timing_limit(&kernel, &arena), "wait for loads, and"));
    metric_add(set, METRIC_GLOBAL_RED_REQ, 100);
    assert_non_null(strstr(timing_limit(&kernel, &arena), "atomics on the same words"));
    kernel.gpu = NULL;
    metric_add(set, METRIC_DRAM_READ_BYTES, 85);
    metric_add(set, METRIC_DRAM_PEAK, 100);
    assert_string_equal(timing_limit(&kernel, &arena), "the DRAM, busy 85 % of the time");
    assert_null(stall_text_find("boredom"));
    arena_free(&arena);
}

// What is waited for is named by the instruction that caused it: of calls (printf, malloc, launches) no data are
// loaded.
static void causes_are_named_by_their_instruction(void **state) {
    (void)state;
    const StallText *loads = stall_text_find("long_scoreboard"), *wait = stall_text_find("wait");
    const StallText *slow = stall_text_find("short_scoreboard");
    assert_string_equal(stall_cause_words(loads, BLAME_GLOBAL), "data loaded at");
    assert_string_equal(stall_cause_words(loads, BLAME_TEXTURE), "texels read at");
    assert_string_equal(stall_cause_words(loads, BLAME_CONTROL), "the call at");
    assert_string_equal(stall_cause_words(loads, BLAME_LOCAL), "local memory read at");
    assert_string_equal(stall_cause_words(slow, BLAME_SHUFFLE), "a shuffle at");
    assert_string_equal(stall_cause_words(slow, BLAME_SHARED), "shared memory read at");
    assert_string_equal(stall_cause_words(slow, BLAME_OTHER), slow->cause);
    assert_string_equal(stall_cause_words(wait, BLAME_TEXTURE), wait->cause);
    ReportStall rows[] = {{.line = 3, .reason = "wait", .cause_line = 2, .cause_class = BLAME_TEXTURE, .cycles = 10},
                          {.line = 3, .reason = "wait", .cause_line = 2, .cause_class = BLAME_ARITHMETIC, .cycles = 4},
                          {.line = 3, .reason = "wait", .cause_line = 2, .cause_class = BLAME_SPECIAL, .cycles = 9}};
    assert_int_equal(report_join_stalls(rows, 3), 1);
    assert_int_equal(rows[0].cause_class, BLAME_TEXTURE);
    assert_true(rows[0].cycles == 23);
}

// `mm` executes more, `nn` takes longer.
static void kernels_come_by_their_time(void **state) {
    (void)state;
    RecordCount more[WL_COUNT(totals)], longer[WL_COUNT(totals)];
    memcpy(more, totals, sizeof more);
    memcpy(longer, totals, sizeof longer);
    more[1].value *= 2;
    longer[3].value *= 3;
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    assert_int_equal(write_launch(sink, more, WL_COUNT(more)), STATUS_OK);
    assert_int_equal(sample_function(sink, 2, "nn", 4), STATUS_OK);
    assert_int_equal(sample_launch(sink, 2, 2), STATUS_OK);
    assert_int_equal(sample_counts(sink, 2, longer, WL_COUNT(longer)), STATUS_OK);
    assert_int_equal(sample_time(sink, 2), STATUS_OK);
    assert_int_equal(sample_launch_end(sink, 2), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
    static const char *const orders[][2] = {{NULL, "nn"}, {"time", "nn"}, {"thread", "mm"}};
    for (u32 i = 0; i < WL_COUNT(orders); i++) {
        char *text = render("text", (ReportOptions){.section = REPORT_KERNELS, .sort = orders[i][0]});
        const char *rows[] = {"  nn          1      4x2 x 64    75.0  12.0 us       8000        256 k    100.0\n",
                              "  mm          1      4x2 x 64    25.0  4.00 us       8000        512 k    200.0\n"};
        bool nn_first = *orders[i][1] == 'n';
        char wanted[512];
        snprintf(wanted, sizeof wanted, "%s%s%s",
                 "Kernels\n  kernel  calls  grid x block  time %     time  warp inst  thread inst  lanes %\n",
                 rows[!nn_first], rows[nn_first]);
        assert_string_equal(text, wanted);
        free(text);
    }
    char *text = render("text", (ReportOptions){.section = REPORT_SUMMARY});
    assert_non_null(strstr(text, "  kernel time 16.0 us in all launches (simulated)\n"));
    assert_non_null(strstr(text, " of the simulation\n"));
    free(text);
    text = render("text", (ReportOptions){.section = REPORT_LAUNCHES});
    assert_non_null(strstr(text, "  #  kernel  grid  block    start     time"));
    assert_non_null(strstr(text, "  1  nn       4x2     64  5.00 us  4.00 us"));
    free(text);
}

// Where all warps fit nothing limits them, however many more registers would fit.
static void full_occupancy_is_limited_by_nothing(void **state) {
    (void)state;
    RecordCount full[WL_COUNT(totals)];
    memcpy(full, totals, sizeof full);
    for (u32 i = 0; i < WL_COUNT(full); i++)
        if (full[i].metric == METRIC_WARPS_THEORETICAL) full[i].value = 180000;
    StoreWriter *writer = create_profile();
    assert_int_equal(write_launch(store_sink(writer), full, WL_COUNT(full)), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
    char *text = render("text", (ReportOptions){.section = REPORT_TIMING, .ascii = true});
    assert_non_null(strstr(text, "occupancy 50.0 % of 100.0 % possible; 40 registers, 1.50 waves\n"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(text_says_why),
        IN_FOLDER(whole_report_has_timing_only_when_timed),
        IN_FOLDER(json_has_everything),
        IN_FOLDER(csv_has_a_table_of_each),
        cmocka_unit_test(curves_are_drawn),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(causes_are_named_by_their_instruction),
        IN_FOLDER(kernels_come_by_their_time),
        IN_FOLDER(full_occupancy_is_limited_by_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
