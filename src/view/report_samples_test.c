// SPDX-License-Identifier: Apache-2.0
// Reports of kernels that ran on a GPU: a made-up run with launches' times and samples of another source.
#include "store/sample_profile.h"
#include "store/store_testing.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/stall.h"
#include "view/report.h"

static void put(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    assert_int_equal(sink_write(sink, kind, fixed, tail, size), STATUS_OK);
}

static void write_samples(Sink *sink) {
    RecordSample rows[] = {{.pc = 1, .stall = STALL_LONG_SCOREBOARD, .samples = 60, .not_issued = 50},
                           {.pc = 2, .stall = STALL_WAIT, .samples = 20, .not_issued = 5},
                           {.pc = 2, .stall = STALL_SELECTED, .samples = 20}};
    for (u32 r = 0; r < STALL_COUNT; r++) {
        char tail[64];
        put(sink, RECORD_STALL_NAME, &(RecordStallName){.source = 2, .stall = r}, tail,
            SAMPLE_TAIL(tail, stall_names[r], ""));
    }
    put(sink, RECORD_SAMPLES, &(RecordSamples){.function = 1, .source = 2, .period = 4096, .count = 3}, rows,
        sizeof rows);
}

static void write_run(bool sampled) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    char tail[64];
    RecordInsn insns[] = {{.file = 1, .line = 10}, {.file = 1, .line = 11}, {.file = 1, .line = 12}};
    put(sink, RECORD_SOURCE, &(RecordSource){.source = 1, .provenance = PROVENANCE_COUNTED}, tail,
        SAMPLE_TAIL(tail, "CUPTI", "NVIDIA H200", "device 0"));
    put(sink, RECORD_SOURCE, &(RecordSource){.source = 2, .provenance = PROVENANCE_SAMPLED}, tail,
        SAMPLE_TAIL(tail, "CUPTI", "NVIDIA H200", "device 0"));
    assert_int_equal(sample_file(sink, 1, "a.cu"), STATUS_OK);
    put(sink, RECORD_FUNCTION, &(RecordFunction){.function = 1, .insn_count = 3, .is_entry = 1}, "mm", 3);
    assert_int_equal(sample_insns(sink, 1, insns, 3), STATUS_OK);
    for (u32 i = 1; i <= 2; i++) {
        RecordLaunchDone launch = {
            .launch = i, .function = 1, .source = 1, .begin_ns = 10000 * i, .end_ns = 10000 * i + 1000 * i};
        launch.grid[0] = launch.block[0] = 32;
        put(sink, RECORD_LAUNCH_DONE, &launch, NULL, 0);
    }
    if (sampled) write_samples(sink);
    assert_int_equal(store_close(writer), STATUS_OK);
}

static Status write_stream(void *context, const char *data, size_t size) {
    return fwrite(data, 1, size, context) == size ? STATUS_OK : STATUS_IO;
}

static char *render(const char *format, ReportOptions options) {
    char *text = NULL;
    size_t size;
    Profile *profile;
    FILE *stream = open_memstream(&text, &size);
    Output out = {.write = write_stream, .context = stream};
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(report_write(profile, exporter_find(format), &options, &out, NULL), STATUS_OK);
    profile_close(profile);
    fclose(stream);
    return text;
}

TEST(times_and_samples_are_shown) {
    write_run(true);
    char *text = render("text", (ReportOptions){.section = REPORT_SAMPLES, .ascii = true});
    assert_string_equal(text, "Kernels on the GPU\n"
                              "  kernel  grid x block  share %  launches    total     mean    least     most\n"
                              "  mm           32 x 32    100.0         2  3.00 us  1.50 us  1.00 us  2.00 us\n"
                              "\n"
                              "Waiting warps of mm in a.cu (sampled)\n"
                              "  100 samples, one of an SM every 4096 cycles; 80.0 % of the warps waited\n"
                              "  long_scoreboard 75.0 %, wait 25.0 %\n"
                              "  line  waiting %  reason           waits for (blamed)\n"
                              "    11       75.0  long_scoreboard  data loaded at this line\n"
                              "    12       25.0  wait             the result of this line\n"
                              "\n"
                              "  no source to show: a.cu is not found; call it from the folder of the sources\n");
    free(text);
}

TEST(a_run_without_samples_has_times) {
    write_run(false);
    char *text = render("text", (ReportOptions){.section = REPORT_SAMPLES, .ascii = true});
    assert_non_null(strstr(text, "    100.0         2  3.00 us"));
    assert_null(strstr(text, "Waiting warps"));
    free(text);
}

