// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sample_profile.h"
#include "store/store.h"
#include "store/store_testing.h"

static Profile *open_profile(void) {
    Profile *profile = NULL;
    Diag diag = {0};
    Status status = profile_open(path, &profile, &diag);
    if (status != STATUS_OK) fail_msg("%s", diag.entries.data[0].text);
    return profile;
}

static void close_writer(StoreWriter *writer) { assert_int_equal(store_close(writer), STATUS_OK); }

// The one value that a query of the finished file gives, as text.
static char *query_value(const char *sql) {
    static char value[512];
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    snprintf(value, sizeof value, "%s", text ? text : "NULL");
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static void everything_comes_back(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    SampleSpec spec = {.functions = 2, .lines = 3, .launches = 4, .metrics = 100};
    assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
    close_writer(writer);

    Profile *profile = open_profile();
    ProfileSummary summary;
    assert_int_equal(profile_summary(profile, &summary, NULL), STATUS_OK);
    assert_string_equal(summary.command, "./app --size 64");
    assert_string_equal(summary.device, "Test GPU");
    assert_true(summary.complete && summary.exit_code == 0 && summary.dropped == 0);
    assert_int_equal(summary.functions, 2);
    assert_int_equal(summary.launches, 8);

    const ProfileFunction *functions;
    const ProfileLaunch *launches;
    const ProfileLine *lines;
    u32 count;
    assert_int_equal(profile_functions(profile, &functions, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    assert_string_equal(functions[1].name, "_Z7kernel2Pfi");
    assert_string_equal(functions[1].module, "app.ptx");
    assert_int_equal(functions[1].launches, 4);
    assert_int_equal(functions[1].source, 1);

    assert_int_equal(profile_launches(profile, 2, &launches, &count, NULL), STATUS_OK);
    assert_int_equal(count, 4);
    assert_int_equal(launches[1].id, 4);
    assert_int_equal(launches[1].index, 3);
    assert_int_equal(launches[1].grid[1], 2);
    assert_int_equal(launches[1].end_ns, 4500);
    assert_true(launches[1].metrics->value[METRIC_INST] == 1000 + 4 + METRIC_INST);
    assert_true(launches[1].metrics->present[METRIC_LANES]);

    assert_int_equal(profile_lines(profile, 1, &lines, &count, NULL), STATUS_OK);
    assert_int_equal(count, 3);
    assert_string_equal(lines[0].file, "src/app.cu");
    assert_int_equal(lines[0].line, 10);
    assert_true(lines[0].metrics.value[METRIC_INST] == 8 * 2 * 4);
    assert_true(lines[0].metrics.value[METRIC_LANES] == 25);

    MetricSet totals;
    assert_int_equal(profile_function_metrics(profile, 1, &totals, NULL), STATUS_OK);
    assert_true(totals.value[METRIC_INST] == 4 * 1000 + 1 + 3 + 5 + 7 + 4 * METRIC_INST);
    Str text;
    assert_int_equal(profile_module_text(profile, 1, &text, NULL), STATUS_OK);
    assert_true(strncmp(text.data, ".version 8.0\n", 13) == 0);
    profile_close(profile);
}

// An atomic inlined from a toolkit header belongs to the line that uses it; a helper of the program to its own line,
// and so does what a kernel of the toolkit calls of the toolkit.
static void inlined_code_goes_where_people_look(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    assert_int_equal(sample_head(sink), STATUS_OK);
    assert_int_equal(sample_file(sink, 3, "src/helper.cuh"), STATUS_OK);
    assert_int_equal(sample_file(sink, 4, "/usr/local/cuda-13.0/include/cub/radix_sort.cuh"), STATUS_OK);
    assert_int_equal(sample_function(sink, 1, "k", 5), STATUS_OK);
    RecordInsn insns[5] = {
        {.file = 1, .line = 7, .text_line = 20},
        {.file = 2, .line = 112, .inlined = 1, .call_file = 1, .call_line = 7, .text_line = 21},
        {.file = 3, .line = 5, .inlined = 1, .call_file = 1, .call_line = 9, .text_line = 22},
        {.text_line = 23},
        {.file = 2, .line = 113, .inlined = 1, .call_file = 4, .call_line = 700, .text_line = 24},
    };
    assert_int_equal(sample_insns(sink, 1, insns, 5), STATUS_OK);
    RecordPcCount counts[5] = {{0, METRIC_INST, 1},
                               {1, METRIC_INST, 10},
                               {2, METRIC_INST, 100},
                               {3, METRIC_INST, 1000},
                               {4, METRIC_INST, 10000}};
    assert_int_equal(sample_pc_counts(sink, 1, counts, 5), STATUS_OK);
    close_writer(writer);

    Profile *profile = open_profile();
    const ProfileLine *lines;
    u32 count;
    assert_int_equal(profile_lines(profile, 1, &lines, &count, NULL), STATUS_OK);
    assert_int_equal(count, 4);
    assert_non_null(strstr(lines[0].file, "sm_60_atomic"));
    assert_true(lines[0].line == 113 && lines[0].metrics.value[METRIC_INST] == 10000);
    assert_string_equal(lines[1].file, "src/app.cu");
    assert_true(lines[1].line == 7 && lines[1].metrics.value[METRIC_INST] == 11);
    assert_string_equal(lines[2].file, "src/helper.cuh");
    assert_true(lines[2].line == 5 && lines[2].metrics.value[METRIC_INST] == 100);
    assert_true(lines[3].file == NULL && lines[3].line == 23);
    profile_close(profile);
    // The view says the same.
    assert_string_equal(
        query_value("SELECT group_concat(l, ' ') FROM (SELECT coalesce(file,'') || ':' || line || '=' || value "
                    "AS l FROM line_metric ORDER BY value)"),
        "src/app.cu:7=11.0 src/helper.cuh:5=100.0 :23=1000.0 "
        "/usr/local/cuda-13.0/targets/x86_64-linux/include/sm_60_atomic_functions.hpp:113=10000.0");
}

static void sources_stay_apart(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    assert_int_equal(sample_head(sink), STATUS_OK);
    char tail[64];
    RecordSource source = {.source = 2, .provenance = PROVENANCE_SAMPLED};
    assert_int_equal(sink_write(sink, RECORD_SOURCE, &source, tail, SAMPLE_TAIL(tail, "cupti", "H200", "")), STATUS_OK);
    assert_int_equal(sample_function(sink, 1, "k", 1), STATUS_OK);
    RecordPcCount cell = {0, METRIC_INST, 5};
    for (u32 i = 1; i <= 2; i++) {
        RecordPcCounts counts = {.function = 1, .source = i, .count = 1};
        assert_int_equal(sink_write(sink, RECORD_PC_COUNTS, &counts, &cell, sizeof cell), STATUS_OK);
        cell.value = 70;
    }
    close_writer(writer);
    for (u32 asked = 0; asked <= 2; asked++) {
        Profile *profile = open_profile();
        profile_use_source(profile, asked);
        const ProfileLine *lines;
        u32 count;
        assert_int_equal(profile_lines(profile, 1, &lines, &count, NULL), STATUS_OK);
        assert_int_equal(count, 1);
        assert_true(lines[0].metrics.value[METRIC_INST] == (asked == 2 ? 70 : 5));
        profile_close(profile);
    }
}

static void other_records_are_kept(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    char tail[128];
    RecordCopy copy = {.source = 1, .kind = COPY_HOST_TO_DEVICE, .bytes = 4096};
    RecordAlloc alloc = {.address = 0x7f0000000000, .bytes = 64, .kind = 1};
    RecordMessage message = {.severity = 1};
    RecordDropped dropped = {.count = 3};
    RecordSamples samples = {.launch = 1, .function = 1, .source = 1, .count = 1, .period = 1024};
    RecordSample sample = {.pc = 2, .stall = 4, .samples = 9, .not_issued = 7};
    RecordSeries series = {.launch = 1, .source = 1, .count = 2, .step_ns = 10};
    RecordThreadCategories categories = {.launch = 1, .source = 1, .count = 1};
    RecordAccessCounts access = {.launch = 1, .source = 1, .count = 1, .word_bytes = 4};
    f64 values[2] = {1.5, 2.5};
    RecordFinding finding = {.finding = 7, .function = 1, .pc = 3, .line = 12};
    u64 cycles = 77;
    assert_int_equal(sink_write(sink, RECORD_COPY, &copy, NULL, 0), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_ALLOC, &alloc, "buf", 4), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_MESSAGE, &message, "slow", 5), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_DROPPED, &dropped, "samples", 8), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_DROPPED, &dropped, "samples", 8), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_SAMPLES, &samples, &sample, sizeof sample), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_SAMPLES, &samples, &sample, sizeof sample), STATUS_OK);
    size_t size = SAMPLE_TAIL(tail, "race.x", "hazard", "a.cu", "{}");
    assert_int_equal(sink_write(sink, RECORD_FINDING, &finding, tail, size), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_FINDING, &finding, tail, size), STATUS_OK);  // the same one again
    size = SAMPLE_TAIL(tail, "ipc", "inst/cycle");
    memcpy(tail + size, values, sizeof values);
    assert_int_equal(sink_write(sink, RECORD_SERIES, &series, tail, size + sizeof values), STATUS_OK);
    size = SAMPLE_TAIL(tail, "busy");
    memcpy(tail + size, &cycles, sizeof cycles);
    assert_int_equal(sink_write(sink, RECORD_THREAD_CATEGORIES, &categories, tail, size + sizeof cycles), STATUS_OK);
    assert_int_equal(sink_write(sink, RECORD_ACCESS_COUNTS, &access, tail, size + sizeof cycles), STATUS_OK);
    close_writer(writer);
    assert_string_equal(query_value("SELECT kind || bytes FROM copy"), "host_to_device4096");
    assert_string_equal(query_value("SELECT kind || address || label FROM alloc"), "managed139637976727552buf");
    assert_string_equal(query_value("SELECT severity || text FROM message"), "warningslow");
    assert_string_equal(query_value("SELECT count FROM dropped"), "6");
    assert_string_equal(query_value("SELECT samples || ' ' || not_issued FROM sample"), "18 14");
    assert_string_equal(query_value("SELECT name || count FROM series"), "ipc2");
    assert_string_equal(query_value("SELECT category FROM thread_category"), "busy");
    assert_string_equal(query_value("SELECT object FROM access_count"), "busy");
    assert_string_equal(query_value("SELECT rule || severity || file || line || text || evidence FROM finding"),
                        "race.xerrora.cu12hazard{}");
}

