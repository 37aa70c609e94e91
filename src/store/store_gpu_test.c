// SPDX-License-Identifier: Apache-2.0
// What only runs on a GPU write: launches known at their end, spans, the host's call stacks.
#include "store/store_testing.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void put(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    assert_int_equal(sink_write(sink, kind, fixed, tail, size), STATUS_OK);
}

static void write_run(Sink *sink) {
    put(sink, RECORD_SOURCE, &(RecordSource){.source = 1, .provenance = PROVENANCE_COUNTED}, "CUPTI\0GPU\0device 0",
        19);
    put(sink, RECORD_FUNCTION, &(RecordFunction){.function = 1}, "kernel", 7);
    put(sink, RECORD_OBJECT, &(RecordObject){.object = 1}, "/bin/app", 9);
    for (u32 i = 1; i <= 3; i++)
        put(sink, RECORD_FRAME, &(RecordFrame){.frame = i, .object = i == 3 ? 0 : 1, .offset = i * 16}, "\0\0", 2);
    put(sink, RECORD_STACK, &(RecordStack){.stack = 1, .count = 3}, (const u32[]){3, 1, 2}, 12);
    for (u32 i = 1; i <= 2; i++) {
        RecordLaunchDone launch = {.launch = i, .function = 1, .source = 1, .device = 2, .stream = 7, .stack = i - 1};
        launch.grid[0] = 5;
        launch.begin_ns = 1000 * i;
        launch.end_ns = 1000 * i + 300;
        launch.registers = 40;
        put(sink, RECORD_LAUNCH_DONE, &launch, NULL, 0);
    }
    put(sink, RECORD_SPAN, &(RecordSpan){.kind = SPAN_RANGE, .thread = 9, .begin_ns = 1, .end_ns = 2}, "step", 5);
}

TEST(arguments_of_launches) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    static const u8 block[RECORD_ARGUMENT_BYTES + 1] = {7, 0, 9};
    const ProfileArguments *rows;
    u32 count;
    write_run(sink);
    RecordLaunchArguments record = {.launch = 2, .size = 3};
    put(sink, RECORD_LAUNCH_ARGUMENTS, &record, block, 3);
    assert_int_equal(sink_write(sink, RECORD_LAUNCH_ARGUMENTS, &record, block, 2), STATUS_INVALID);  // cut off
    record.size = 0;
    assert_int_equal(sink_write(sink, RECORD_LAUNCH_ARGUMENTS, &record, block, 0), STATUS_INVALID);
    record.size = sizeof block;
    assert_int_equal(sink_write(sink, RECORD_LAUNCH_ARGUMENTS, &record, block, sizeof block), STATUS_INVALID);
    assert_int_equal(store_close(writer), STATUS_OK);
    Profile *profile;
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(profile_launch_arguments(profile, 1, &rows, &count, NULL), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].launch, 2);
    assert_int_equal(rows[0].data.len, 3);
    assert_memory_equal(rows[0].data.data, block, 3);
    assert_int_equal(profile_launch_arguments(profile, 2, &rows, &count, NULL), STATUS_OK);
    assert_int_equal(count, 0);
    profile_close(profile);
}

TEST(launches_have_their_times_and_stacks) {
    StoreWriter *writer = create_profile();
    Profile *profile;
    const ProfileLaunch *launches;
    const ProfileFrame *frames;
    u32 count;
    write_run(store_sink(writer));
    assert_int_equal(store_close(writer), STATUS_OK);
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(profile_launches(profile, 1, &launches, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(launches[0].stack, 0);
    assert_int_equal(launches[1].stack, 1);
    assert_int_equal(launches[1].index, 1);
    assert_int_equal(launches[1].device, 2);
    assert_int_equal(launches[1].end_ns - launches[1].begin_ns, 300);
    assert_true(launches[1].time.known);
    assert_int_equal(launches[1].time.registers, 40);
    assert_int_equal((u64)(launches[1].time.end_ns - launches[1].time.begin_ns), 300);
    assert_int_equal(profile_stack(profile, 1, &frames, &count, NULL), STATUS_OK);
    assert_int_equal(count, 3);
    assert_string_equal(frames[0].object, "");
    assert_int_equal(frames[0].offset, 48);
    assert_string_equal(frames[1].object, "/bin/app");
    assert_int_equal(frames[2].id, 2);
    assert_string_equal(frames[2].symbol, "");
    profile_close(profile);
}

TEST(frames_get_their_names_later) {
    StoreWriter *writer = create_profile();
    Profile *profile;
    const ProfileFrame *frames;
    u32 count;
    write_run(store_sink(writer));
    assert_int_equal(store_close(writer), STATUS_OK);
    assert_int_equal(store_append(path, &writer, NULL), STATUS_OK);
    put(store_sink(writer), RECORD_FRAME, &(RecordFrame){.frame = 1, .object = 1, .offset = 16, .line = 12},
        "main\0a.c", 9);
    assert_int_equal(store_close(writer), STATUS_OK);
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(profile_frames(profile, &frames, &count, NULL), STATUS_OK);
    assert_int_equal(count, 3);
    assert_string_equal(frames[0].symbol, "main");
    assert_string_equal(frames[0].file, "a.c");
    assert_int_equal(frames[0].line, 12);
    assert_int_equal(profile_stack(profile, 77, &frames, &count, NULL), STATUS_OK);
    assert_int_equal(count, 0);
    profile_close(profile);
}

TEST(malformed_records_are_refused) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    assert_int_equal(sink_write(sink, RECORD_STACK, &(RecordStack){.stack = 1, .count = 3}, "abc", 3), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_FRAME, &(RecordFrame){.frame = 1}, "main", 5), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_OBJECT, &(RecordObject){.object = 1}, "no end", 6), STATUS_INVALID);
    assert_int_equal(sink_write(sink, RECORD_SPAN, &(RecordSpan){.kind = 99}, NULL, 0), STATUS_INVALID);
    assert_int_equal(store_close(writer), STATUS_OK);
}

