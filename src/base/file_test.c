// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testing.h"

static char folder[] = "/tmp/warplens-file-test-XXXXXX";
static char path[64];

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return rmdir(folder);
}

static u8 byte_at(size_t i) { return (u8)(i * 7 + (i >> 8)); }

static void write_pattern(FILE *file, size_t size) {
    assert_non_null(file);
    for (size_t i = 0; i < size; i++) fputc(byte_at(i), file);
    assert_int_equal(fclose(file), 0);
}

static void assert_pattern(const FileData *file, size_t size) {
    assert_int_equal(file->size, size);
    for (size_t i = 0; i < size; i++) {
        if (file->data[i] != byte_at(i)) fail_msg("byte %zu differs", i);
    }
    assert_int_equal(file->data[size], 0);
}

TEST(files_of_any_size_come_whole_with_a_nul) {
    const size_t sizes[] = {0, 1, 4095, 4096, 4097, 100000, 256 << 10, (256 << 10) + 1, 1 << 20, (1 << 20) - 1};
    for (u32 i = 0; i < WL_COUNT(sizes); i++) {
        write_pattern(fopen(path, "wb"), sizes[i]);
        FileData file;
        Diag diag = {0};
        assert_int_equal(file_read(path, &file, &diag), STATUS_OK);
        assert_int_equal(diag.entries.len, 0);
        assert_pattern(&file, sizes[i]);
        assert_int_equal(file.mapped, sizes[i] > 256 << 10 && sizes[i] % 4096);
        file.data[0] = 0;  // the copy is private
        file_release(&file);
        assert_null(file.data);
    }
    unlink(path);
}

static void *feed_pipe(void *unused) {
    (void)unused;
    write_pattern(fopen(path, "wb"), 300001);
    return NULL;
}

TEST(pipes_are_read_to_their_end) {
    assert_int_equal(mkfifo(path, 0600), 0);
    pthread_t feeder;
    assert_int_equal(pthread_create(&feeder, NULL, feed_pipe, NULL), 0);
    FileData file;
    assert_int_equal(file_read(path, &file, NULL), STATUS_OK);
    pthread_join(feeder, NULL);
    assert_pattern(&file, 300001);
    assert_false(file.mapped);
    file_release(&file);
    unlink(path);
}

TEST(a_dash_is_standard_input) {
    write_pattern(fopen(path, "wb"), 5000);
    int before = dup(STDIN_FILENO), handle = open(path, O_RDONLY);
    assert_true(handle >= 0 && dup2(handle, STDIN_FILENO) == STDIN_FILENO);
    FileData file;
    assert_int_equal(file_read("-", &file, NULL), STATUS_OK);
    assert_pattern(&file, 5000);
    file_release(&file);
    dup2(before, STDIN_FILENO);
    close(before);
    close(handle);
    unlink(path);
}

TEST(files_that_claim_to_be_empty_are_read) {
    FileData file;
    assert_int_equal(file_read("/proc/self/status", &file, NULL), STATUS_OK);
    assert_true(file.size > 100);
    file_release(&file);
}

static void assert_fails(const char *name, Status status, const char *text) {
    FileData file;
    Diag diag = {0};
    assert_int_equal(file_read(name, &file, &diag), status);
    assert_null(file.data);
    assert_int_equal(diag.errors, 1);
    assert_string_equal(diag.entries.data[0].text, text);
    assert_string_equal(diag.entries.data[0].file, name);
    diag_free(&diag);
    file_release(&file);
}

TEST(what_cannot_be_read_says_why) {
    assert_fails(folder, STATUS_IO, "cannot read: Is a directory");
    assert_fails(path, STATUS_NOT_FOUND, "cannot open: No such file or directory");
    assert_fails("", STATUS_NOT_FOUND, "cannot open: No such file or directory");
    write_pattern(fopen(path, "wb"), 10);
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() != 0) assert_fails(path, STATUS_IO, "cannot open: Permission denied");
    unlink(path);
}

TEST(out_of_memory_is_reported) {
    for (u64 allowed = 0; allowed < 4; allowed++) {
        FileData file;
        Diag diag = {0};
        u64 left = allowed;
        testing_memory_out_after(&left);
        Status status = file_read("/proc/self/maps", &file, &diag);
        testing_memory_back();
        assert_true(status == STATUS_NO_MEMORY || status == STATUS_OK);
        if (allowed == 0) assert_int_equal(status, STATUS_NO_MEMORY);
        assert_int_equal(diag.errors, status != STATUS_OK);
        diag_free(&diag);
        file_release(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_any_size_come_whole_with_a_nul),
        cmocka_unit_test(pipes_are_read_to_their_end),
        cmocka_unit_test(a_dash_is_standard_input),
        cmocka_unit_test(files_that_claim_to_be_empty_are_read),
        cmocka_unit_test(what_cannot_be_read_says_why),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
