// SPDX-License-Identifier: Apache-2.0
// Opening whatever may lie where a profile should be.
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "store/sample_profile.h"
#include "store/store.h"
#include "store/store_testing.h"

static void write_sample(void) {
    StoreWriter *writer;
    SampleSpec spec = {.functions = 2, .lines = 5, .launches = 2, .metrics = 10};
    assert_int_equal(store_create(path, true, &writer, NULL), STATUS_OK);
    assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
}

static void write_bytes(const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static void execute(const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void expect_refusal(const char *name, Status expected, const char *reason) {
    Profile *profile;
    Diag diag = {0};
    assert_int_equal(profile_open(name, &profile, &diag), expected);
    assert_null(profile);
    assert_int_equal(diag.entries.len, 1);
    assert_string_equal(diag.entries.data[0].file, name);
    if (!strstr(diag.entries.data[0].text, reason)) fail_msg("%s", diag.entries.data[0].text);
    diag_free(&diag);
}

// Reads all there is; damage found on the way has a diag.
static Status read_everything(Profile *profile) {
    ProfileSummary summary;
    const ProfileFunction *functions;
    const ProfileLaunch *launches;
    const ProfileLine *lines;
    const char *const *texts;
    MetricSet metrics;
    Str text;
    u32 count, ignored;
    Diag diag = {0};
    Status status = profile_summary(profile, &summary, &diag);
    if (status == STATUS_OK) status = profile_messages(profile, &texts, &ignored, &diag);
    if (status == STATUS_OK) status = profile_functions(profile, &functions, &count, &diag);
    for (u32 i = 0; status == STATUS_OK && i < count; i++) {
        status = profile_launches(profile, functions[i].id, &launches, &ignored, &diag);
        if (status == STATUS_OK) status = profile_lines(profile, functions[i].id, &lines, &ignored, &diag);
        if (status == STATUS_OK) status = profile_function_metrics(profile, functions[i].id, &metrics, &diag);
        if (status == STATUS_OK) status = profile_module_text(profile, functions[i].module_id, &text, &diag);
    }
    assert_int_equal(diag.errors, status != STATUS_OK);
    diag_free(&diag);
    return status;
}

static Status open_and_read(void) {
    Profile *profile;
    TRY(profile_open(path, &profile, NULL));
    Status status = read_everything(profile);
    profile_close(profile);
    return status;
}

static void what_is_no_profile_is_told_apart(void **state) {
    (void)state;
    expect_refusal(path, STATUS_NOT_FOUND, "No such file or directory");
    expect_refusal(folder, STATUS_FORMAT, "directory");
    expect_refusal("/dev/null", STATUS_FORMAT, "not a regular file");
    write_bytes("", 0);
    expect_refusal(path, STATUS_FORMAT, "empty");
    write_bytes(
        "just some text, long enough to hold a header of one hundred bytes if it were a database, which it is not",
        100);
    expect_refusal(path, STATUS_FORMAT, "not a Warplens profile");
    write_bytes("SQLite format 3", 16);
    expect_refusal(path, STATUS_FORMAT, "not a Warplens profile");
    unlink(path);
    execute("CREATE TABLE cookies(a); INSERT INTO cookies VALUES(1)");
    expect_refusal(path, STATUS_FORMAT, "an SQLite database, but not a Warplens profile");
}

static void other_versions(void **state) {
    (void)state;
    write_sample();
    execute("PRAGMA user_version = 2");
    expect_refusal(path, STATUS_VERSION, "newer Warplens (schema version 2; this one reads up to 1)");
    execute("PRAGMA user_version = 0");
    expect_refusal(path, STATUS_FORMAT, "no schema version");
    execute("PRAGMA user_version = 1; DROP TABLE launch_metric");
    expect_refusal(path, STATUS_FORMAT, "tables are missing");
    write_sample();
    execute("DROP TABLE copy; CREATE VIEW copy AS SELECT 1 AS bytes");
    expect_refusal(path, STATUS_FORMAT, "tables are missing");
}

// A metric that this version does not know, and values no metric has, are passed over.
static void unknown_rows_are_passed_over(void **state) {
    (void)state;
    write_sample();
    execute("INSERT INTO metric VALUES(900, 'future__metric.sum', 'inst', ''), (901, "
            "'smsp__thread_inst_executed_per_inst_executed.ratio', '', '');"
            "INSERT INTO launch_metric VALUES(1, 900, 1.0), (1, 901, 5.0), (1, 77777, 5.0), (99999, 1, 1.0);"
            "UPDATE launch_metric SET value = 9e999 WHERE launch = 1 AND metric = 2;"
            "UPDATE function SET name = x'ff00fe' WHERE id = 2; INSERT INTO function VALUES(-5,1,'x',0,0,0,0,0,0)");
    Profile *profile;
    const ProfileLaunch *launches;
    u32 count;
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(profile_launches(profile, 1, &launches, &count, NULL), STATUS_OK);
    assert_true(launches[0].metrics->present[METRIC_INST]);
    assert_false(launches[0].metrics->present[METRIC_THREAD_INST]);
    assert_int_equal(read_everything(profile), STATUS_OK);
    profile_close(profile);
}

// A run on a GPU has hundreds of thousands of launches, of which nothing was counted.
static void launches_without_counters_take_little_memory(void **state) {
    (void)state;
    write_sample();
    execute("DELETE FROM launch_metric WHERE launch IN (SELECT id FROM launch WHERE function = 2)");
    Profile *profile;
    const ProfileLaunch *counted, *bare;
    u32 count;
    assert_int_equal(profile_open(path, &profile, NULL), STATUS_OK);
    assert_int_equal(profile_launches(profile, 1, &counted, &count, NULL), STATUS_OK);
    assert_int_equal(profile_launches(profile, 2, &bare, &count, NULL), STATUS_OK);
    assert_int_equal(count, 2);
    assert_ptr_equal(bare[0].metrics, bare[1].metrics);
    assert_null(memchr(bare[0].metrics->present, 1, METRIC_COUNT));
    assert_true(counted[0].metrics->present[METRIC_INST] && counted[1].metrics->present[METRIC_INST]);
    assert_ptr_not_equal(counted[0].metrics, counted[1].metrics);
    assert_in_range(sizeof *bare, 1, 256);
    profile_close(profile);
}

static void truncated_files_are_told_apart(void **state) {
    (void)state;
    write_sample();
    FileData whole;
    assert_int_equal(file_read(path, &whole, NULL), STATUS_OK);
    for (size_t size = 0; size < whole.size; size += size < 4096 ? 97 : 1531) {
        write_bytes(whole.data, size);
        const char *reason = size == 0 ? "empty" : size < 100 ? "not a Warplens profile" : "cut off";
        expect_refusal(path, STATUS_FORMAT, reason);
    }
    file_release(&whole);
}

static void garbled_files_do_no_harm(void **state) {
    (void)state;
    write_sample();
    FileData whole;
    assert_int_equal(file_read(path, &whole, NULL), STATUS_OK);
    u64 seed = 12345;
    u32 refused = 0;
    for (u32 round = 0; round < 300; round++) {
        u8 *copy = mem_alloc(whole.size);
        memcpy(copy, whole.data, whole.size);
        for (u32 i = 0; i < 1 + round / 4; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            copy[(seed >> 33) % whole.size] = (u8)(seed >> 24);
        }
        write_bytes(copy, whole.size);
        mem_free(copy);
        refused += open_and_read() != STATUS_OK;
    }
    assert_true(refused > 30);
    file_release(&whole);
}

// Runs `test` as an ordinary user, whom folders can keep from writing; returns its exit code.
static int as_user(Status (*test)(void)) {
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(100);
        _exit((int)test());
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

static void leave_wal(void) {
    pid_t child = fork();
    if (child == 0) {
        StoreWriter *writer;
        SampleSpec spec = {.functions = 2, .lines = 5, .launches = 2, .metrics = 10};
        if (store_create(path, true, &writer, NULL) != STATUS_OK) _exit(1);
        if (sample_run(store_sink(writer), &spec) != STATUS_OK) _exit(2);
        _exit(sink_flush(store_sink(writer)) == STATUS_OK ? 0 : 3);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static Status two_launches_each(void) {
    Profile *profile;
    ProfileSummary summary;
    TRY(profile_open(path, &profile, NULL));
    TRY(profile_summary(profile, &summary, NULL));
    if (summary.launches != 4) return STATUS_NOT_FOUND;
    TRY(read_everything(profile));
    profile_close(profile);
    return STATUS_OK;
}

static void read_only_folders(void **state) {
    (void)state;
    char companion[300];
    write_sample();  // complete
    chmod(folder, 0555);
    assert_int_equal(as_user(two_launches_each), STATUS_OK);
    chmod(folder, 0755);
    leave_wal();  // killed: the figures are in the WAL
    snprintf(companion, sizeof companion, "%s-shm", path);
    unlink(companion);
    chmod(folder, 0555);
    assert_int_equal(as_user(two_launches_each), STATUS_OK);
    chmod(folder, 0755);
    execute("PRAGMA wal_checkpoint(TRUNCATE)");  // a WAL database without a WAL
    chmod(folder, 0555);
    assert_int_equal(as_user(two_launches_each), STATUS_OK);
    assert_int_equal(access(companion, F_OK), -1);
    chmod(folder, 0755);
    chmod(path, 0);
    assert_int_equal(as_user(two_launches_each), STATUS_IO);
}

// Reading never changes the file, also when it could.
static void reading_leaves_the_file_alone(void **state) {
    (void)state;
    leave_wal();
    FileData before, after;
    assert_int_equal(file_read(path, &before, NULL), STATUS_OK);
    assert_int_equal(two_launches_each(), STATUS_OK);
    assert_int_equal(two_launches_each(), STATUS_OK);
    assert_int_equal(file_read(path, &after, NULL), STATUS_OK);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    file_release(&before);
    file_release(&after);
}

static void a_thousand_functions_are_listed_at_once(void **state) {
    (void)state;
    StoreWriter *writer;
    SampleSpec spec = {.functions = 1000, .lines = 10, .launches = 1, .metrics = 3};
    assert_int_equal(store_create(path, true, &writer, NULL), STATUS_OK);
    assert_int_equal(sample_run(store_sink(writer), &spec), STATUS_OK);
    assert_int_equal(store_close(writer), STATUS_OK);
    assert_int_equal(open_and_read(), STATUS_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_is_no_profile_is_told_apart),
        IN_FOLDER(other_versions),
        IN_FOLDER(unknown_rows_are_passed_over),
        IN_FOLDER(launches_without_counters_take_little_memory),
        IN_FOLDER(truncated_files_are_told_apart),
        IN_FOLDER(garbled_files_do_no_harm),
        IN_FOLDER(read_only_folders),
        IN_FOLDER(reading_leaves_the_file_alone),
        IN_FOLDER(a_thousand_functions_are_listed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