TEST(times_that_are_estimates_are_told) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    char tail[64];
    put(sink, RECORD_SOURCE, &(RecordSource){.source = 1, .provenance = PROVENANCE_COUNTED}, tail,
        SAMPLE_TAIL(tail, "CUPTI", "NVIDIA H200", "device 0"));
    put(sink, RECORD_FUNCTION, &(RecordFunction){.function = 1, .is_entry = 1}, "mm", 3);
    put(sink, RECORD_FUNCTION, &(RecordFunction){.function = 2, .is_entry = 1}, "nn", 3);
    for (u32 i = 1; i <= 5; i++) {
        bool without = i == 3 || i == 5;
        RecordLaunchDone launch = {.launch = i, .function = 1 + i / 5, .source = 1};
        launch.begin_ns = without ? 0 : 10000 * i;
        launch.end_ns = without ? 0 : launch.begin_ns + 900 + 100 * (i % 2);
        launch.grid[0] = launch.block[0] = 32;
        put(sink, RECORD_LAUNCH_DONE, &launch, NULL, 0);
    }
    assert_int_equal(store_close(writer), STATUS_OK);
    char *text = render("text", (ReportOptions){.section = REPORT_SAMPLES, .ascii = true});
    assert_string_equal(text,
                        "Kernels on the GPU\n"
                        "  kernel  grid x block  share %  launches  timed    total  +- %    mean   least     most\n"
                        "  mm           32 x 32    100.0         4      3  3.73 us   3.2  933 ns  900 ns  1.00 us\n"
                        "  nn           32 x 32        -         1      0        -     -       -       -        -\n");
    free(text);
    text = render("text", (ReportOptions){.section = REPORT_LAUNCHES, .ascii = true});
    assert_non_null(strstr(text, "  2  mm        32     32        -  ~933 ns\n"));
    free(text);
    text = render("text", (ReportOptions){.section = REPORT_SUMMARY, .ascii = true});
    assert_non_null(strstr(text, "the times of 1 of 4 launches are estimates, from launches alike that were timed"));
    free(text);
    text = render("json", (ReportOptions){0});
    assert_non_null(strstr(text, "\"estimated_launches\":1"));
    assert_null(strstr(text, "low_cycles"));
    free(text);
}

TEST(launches_have_their_times) {
    write_run(false);
    char *text = render("text", (ReportOptions){.section = REPORT_LAUNCHES, .ascii = true});
    assert_string_equal(text, "Launches\n"
                              "  #  kernel  grid  block    start     time\n"
                              "  0  mm        32     32     0 ns  1.00 us\n"
                              "  1  mm        32     32  10.0 us  2.00 us\n");
    free(text);
    text = render("text", (ReportOptions){.section = REPORT_TIMING});
    assert_string_equal(text, "Timing\n  no launch was simulated; --section samples has the times on the GPU\n");
    free(text);
}

TEST(launches_come_in_the_order_of_the_run) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    char tail[64];
    put(sink, RECORD_SOURCE, &(RecordSource){.source = 1, .provenance = PROVENANCE_COUNTED}, tail,
        SAMPLE_TAIL(tail, "CUPTI", "NVIDIA H200", "device 0"));
    put(sink, RECORD_FUNCTION, &(RecordFunction){.function = 1, .is_entry = 1}, "mm", 3);
    put(sink, RECORD_FUNCTION, &(RecordFunction){.function = 2, .is_entry = 1}, "nn", 3);
    for (u32 i = 1; i <= 3; i++) {
        RecordLaunchDone launch = {
            .launch = i, .function = i == 2 ? 2 : 1, .source = 1, .begin_ns = i, .end_ns = 10 + i};
        launch.grid[0] = launch.block[0] = 32;
        put(sink, RECORD_LAUNCH_DONE, &launch, NULL, 0);
    }
    assert_int_equal(store_close(writer), STATUS_OK);
    char *text = render("text", (ReportOptions){.section = REPORT_LAUNCHES});
    assert_string_equal(text, "Launches\n"
                              "  #  kernel  grid  block  start   time\n"
                              "  0  mm        32     32   0 ns  10 ns\n"
                              "  1  nn        32     32   1 ns  10 ns\n"
                              "  2  mm        32     32   2 ns  10 ns\n");
    free(text);
}

// One table of kernels: the one with their times.
TEST(the_whole_report_has_no_table_without_figures) {
    write_run(true);
    char *text = render("text", (ReportOptions){.ascii = true});
    assert_non_null(strstr(text, "\nKernels on the GPU\n"));
    assert_null(strstr(text, "\nKernels\n"));
    free(text);
}

TEST(json_and_csv_have_them) {
    write_run(true);
    char *text = render("json", (ReportOptions){0});
    json_t *json = json_loads(text, 0, NULL), *gpu, *stall;
    gpu = json_object_get(json_array_get(json_object_get(json, "kernels"), 0), "on_gpu");
    assert_int_equal(json_number_value(json_object_get(gpu, "total_ns")), 3000);
    assert_int_equal(json_integer_value(json_object_get(gpu, "samples")), 100);
    assert_int_equal(json_number_value(json_object_get(json_object_get(gpu, "reasons"), "wait")), 20);
    stall = json_array_get(json_object_get(gpu, "stalls"), 0);
    assert_int_equal(json_integer_value(json_object_get(stall, "line")), 11);
    assert_int_equal(json_number_value(json_object_get(stall, "samples")), 60);
    json_decref(json);
    free(text);
    text = render("csv", (ReportOptions){.section = REPORT_SAMPLES});
    assert_non_null(strstr(text, "mm,mm,a.cu,11,long_scoreboard,a.cu,11,60"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_FOLDER(times_and_samples_are_shown),
                                       IN_FOLDER(a_run_without_samples_has_times),
                                       IN_FOLDER(the_whole_report_has_no_table_without_figures),
                                       IN_FOLDER(times_that_are_estimates_are_told),
                                       IN_FOLDER(launches_have_their_times),
                                       IN_FOLDER(launches_come_in_the_order_of_the_run),
                                       IN_FOLDER(json_and_csv_have_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