static void malformed_records_are_refused_and_counted(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    RecordMeta meta = {0};
    RecordInsns insns = {.function = 1, .count = UINT32_MAX};
    RecordModule module = {.module = 1, .text_size = 1000};
    RecordLaunchCounts counts = {.launch = 1, .count = 1};
    RecordCount bad[] = {{.metric = METRIC_COUNT, .value = 1},
                         {.metric = METRIC_LANES, .value = 1},
                         {.metric = METRIC_INST, .value = NAN},
                         {.metric = METRIC_INST, .value = INFINITY}};
    RecordPcCounts pcs = {.function = 1, .source = 1, .count = 1};
    RecordPcCount far = {.pc = UINT32_MAX, .metric = METRIC_INST, .value = 1};
    assert_int_equal(sink_write(sink, RECORD_META, &meta, "no end", 6), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_FINDING, &(RecordFinding){.finding = 1}, "rule\0text", 10),
                     STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_META, &meta, NULL, 0), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_INSN, &insns, "x", 1), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_MODULE, &module, "p\0text", 6), STATUS_INVALID);
    for (u32 i = 0; i < WL_COUNT(bad); i++) {
        assert_int_equal(sink_write(sink, RECORD_LAUNCH_COUNTS, &counts, &bad[i], sizeof bad[i]), STATUS_INVALID);
    }
    assert_int_equal(sink_write(sink, RECORD_PC_COUNTS, &pcs, &far, sizeof far), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_KIND_COUNT, &meta, NULL, 0), STATUS_INVALID);
    assert_int_equal(sample_head(sink), STATUS_OK);  // it goes on
    close_writer(writer);
    assert_string_equal(query_value("SELECT what || ' ' || count FROM dropped"), "malformed records 11");
    assert_string_equal(query_value("SELECT count(*) FROM source"), "1");
}

