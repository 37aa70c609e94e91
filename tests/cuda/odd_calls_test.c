// SPDX-License-Identifier: Apache-2.0
// Odd calls are answered as an H200 answers them: h200_calls.txt, but for the differences listed here.
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#define K_INCREMENT ((const void *)&host_increment)
#define K_BOUNDED ((const void *)&host_bounded)
#define K_TRAP ((const void *)&host_trap)
#define K_ASSERT ((const void *)&host_assert)
#define S_TABLE ((const void *)host_table)
#define GUARD(statement) statement
#include "odd_state.h"

// call, what we answer, why
static const struct {
    const char *call, *ours, *why;
} differences[] = {
#define DIFFERENCE(call, ours, why) {call, ours, why},
#include "odd_differences.inc"
#undef DIFFERENCE
};

static bool is_known(const char *line) {
    for (u32 i = 0; i < WL_COUNT(differences); i++) {
        size_t length = strlen(differences[i].call);
        if (strncmp(line, differences[i].call, length) == 0 && strncmp(line + length, " = ", 3) == 0 &&
            strcmp(line + length + 3, differences[i].ours) == 0)
            return true;
    }
    return false;
}

// Asks a section in a child; its answers come through a file.
static FILE *answers_of(u32 section) {
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        answers = file;
        if (!freopen("/dev/null", "w", stderr)) _exit(1);
        runtime_begins("1");
        odd_begin();
        sections[section].ask();
        fflush(file);
        _exit(0);
    }
    int ended = 0;
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_int_equal(ended, 0);
    rewind(file);
    return file;
}

static bool next_line(FILE *file, char *line, size_t room) {
    if (!fgets(line, (int)room, file)) return false;
    line[strcspn(line, "\n")] = 0;
    return true;
}

TEST(odd_calls_are_answered_as_by_a_gpu) {
    char wanted[4096], line[4096];
    u32 equal = 0, known = 0, wrong = 0, section = 0;
    FILE *recorded = fopen("tests/cuda/h200_calls.txt", "r"), *ours = NULL;
    assert_non_null(recorded);
    while (next_line(recorded, wanted, sizeof wanted)) {
        if (wanted[0] == '#') continue;
        if (strncmp(wanted, "== ", 3) == 0) {
            if (ours) fclose(ours);
            assert_string_equal(wanted + 3, sections[section].name);
            ours = answers_of(section++);
            continue;
        }
        assert_non_null(ours);
        if (!next_line(ours, line, sizeof line)) line[0] = 0;
        bool same = strcmp(line, wanted) == 0;
        equal += same;
        known += !same && is_known(line);
        if (same || is_known(line)) continue;
        wrong++;
        print_message("a GPU: %s\n ours: %s\n", wanted, line);
    }
    if (ours) fclose(ours);
    fclose(recorded);
    assert_int_equal(section, WL_COUNT(sections));
    print_message("%u answers equal, %u differ as listed\n", equal, known);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(odd_calls_are_answered_as_by_a_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
