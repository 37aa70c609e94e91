// SPDX-License-Identifier: Apache-2.0
// What a profile keeps of time: stalls, causes, samples, latencies, timelines.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above
#include <cmocka.h>

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "store/sample_profile.h"
#include "store/store_testing.h"
#include "store/timeline_code.h"

static Profile *open_profile(void) {
    Profile *profile = NULL;
    Diag diag = {0};
    if (profile_open(path, &profile, &diag) != STATUS_OK) fail_msg("%s", diag.entries.data[0].text);
    return profile;
}

static void execute(const char *sql) {
    sqlite3 *db;
    char *error = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s", error);
    sqlite3_close(db);
}

static i64 number(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    i64 value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void write_run(void) {
    SampleSpec spec = {.functions = 2, .lines = 3, .launches = 4, .metrics = 5, .timing = true};
    StoreWriter *writer = create_profile();
    assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
}

static void times_come_back(void **state) {
    (void)state;
    write_run();
    Profile *profile = open_profile();
    const ProfileLaunch *launches;
    u32 count;
    for (u32 function = 0; function <= 2; function += 2) {  // all, and those of one
        assert_int_equal(profile_launches(profile, function, &launches, &count, NULL), STATUS_OK);
        const ProfileLaunch *last = &launches[count - 1];
        assert_int_equal(last->id, 8);
        assert_true(last->time.known && !last->time.overlapped);
        assert_int_equal(last->time.begin_cycle, 80000);
        assert_int_equal(last->time.end_cycle, 88000);
        assert_int_equal(last->time.first_cta_cycle, 81000);
        assert_int_equal(last->time.last_cta_cycle, 87500);
        assert_true(last->time.begin_ns == 40000 && last->time.end_ns == 44000);
        assert_true(last->time.registers == 32 && last->time.ctas_per_sm == 4);
    }
    profile_close(profile);
}

static void stalls_are_added_up(void **state) {
    (void)state;
    write_run();
    Profile *profile = open_profile();
    const ProfileFunction *functions;
    const ProfileStall *stalls;
    const ProfileStallCause *causes;
    const ProfileSample *samples;
    const ProfileLatency *latencies;
    const ProfilePlace *places;
    u32 count;
    assert_int_equal(profile_functions(profile, &functions, &count, NULL), STATUS_OK);
    assert_int_equal(profile_stalls(profile, 1, &stalls, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    assert_string_equal(stalls[SAMPLE_STALL_MEMORY].name, "long_scoreboard");
    assert_int_equal(profile_stalls(profile, 7, &stalls, &count, NULL), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(profile_stall_causes(profile, &functions[1], &causes, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    assert_true(causes[0].pc == 1 && causes[0].stall == SAMPLE_STALL_MEMORY && causes[0].cause_pc == 0);
    assert_true(causes[0].cause_function == 2 && causes[0].cycles == 20000 && causes[0].times == 200);
    assert_int_equal(profile_samples(profile, &functions[1], &samples, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    assert_true(samples[0].launch == 0 && samples[0].pc == 1 && samples[0].period == 512);
    assert_true(samples[0].samples == 120 && samples[0].not_issued == 80);
    assert_int_equal(profile_latencies(profile, &functions[1], &latencies, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    assert_true(latencies[1].low == 362 && latencies[1].high == 512 && latencies[1].count == 40);
    assert_int_equal(profile_places(profile, 2, &places, &count, NULL), STATUS_OK);
    assert_int_equal(count, 6);
    assert_string_equal(places[5].file, "src/app.cu");
    assert_int_equal(places[5].line, 12);
    profile_close(profile);
}

static void samples_of_other_periods_stay_apart(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    for (u32 period = 512; period <= 1024; period *= 2) {
        RecordSamples samples = {.function = 1, .source = 1, .count = 1, .period = period};
        RecordSample row = {0, 1, 10, 5};
        assert_int_equal(sink_write(store_sink(writer), RECORD_SAMPLES, &samples, &row, sizeof row), STATUS_OK);
    }
    assert_int_equal(store_close(writer), STATUS_OK);
    Profile *profile = open_profile();
    const ProfileSample *samples;
    u32 count;
    ProfileFunction function = {.id = 1, .source = 1};
    assert_int_equal(profile_samples(profile, &function, &samples, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    profile_close(profile);
}

static long long samples_in_file(void) {
    sqlite3 *db;
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT sum(samples) FROM sample", -1, &query, NULL), SQLITE_OK);
    long long sum = sqlite3_step(query) == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;
    sqlite3_finalize(query);
    sqlite3_close(db);
    return sum;
}

// More rows than are kept in memory, twice, and a transaction between: each instruction has what was said of it. All of
// it is in the file soon after nothing more is said, before the end.
static void samples_of_many_instructions_are_added_up(void **state) {
    (void)state;
    enum { ROWS = 140000, WAITS = 2000 };
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    RecordSample *rows = mem_zero(ROWS, sizeof *rows);
    assert_non_null(rows);
    for (u32 i = 0; i < ROWS; i++) rows[i] = (RecordSample){(i * 7919) % ROWS, 1, i % 100 + 1, 1};
    RecordSamples samples = {.function = 1, .source = 1, .count = ROWS, .period = 512};
    for (u32 time = 0; time < 2; time++) {
        assert_int_equal(sink_write(sink, RECORD_SAMPLES, &samples, rows, sizeof *rows * ROWS), STATUS_OK);
        assert_int_equal(sink_flush(sink), STATUS_OK);
    }
    mem_free(rows);
    for (u32 i = 0; i < WAITS && samples_in_file() < 2 * ROWS / 100 * 5050; i++) {
        usleep(20000);
        assert_int_equal(sink_flush(sink), STATUS_OK);
    }
    assert_int_equal(samples_in_file(), 2 * ROWS / 100 * 5050);
    assert_int_equal(store_close(writer), STATUS_OK);
    Profile *profile = open_profile();
    const ProfileSample *read;
    u32 count;
    ProfileFunction function = {.id = 1, .source = 1};
    assert_int_equal(profile_samples(profile, &function, &read, &count, NULL), STATUS_OK);
    assert_int_equal(count, ROWS);
    u64 sum = 0;
    for (u32 i = 0; i < count; i++) sum += read[i].samples;
    assert_int_equal(sum, 2 * ROWS / 100 * 5050);
    profile_close(profile);
}

// --- timelines --------------------------------------------------------------------------------------------------

static ProfileTimeline only_timeline(Profile *profile) {
    const ProfileTimeline *timelines;
    u32 count;
    assert_int_equal(profile_timelines(profile, 1, &timelines, &count, NULL), STATUS_OK);
    assert_int_equal(count, 1);
    return timelines[0];
}

static void write_timeline(u32 units, u32 points, u32 max_bytes) {
    StoreWriter *writer = create_profile();
    assert_int_equal(sample_timeline(store_sink(writer), 1, TIMELINE_SM, units, points, max_bytes), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
}

static void timelines_come_back(void **state) {
    (void)state;
    write_timeline(5, 300, 0);
    Profile *profile = open_profile();
    ProfileTimeline timeline = only_timeline(profile);
    assert_int_equal(timeline.unit, TIMELINE_SM);
    assert_true(timeline.units == 5 && timeline.metrics == 2 && timeline.points == 300);
    assert_true(timeline.first == 10000 && timeline.step == 1000 && timeline.tick_ns == 0.5);
    TimelineData data;
    assert_int_equal(timeline_read(profile, &timeline, &data, NULL), STATUS_OK);
    assert_int_equal(data.metrics[1], METRIC_THREAD_INST);
    for (u32 i = 0; i < 2 * 5 * 300; i++) {
        assert_int_equal(data.values[i], sample_point(i / 300 / 5, i / 300 % 5, i % 300));
    }
    f64 lanes[300], all[300], none[300];
    timeline_figure(profile, &timeline, &data, METRIC_LANES, 3, lanes);
    timeline_figure(profile, &timeline, &data, METRIC_INST, TIMELINE_ALL, all);
    timeline_figure(profile, &timeline, &data, METRIC_BARRIER, 0, none);
    assert_true(lanes[17] == 32 && isnan(none[17]));
    assert_true(all[17] == 5 * (100 + 30) + 1 + 2 + 3 + 4);
    timeline_free(&data);
    profile_close(profile);
}

// Coarser until it fits; what the points add up to stays.
static void timelines_fit_their_share(void **state) {
    (void)state;
    u64 total = 0;
    for (u32 p = 0; p < 301; p++) total += sample_point(0, 0, p);
    for (u32 max = 2000; max >= 250; max /= 2) {
        write_timeline(1, 301, max);
        Profile *profile = open_profile();
        ProfileTimeline timeline = only_timeline(profile);
        assert_true(timeline.points >= 2 && timeline.points * timeline.step / 1000 >= 301);
        TimelineData data;
        assert_int_equal(timeline_read(profile, &timeline, &data, NULL), STATUS_OK);
        u64 sum = 0;
        for (u32 p = 0; p < timeline.points; p++) sum += data.values[p];
        assert_int_equal(sum, total);
        timeline_free(&data);
        profile_close(profile);
    }
    write_timeline(200, 1, 45);  // one point of one metric is still too much
    Profile *profile = open_profile();
    const ProfileTimeline *timelines;
    u32 count;
    assert_int_equal(profile_timelines(profile, 1, &timelines, &count, NULL), STATUS_OK);
    assert_int_equal(count, 0);
    profile_close(profile);
}

// Incompressible timelines of short launches, of every kind of unit: bytes of the file.
static u64 size_with(u32 launches) {
    enum { POINTS = 6, UNITS = 132 };
    static const u32 shares[] = {160, 230, 20, 40, 80, 30, 40};  // as the simulator shares 600 bytes out
    static u8 tail[8 + 2 * UNITS * POINTS * 8];
    StoreWriter *writer = create_profile();
    for (u32 i = 0; i < launches * 7; i++) {
        RecordTimeline record = {.launch = 1 + i / 7,
                                 .source = 1,
                                 .unit = i % 7,
                                 .units = i % 7 ? UNITS : 1,
                                 .metrics = 2,
                                 .points = POINTS,
                                 .max_bytes = shares[i % 7] * POINTS,
                                 .first = 100000ull * i,
                                 .step = 1000,
                                 .tick_ns = 0.5051};
        u32 values = 2 * record.units * POINTS, ids[] = {METRIC_INST, METRIC_THREAD_INST};
        memcpy(tail, ids, sizeof ids);
        for (u32 v = 0; v < values; v++) memcpy(tail + 8 + v * 8, &(u64){hash_u64(i * 10007 + v) % 60000}, 8);
        assert_int_equal(sink_write(store_sink(writer), RECORD_TIMELINE, &record, tail, 8 + values * 8), STATUS_OK);
    }
    assert_int_equal(store_close(writer), STATUS_OK);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (u64)info.st_size;
}

static void a_point_takes_at_most_600_bytes(void **state) {
    (void)state;
    u64 without = size_with(0);
    for (u32 launches = 2; launches <= 30; launches += 7)
        assert_in_range(size_with(launches) - without, 1, 600 * 6 * launches);
}

// Of launches whose timelines do not fit, those that come later are made coarser before they are compressed, and still
// take a quarter of what they may at least. Launches of another kind, which fit as they are, have all of their points
// soon.
static void launches_that_become_different_are_tried_again(void **state) {
    (void)state;
    enum { POINTS = 16, UNITS = 132, LAUNCHES = 60, ALLOWED = 500 };
    static u64 values[UNITS * POINTS];
    static u8 tail[4 + sizeof values];
    StoreWriter *writer = create_profile();
    for (u32 i = 0; i < LAUNCHES; i++) {
        RecordTimeline record = {.launch = 1 + i,
                                 .source = 1,
                                 .unit = TIMELINE_SM,
                                 .units = UNITS,
                                 .metrics = 1,
                                 .points = POINTS,
                                 .max_bytes = ALLOWED,
                                 .step = 1000,
                                 .tick_ns = 0.5};
        bool noise = i < LAUNCHES / 2;
        for (u32 v = 0; v < UNITS * POINTS; v++) values[v] = noise ? hash_u64(i * 10007 + v) % 16 : v % POINTS % 5;
        memcpy(tail, &(u32){METRIC_INST}, 4);
        memcpy(tail + 4, values, sizeof values);
        assert_int_equal(sink_write(store_sink(writer), RECORD_TIMELINE, &record, tail, sizeof tail), STATUS_OK);
    }
    assert_int_equal(store_close(writer), STATUS_OK);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(number(db, "SELECT count(*) FROM timeline WHERE launch <= 30 AND length(data) > 130"), 30);
    assert_int_equal(number(db, "SELECT count(*) FROM timeline WHERE launch > 40 AND points = 16"), 20);
    sqlite3_close(db);
}

static void estimates_come_back(void **state) {
    (void)state;
    write_run();
    execute("INSERT INTO launch_estimate VALUES(8, 1, 7500, 8600, 0.25), (99, 1, 1, 2, 1)");
    Profile *profile = open_profile();
    const ProfileLaunch *launches;
    u32 count;
    assert_int_equal(profile_launches(profile, 0, &launches, &count, NULL), STATUS_OK);
    const ProfileTime *whole = &launches[count - 2].time, *part = &launches[count - 1].time;
    assert_true(!whole->estimated && whole->detail == 1 && whole->low_cycles == 8000 && whole->high_cycles == 8000);
    assert_true(part->estimated && part->detail == 0.25 && part->low_cycles == 7500 && part->high_cycles == 8600);
    profile_close(profile);
    StoreWriter *writer = create_profile();
    RecordLaunchEstimate estimate = {.launch = 1, .source = 1, .low_cycles = 9, .high_cycles = 8, .detail = 0.5};
    assert_int_equal(sink_write(store_sink(writer), RECORD_LAUNCH_ESTIMATE, &estimate, NULL, 0), STATUS_INVALID);
    estimate = (RecordLaunchEstimate){.launch = 1, .source = 1, .detail = NAN};
    assert_int_equal(sink_write(store_sink(writer), RECORD_LAUNCH_ESTIMATE, &estimate, NULL, 0), STATUS_INVALID);
    assert_int_equal(store_close(writer), STATUS_OK);
}

static void experiments_come_back(void **state) {
    (void)state;
    write_run();
    StoreWriter *writer;
    static const char tail[] = "spills\0free 100 3 f f\n";
    RecordExperiment record = {.function = 1, .source = 1, .before_ns = 3000, .after_ns = 2000};
    assert_int_equal(store_append(path, &writer, NULL), STATUS_OK);
    assert_int_equal(sink_write(store_sink(writer), RECORD_EXPERIMENT, &record, tail, sizeof tail), STATUS_OK);
    record.after_ns = 1500;  // tried again: the last one counts
    assert_int_equal(sink_write(store_sink(writer), RECORD_EXPERIMENT, &record, tail, sizeof tail), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
    Profile *profile = open_profile();
    const ProfileExperiment *rows;
    u32 count;
    assert_int_equal(profile_experiments(profile, &rows, &count, NULL), STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(rows->rule, "spills");
    assert_string_equal(rows->edits, "free 100 3 f f\n");
    assert_true(rows->function == 1 && rows->before_ns == 3000 && rows->after_ns == 1500);
    profile_close(profile);
    assert_int_equal(store_append(path, &writer, NULL), STATUS_OK);
    record.after_ns = NAN;
    assert_int_equal(sink_write(store_sink(writer), RECORD_EXPERIMENT, &record, tail, sizeof tail), STATUS_INVALID);
    record.after_ns = 0;
    assert_int_equal(sink_write(store_sink(writer), RECORD_EXPERIMENT, &record, tail, sizeof tail), STATUS_INVALID);
    assert_int_equal(store_close(writer), STATUS_OK);
    execute("DROP TABLE experiment");  // as of an older version
    profile = open_profile();
    assert_int_equal(profile_experiments(profile, &rows, &count, NULL), STATUS_OK);
    assert_int_equal(count, 0);
    profile_close(profile);
}

static void malformed_timelines_are_refused(void **state) {
    (void)state;
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    RecordTimeline good = {.launch = 1, .unit = TIMELINE_SM, .units = 1, .metrics = 1, .points = 1, .step = 1};
    u8 tail[12] = {METRIC_INST};
    RecordTimeline bad[8] = {good, good, good, good, good, good, good, good};
    bad[0].unit = TIMELINE_UNIT_COUNT;
    bad[1].units = 0;
    bad[2].points = UINT32_MAX;
    bad[3].metrics = UINT32_MAX;
    bad[4].step = 0;
    bad[5].step = UINT64_MAX;
    bad[6].tick_ns = NAN;
    bad[7].points = 2;
    for (u32 i = 0; i < WL_COUNT(bad); i++) {
        assert_int_equal(sink_write(sink, RECORD_TIMELINE, &bad[i], tail, sizeof tail), STATUS_INVALID);
    }
    tail[0] = METRIC_LANES;  // a formula
    assert_int_equal(sink_write(sink, RECORD_TIMELINE, &good, tail, sizeof tail), STATUS_INVALID);
    RecordStallCauses causes = {.function = 1, .source = 1, .count = 2};
    RecordLatencies latencies = {.launch = 1, .count = 1};
    RecordLaunchTime time = {.launch = 1, .begin_ns = INFINITY};
    RecordStallName name = {1, 1};
    assert_int_equal(sink_write(sink, RECORD_STALL_CAUSES, &causes, tail, 12), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_LATENCIES, &latencies, tail, 12), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_LAUNCH_TIME, &time, NULL, 0), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_STALL_NAME, &name, "no end", 6), STATUS_INVALID);
    assert_int_equal(store_close(writer), STATUS_OK);
}

static void damaged_timelines_are_told(void **state) {
    (void)state;
    static const char *const damages[] = {
        "UPDATE timeline SET data = x'00'",           "UPDATE timeline SET data = NULL",
        "UPDATE timeline SET points = points + 1",    "UPDATE timeline SET units = units - 1",
        "UPDATE timeline SET metrics = 60000000",     "UPDATE timeline SET data = substr(data, 1, length(data) - 1)",
        "UPDATE timeline SET points = 1, units = 10",
    };
    for (u32 i = 0; i < WL_COUNT(damages); i++) {
        write_timeline(5, 30, 0);
        char sql[256];
        snprintf(sql, sizeof sql,
                 "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, "
                 "'BLOB NOT NULL', 'BLOB') WHERE name = 'timeline'");
        execute(sql);
        execute(damages[i]);
        Profile *profile = open_profile();
        const ProfileTimeline *timelines;
        u32 count;
        assert_int_equal(profile_timelines(profile, 1, &timelines, &count, NULL), STATUS_OK);
        Diag diag = {0};
        TimelineData data;
        if (count) assert_int_equal(timeline_read(profile, &timelines[0], &data, &diag), STATUS_FORMAT);
        if (count) assert_int_equal(diag.errors, 1);
        diag_free(&diag);
        profile_close(profile);
    }
}

// Profiles from before there were timing tables, and the launches' call stacks.
static void older_profiles_have_no_times(void **state) {
    (void)state;
    write_run();
    execute("DROP TABLE launch_time; DROP TABLE load_latency; DROP TABLE stall; DROP TABLE stall_cause;"
            "DROP TABLE timeline; ALTER TABLE launch DROP COLUMN stack");
    Profile *profile = open_profile();
    const ProfileLaunch *launches;
    const ProfileTimeline *timelines;
    const ProfileStallCause *causes;
    u32 count;
    Diag diag = {0};
    assert_int_equal(profile_launches(profile, 0, &launches, &count, &diag), STATUS_OK);
    assert_true(count == 8 && !launches[0].time.known && !launches[0].stack);
    assert_int_equal(profile_timelines(profile, 1, &timelines, &count, &diag), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(profile_timelines(profile, 2, &timelines, &count, &diag), STATUS_OK);
    ProfileFunction function = {.id = 1, .source = 1};
    assert_int_equal(profile_stall_causes(profile, &function, &causes, &count, &diag), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(diag.entries.len, 0);
    profile_close(profile);
}

static void any_value_survives_packing(void **state) {
    (void)state;
    u64 values[2 * 3 * 4] = {0, 1, UINT64_MAX, 0, 127, 128, UINT64_MAX / 2, 1ull << 63, 5, 5, 5, 5};  // the rest 0
    u32 ids[2] = {300, 7};
    TimelineShape shape = {2, 3, 4};
    TimelinePacked packed;
    ByteVec bytes = {0};
    assert_int_equal(timeline_pack(shape, ids, values, UINT64_MAX, &bytes, &packed), STATUS_OK);
    assert_int_equal(packed.metrics, 1);
    assert_int_equal(packed.changes, 8);
    u64 back[3 * 4], names[1];
    shape.metrics = packed.metrics;
    assert_int_equal(timeline_unpack(shape, bytes.data, bytes.len, names, back), STATUS_OK);
    assert_memory_equal(values, back, sizeof back);
    assert_int_equal(names[0], 300);
    for (u32 cut = 0; cut < bytes.len; cut++)
        assert_int_equal(timeline_unpack(shape, bytes.data, cut, names, back), STATUS_FORMAT);
    assert_int_equal(vec_push(&bytes, 0), STATUS_OK);
    assert_int_equal(timeline_unpack(shape, bytes.data, bytes.len, names, back), STATUS_FORMAT);
    vec_free(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(times_come_back),
        IN_FOLDER(stalls_are_added_up),
        IN_FOLDER(samples_of_other_periods_stay_apart),
        IN_FOLDER(samples_of_many_instructions_are_added_up),
        IN_FOLDER(timelines_come_back),
        IN_FOLDER(timelines_fit_their_share),
        IN_FOLDER(malformed_timelines_are_refused),
        IN_FOLDER(damaged_timelines_are_told),
        IN_FOLDER(older_profiles_have_no_times),
        IN_FOLDER(a_point_takes_at_most_600_bytes),
        IN_FOLDER(launches_that_become_different_are_tried_again),
        IN_FOLDER(estimates_come_back),
        IN_FOLDER(experiments_come_back),
        cmocka_unit_test(any_value_survives_packing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