static void reserved_keys_stay_the_writers(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    assert_int_equal(sample_meta(store_sink(writer), "complete", "maybe"), STATUS_OK);
    close_writer(writer);
    assert_string_equal(query_value("SELECT value FROM meta WHERE key = 'complete'"), "1");
}

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect_refusal(const char *name, bool overwrite, Status expected, const char *reason) {
    StoreWriter *writer;
    Diag diag = {0};
    Status status = store_create(name, overwrite, &writer, &diag);
    assert_int_equal(status, expected);
    assert_null(writer);
    assert_int_equal(diag.entries.len, 1);
    if (!strstr(diag.entries.data[0].text, reason)) fail_msg("%s", diag.entries.data[0].text);
    diag_free(&diag);
}

static void only_profiles_are_overwritten(void **state) {
    (void)state;
    char name[160];
    snprintf(name, sizeof name, "%s/thesis.txt", folder);
    write_text(name, "years of work");
    expect_refusal(name, false, STATUS_EXISTS, "file exists");
    expect_refusal(name, true, STATUS_EXISTS, "not a Warplens profile");
    expect_refusal(folder, true, STATUS_INVALID, "directory");
    expect_refusal("/dev/null", true, STATUS_INVALID, "not a regular file");
    expect_refusal("", true, STATUS_INVALID, "file name");
    snprintf(name, sizeof name, "%s/none/run.wlp", folder);
    expect_refusal(name, false, STATUS_NOT_FOUND, "No such file or directory");
    snprintf(name, sizeof name, "%s/thesis.txt/run.wlp", folder);
    expect_refusal(name, false, STATUS_NOT_FOUND, "Not a directory");

    StoreWriter *writer = create_profile();
    close_writer(writer);
    expect_refusal(path, false, STATUS_EXISTS, "file exists");
    close_writer(create_profile());  // a profile may be replaced
    snprintf(name, sizeof name, "%s/empty", folder);
    write_text(name, "");
    assert_int_equal(store_create(name, true, &writer, NULL), STATUS_OK);
    close_writer(writer);
}