TEST(only_profiles_are_removed) {
    StoreWriter *writer = create_profile();
    assert_int_equal(store_close(writer), STATUS_OK);
    assert_int_equal(store_remove(path, NULL), STATUS_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(store_remove(path, NULL), STATUS_OK);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a text of somebody", file);
    fclose(file);
    assert_int_equal(store_remove(path, NULL), STATUS_EXISTS);
    assert_int_equal(access(path, F_OK), 0);
}

typedef struct Made {
    u32 grid;
    u64 ns;  // 0: recorded without its time
} Made;

// A profile of one kernel's launches; they are returned as they are read.
static const ProfileLaunch *read_made(const Made *made, u32 count, Profile **profile) {
    StoreWriter *writer = create_profile();
    Sink *sink = store_sink(writer);
    const ProfileLaunch *launches;
    u32 found;
    put(sink, RECORD_SOURCE, &(RecordSource){.source = 1, .provenance = PROVENANCE_COUNTED}, "CUPTI\0GPU\0device 0",
        19);
    put(sink, RECORD_FUNCTION, &(RecordFunction){.function = 1}, "kernel", 7);
    for (u32 i = 0; i < count; i++) {
        RecordLaunchDone launch = {.launch = i + 1, .function = 1, .source = 1};
        launch.grid[0] = made[i].grid;
        launch.begin_ns = made[i].ns ? 1000000 * (i + 1) : 0;
        launch.end_ns = launch.begin_ns + made[i].ns;
        put(sink, RECORD_LAUNCH_DONE, &launch, NULL, 0);
    }
    assert_int_equal(store_close(writer), STATUS_OK);
    assert_int_equal(profile_open(path, profile, NULL), STATUS_OK);
    assert_int_equal(profile_launches(*profile, 0, &launches, &found, NULL), STATUS_OK);
    assert_int_equal(found, count);
    return launches;
}

TEST(launches_without_times_take_those_of_launches_alike) {
    const Made made[] = {{1, 100}, {1, 0}, {1, 104}, {2, 900}, {1, 0}, {1, 102}, {1, 98}, {1, 0}, {1, 0}};
    Profile *profile;
    const ProfileLaunch *launches = read_made(made, WL_COUNT(made), &profile);
    f64 error = 0;
    assert_false(launches[0].time.estimated);
    assert_float_equal(profile_launch_ns(&launches[3]), 900, 0);
    for (u32 i = 0; i < WL_COUNT(made); i++) {
        if (made[i].ns) continue;
        assert_true(launches[i].time.estimated);
        assert_float_equal(profile_launch_ns(&launches[i]), 101, 1e-9);
        error += launches[i].time.error_ns;
    }
    // Clusters {100}, {104}, {102, 98} deviate from 101 by -1, 3 and -2 in all: the mean's error is
    // sqrt(14 * 3 / 2) / 4, one launch's deviation sqrt(20 / 3), of four together half of that.
    assert_float_equal(error, 4 * 1.96 * sqrt(21.0 / 16 + 20.0 / 3 / 4), 1e-9);
    profile_close(profile);
}

TEST(launches_of_another_shape_tell_less) {
    const Made made[] = {{1, 100}, {1, 0}, {2, 300}, {3, 0}};
    Profile *profile;
    const ProfileLaunch *launches = read_made(made, WL_COUNT(made), &profile);
    assert_float_equal(profile_launch_ns(&launches[1]), 100, 0);
    assert_float_equal(launches[1].time.error_ns, 100, 1e-9);  // one says nothing of how they differ
    assert_float_equal(profile_launch_ns(&launches[3]), 200, 0);
    assert_float_equal(launches[3].time.error_ns, 200, 1e-9);  // never more than the time itself
    profile_close(profile);
}

TEST(without_any_time_none_is_made_up) {
    const Made made[] = {{1, 0}, {1, 0}};
    Profile *profile;
    const ProfileLaunch *launches = read_made(made, WL_COUNT(made), &profile);
    assert_false(launches[0].time.known);
    assert_float_equal(profile_launch_ns(&launches[0]), 0, 0);
    profile_close(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {IN_FOLDER(arguments_of_launches),
                                       IN_FOLDER(launches_have_their_times_and_stacks),
                                       IN_FOLDER(frames_get_their_names_later),
                                       IN_FOLDER(malformed_records_are_refused),
                                       IN_FOLDER(only_profiles_are_removed),
                                       IN_FOLDER(launches_without_times_take_those_of_launches_alike),
                                       IN_FOLDER(launches_of_another_shape_tell_less),
                                       IN_FOLDER(without_any_time_none_is_made_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
