// SPDX-License-Identifier: Apache-2.0
// The store when things go wrong: memory runs out at every allocation (SQLite's included), the disk fills up, the
// process is killed at every point.
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/sample_profile.h"
#include "store/store.h"
#include "store/store_testing.h"

static Status read_timing(Profile *profile, const ProfileFunction *function) {
    const ProfilePlace *places;
    const ProfileStall *stalls;
    const ProfileStallCause *causes;
    const ProfileSample *samples;
    const ProfileLatency *latencies;
    u32 count;
    TRY(profile_places(profile, function->id, &places, &count, NULL));
    TRY(profile_stalls(profile, function->source, &stalls, &count, NULL));
    TRY(profile_stall_causes(profile, function, &causes, &count, NULL));
    TRY(profile_samples(profile, function, &samples, &count, NULL));
    return profile_latencies(profile, function, &latencies, &count, NULL);
}

static Status read_timelines(Profile *profile, u32 launch) {
    const ProfileTimeline *timelines;
    u32 count;
    TRY(profile_timelines(profile, launch, &timelines, &count, NULL));
    for (u32 i = 0; i < count; i++) {
        TimelineData data;
        TRY(timeline_read(profile, &timelines[i], &data, NULL));
        timeline_free(&data);
    }
    return STATUS_OK;
}

static Status read_everything(Profile *profile, u32 *launches) {
    ProfileSummary summary;
    const ProfileFunction *functions;
    const ProfileLaunch *rows;
    const ProfileLine *lines;
    const char *const *texts;
    MetricSet metrics;
    Str text;
    u32 count, ignored;
    TRY(profile_summary(profile, &summary, NULL));
    TRY(profile_functions(profile, &functions, &count, NULL));
    TRY(profile_launches(profile, 0, &rows, launches, NULL));
    TRY(profile_messages(profile, &texts, &ignored, NULL));
    TRY(profile_module_text(profile, 1, &text, NULL));
    for (u32 i = 0; i < *launches; i++) TRY(read_timelines(profile, rows[i].id));
    for (u32 i = 0; i < count; i++) {
        TRY(profile_launches(profile, functions[i].id, &rows, &ignored, NULL));
        TRY(profile_lines(profile, functions[i].id, &lines, &ignored, NULL));
        TRY(profile_function_metrics(profile, functions[i].id, &metrics, NULL));
        TRY(read_timing(profile, &functions[i]));
    }
    return STATUS_OK;
}

// --- memory -----------------------------------------------------------------------------------------------------

static struct { u64 calls, fail_at; } memory;

static bool fail_once(void *context, size_t size) {
    (void)context;
    (void)size;
    return ++memory.calls != memory.fail_at;
}

// SQLite's memory through our door: the size before each block.
static void *lite_alloc(int size) {
    i64 *block = mem_alloc((size_t)size + 16);
    if (block) block[0] = size;
    return block ? block + 2 : NULL;
}
static void lite_free(void *data) {
    if (data) mem_free((i64 *)data - 2);
}
static void *lite_resize(void *data, int size) {
    i64 *block = mem_resize((i64 *)data - 2, (size_t)size + 16);
    if (block) block[0] = size;
    return block ? block + 2 : NULL;
}
static int lite_size(void *data) { return data ? (int)((i64 *)data)[-2] : 0; }
static int lite_round(int size) { return (size + 7) & ~7; }
static int lite_init(void *context) {
    (void)context;
    return SQLITE_OK;
}
static void lite_shutdown(void *context) { (void)context; }

static Status write_all(void) {
    StoreWriter *writer;
    SampleSpec spec = {.functions = 2, .lines = 2, .launches = 2, .metrics = 3, .timing = true};
    TRY(store_create(path, true, &writer, NULL));
    Status status = sample_run(store_sink(writer), &spec);
    u32 complaints = status != STATUS_OK;
    for (u32 i = 0; i < 3; i++) complaints += sample_launch(store_sink(writer), 100 + i, 1) != STATUS_OK;
    assert_true(complaints <= 1);  // once, then it swallows
    Status closed = store_close(writer);
    return closed != STATUS_OK ? closed : status;
}

static Status read_all(void) {
    Profile *profile;
    u32 launches;
    TRY(profile_open(path, &profile, NULL));
    Status status = read_everything(profile, &launches);
    profile_close(profile);
    return status;
}

// Lets each allocation of `step` fail in turn, until it runs through without one; `after` looks at what is left.
static void fail_each(Status (*step)(void), void (*after)(Status status)) {
    sqlite3_shutdown();
    for (u64 at = 1;; at += at < 400 ? 1 : 7) {
        memory.calls = 0;
        memory.fail_at = at;
        mem_set_hook(fail_once, NULL);
        Status status = step();
        mem_set_hook(NULL, NULL);
        if (after) after(status);
        if (memory.calls < at) break;
        assert_true(at < 100000);
    }
}

// Whatever failed: nothing is there, or a profile that can be read.
static void expect_sound_file(Status status) {
    if (access(path, F_OK) != 0) {
        assert_int_not_equal(status, STATUS_OK);
        return;
    }
    assert_int_equal(read_all(), STATUS_OK);
    Profile *profile;
    ProfileSummary summary;
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(profile_summary(profile, &summary, NULL), STATUS_OK);
    if (status != STATUS_OK) assert_false(summary.complete && summary.dropped == 0);
    profile_close(profile);
}

static void writing_survives_lack_of_memory(void **state) {
    (void)state;
    fail_each(write_all, expect_sound_file);
}

static void reading_survives_lack_of_memory(void **state) {
    (void)state;
    assert_int_equal(write_all(), STATUS_OK);
    fail_each(read_all, NULL);
}