// A WAL that an earlier run left behind must not come to life in the new profile.
static void leftovers_are_not_mixed_in(void **state) {
    (void)state;
    SampleSpec spec = {.functions = 3, .lines = 2, .launches = 2, .metrics = 5};
    pid_t child = fork();
    if (child == 0) {
        StoreWriter *writer = create_profile();
        if (sample_run(store_sink(writer), &spec) != STATUS_OK) _exit(1);
        if (sink_flush(store_sink(writer)) != STATUS_OK) _exit(2);
        _exit(0);  // without closing
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    char wal[160];
    snprintf(wal, sizeof wal, "%s-wal", path);
    assert_int_equal(access(wal, F_OK), 0);
    unlink(path);
    StoreWriter *writer;
    assert_int_equal(store_create(path, false, &writer, NULL), STATUS_OK);
    close_writer(writer);
    assert_int_equal(access(wal, F_OK), -1);
    assert_string_equal(query_value("SELECT count(*) FROM function"), "0");
}

static void forked_child_leaves_the_file_alone(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    SampleSpec spec = {.functions = 1, .lines = 2, .launches = 1, .metrics = 5};
    assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
    pid_t child = fork();
    if (child == 0) {
        store_abandon(writer);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(sample_launch(store_sink(writer), 2, 1), STATUS_OK);
    close_writer(writer);
    assert_string_equal(query_value("SELECT count(*) FROM launch"), "2");
    assert_string_equal(query_value("PRAGMA integrity_check"), "ok");
    store_abandon(NULL);
    assert_int_equal(store_close(NULL), STATUS_OK);
}

static void a_running_profile_can_be_read(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    SampleSpec spec = {.functions = 1, .lines = 2, .launches = 3, .metrics = 5};
    assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
    assert_int_equal(sink_flush(store_sink(writer)), STATUS_OK);
    Profile *profile = open_profile();
    assert_int_equal(sample_launch(store_sink(writer), 4, 1), STATUS_OK);
    assert_int_equal(sink_flush(store_sink(writer)), STATUS_OK);
    ProfileSummary summary;
    assert_int_equal(profile_summary(profile, &summary, NULL), STATUS_OK);
    assert_false(summary.complete);
    assert_int_equal(summary.launches, 3);  // one snapshot
    assert_int_equal(store_close(writer), STATUS_OK);
    profile_close(profile);
    profile = open_profile();
    assert_int_equal(profile_summary(profile, &summary, NULL), STATUS_OK);
    assert_true(summary.complete && summary.launches == 4);
    profile_close(profile);
}

static int append_row(void *context, int columns, char **values, char **names) {
    (void)names;
    for (int i = 0; i < columns; i++) {
        for (const char *at = values[i] ? values[i] : "NULL"; *at; at++) fputc(*at, context);
        fputc('|', context);
    }
    return 0;
}

// All rows of all tables but the host's times, as one text.
static char *dump(void) {
    static const char *const tables[] = {"source", "metric", "module",        "function",  "file",    "insn",
                                         "launch", "sample", "launch_metric", "pc_metric", "dropped", "message"};
    char *text = NULL, sql[64];
    size_t size;
    sqlite3 *db;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (u32 i = 0; i < WL_COUNT(tables); i++) {
        snprintf(sql, sizeof sql, "SELECT * FROM %s", tables[i]);
        assert_int_equal(sqlite3_exec(db, sql, append_row, out, NULL), SQLITE_OK);
    }
    const char *meta = "SELECT * FROM meta WHERE key NOT IN ('created', 'wall_ns')";
    assert_int_equal(sqlite3_exec(db, meta, append_row, out, NULL), SQLITE_OK);
    sqlite3_close(db);
    fclose(out);
    return text;
}

static void same_records_give_the_same_profile(void **state) {
    (void)state;
    SampleSpec spec = {.functions = 3, .lines = 5, .launches = 3, .metrics = 20};
    char *dumps[2];
    for (u32 i = 0; i < 2; i++) {
        StoreWriter *writer = create_profile();
        assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
        close_writer(writer);
        dumps[i] = dump();
    }
    assert_true(strlen(dumps[0]) > 1000);
    assert_string_equal(dumps[0], dumps[1]);
    free(dumps[0]);
    free(dumps[1]);
}

static char *dump_query(sqlite3 *db, const char *sql) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(sqlite3_exec(db, sql, append_row, out, NULL), SQLITE_OK);
    fclose(out);
    return text;
}

// What a new profile consists of was made when Warplens was built: it is what SQLite would make of the schema now, a
// sound database, and complete before anything is written to it.
static void a_new_profile_is_the_schema(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    char schema[1 << 16] = "";
    FILE *file = fopen("src/store/schema.sql", "r");
    assert_true(file && fread(schema, 1, sizeof schema - 1, file) < sizeof schema - 1);
    fclose(file);
    sqlite3 *made, *expected;
    assert_int_equal(sqlite3_open(path, &made), SQLITE_OK);
    assert_int_equal(sqlite3_open(":memory:", &expected), SQLITE_OK);
    assert_int_equal(sqlite3_exec(expected, schema, NULL, NULL, NULL), SQLITE_OK);
    static const char *const same[] = {"SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid",
                                       "PRAGMA application_id", "PRAGMA user_version"};
    for (u32 i = 0; i < WL_COUNT(same); i++) {
        char *a = dump_query(made, same[i]), *b = dump_query(expected, same[i]);
        assert_true(strlen(a) > 0);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
    sqlite3_close(made);
    sqlite3_close(expected);
    assert_string_equal(query_value("PRAGMA integrity_check"), "ok");
    assert_string_equal(query_value("PRAGMA journal_mode"), "wal");
    assert_string_equal(query_value("PRAGMA page_size"), "1024");
    assert_string_equal(query_value("SELECT group_concat(key) FROM (SELECT key FROM meta ORDER BY key)"),
                        "complete,created,wall_ns,warplens_version");
    u32 metrics = 0;
    for (u32 i = 0; i < METRIC_COUNT; i++) metrics += !metric_table[i].formula;
    char count[16];
    snprintf(count, sizeof count, "%u", metrics);
    assert_string_equal(query_value("SELECT count(*) FROM metric"), count);
    close_writer(writer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(everything_comes_back),
        IN_FOLDER(inlined_code_goes_where_people_look),
        IN_FOLDER(sources_stay_apart),
        IN_FOLDER(other_records_are_kept),
        IN_FOLDER(malformed_records_are_refused_and_counted),
        IN_FOLDER(reserved_keys_stay_the_writers),
        IN_FOLDER(only_profiles_are_overwritten),
        IN_FOLDER(leftovers_are_not_mixed_in),
        IN_FOLDER(forked_child_leaves_the_file_alone),
        IN_FOLDER(a_running_profile_can_be_read),
        IN_FOLDER(same_records_give_the_same_profile),
        IN_FOLDER(a_new_profile_is_the_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