// --- disk -------------------------------------------------------------------------------------------------------

// The signal that comes with a file grown too large would end the process; the program's own files have it as before.
static bool signal_is_as_before(void) {
    sigset_t mask, pending;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    sigpending(&pending);
    return !sigismember(&mask, SIGXFSZ) && !sigismember(&pending, SIGXFSZ);
}

// 0 when all went as it should; the number says which expectation failed.
static int write_to_full_disk(rlim_t limit) {
    struct rlimit sizes = {limit, limit};
    if (setrlimit(RLIMIT_FSIZE, &sizes) != 0) return 1;
    Diag diag = {0};
    StoreWriter *writer;
    if (store_create(path, true, &writer, &diag) != STATUS_OK) {
        return diag.entries.len != 1 ? 2 : access(path, F_OK) == 0 ? 3 : 100;
    }
    Sink *sink = store_sink(writer);
    u32 complaints = 0;
    if (sample_head(sink) != STATUS_OK || sample_function(sink, 1, "k", 1) != STATUS_OK) return 4;
    RecordCount counts[20];
    for (u32 i = 0; i < 20; i++) counts[i] = (RecordCount){.metric = METRIC_INST, .value = i};
    for (u32 i = 1; i <= 4000; i++) {
        complaints += sample_launch(sink, i, 1) != STATUS_OK;
        complaints += sample_counts(sink, i, counts, 20) != STATUS_OK;
        if (i % 50 == 0) complaints += sink_flush(sink) != STATUS_OK;
    }
    if (complaints != 1) return 5;
    if (store_close(writer) != STATUS_IO) return 6;
    return signal_is_as_before() ? 0 : 7;
}

static void a_full_disk_keeps_what_was_committed(void **state) {
    (void)state;
    for (rlim_t limit = 20000; limit < 400000; limit += 38000) {
        pid_t child = fork();
        if (child == 0) _exit(write_to_full_disk(limit));
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 100) {  // not even the schema had room
            assert_true(limit < 200000);
            continue;
        }
        assert_int_equal(WEXITSTATUS(status), 0);
        Profile *profile;
        ProfileSummary summary;
        u32 launches;
        assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
        assert_int_equal(read_everything(profile, &launches), STATUS_OK);
        assert_int_equal(profile_summary(profile, &summary, NULL), STATUS_OK);
        assert_false(summary.complete);
        assert_true(launches % 50 == 0 && launches < 4000);
        if (limit > 200000) assert_true(launches > 0);
        profile_close(profile);
    }
}

// --- killing ----------------------------------------------------------------------------------------------------

enum { FLUSH_EVERY = 7 };

typedef struct KillSink {  // passes records on, and dies after the last one
    Sink sink;
    Sink *to;
    u32 left, taken;
} KillSink;

static Status kill_write(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    KillSink *kill_sink = (KillSink *)sink;
    Status status = sink_write(kill_sink->to, kind, fixed, tail, size);
    if (++kill_sink->taken % FLUSH_EVERY == 0) status = sink_flush(kill_sink->to);
    if (--kill_sink->left == 0) kill(getpid(), SIGKILL);
    return status;
}

static void count_launches(RecordKind kind, u32 *launches) { *launches += kind == RECORD_LAUNCH; }

typedef struct CountSink {  // how many launches the first `until` records hold
    Sink sink;
    u32 taken, until, launches;
} CountSink;

static Status count_write(Sink *sink, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    (void)fixed;
    (void)tail;
    (void)size;
    CountSink *counter = (CountSink *)sink;
    if (counter->taken++ < counter->until) count_launches(kind, &counter->launches);
    return STATUS_OK;
}

static const SampleSpec kill_spec = {.functions = 3, .lines = 4, .launches = 5, .metrics = 4, .timing = true};

static u32 launches_in(u32 records, u32 *total) {
    CountSink counter = {.sink = {.write = count_write}, .until = records};
    assert_int_equal(sample_run(&counter.sink, &kill_spec), STATUS_OK);
    if (total) *total = counter.taken;
    return counter.launches;
}

static void write_until_killed(u32 records) {
    StoreWriter *writer;
    if (store_create(path, true, &writer, NULL) != STATUS_OK) _exit(1);
    KillSink sink = {.sink = {.write = kill_write}, .to = store_sink(writer), .left = records};
    Status status = sample_run(&sink.sink, &kill_spec);
    _exit(status == STATUS_OK ? 2 : 3);
}

static void killed_writers_leave_what_was_flushed(void **state) {
    (void)state;
    u32 total;
    launches_in(0, &total);
    assert_true(total > 100);
    for (u32 i = 1; i <= 100; i++) {
        u32 records = total * i / 100;
        pid_t child = fork();
        if (child == 0) write_until_killed(records);
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

        Profile *profile;
        ProfileSummary summary;
        u32 launches;
        assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
        assert_int_equal(read_everything(profile, &launches), STATUS_OK);
        assert_int_equal(profile_summary(profile, &summary, NULL), STATUS_OK);
        assert_false(summary.complete);
        assert_true(launches >= launches_in(records - records % FLUSH_EVERY, NULL));
        assert_true(launches <= launches_in(records, NULL));
        profile_close(profile);
    }
}

int main(void) {
    sqlite3_mem_methods methods = {lite_alloc, lite_free, lite_resize,   lite_size,
                                   lite_round, lite_init, lite_shutdown, NULL};
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK) return 1;
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
    const struct CMUnitTest tests[] = {
        IN_FOLDER(writing_survives_lack_of_memory),
        IN_FOLDER(reading_survives_lack_of_memory),
        IN_FOLDER(a_full_disk_keeps_what_was_committed),
        IN_FOLDER(killed_writers_leave_what_was_flushed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
