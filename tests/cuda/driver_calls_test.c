// SPDX-License-Identifier: Apache-2.0
// Asks the simulator what driver_calls.c asks, and compares with what an H200 answered: h200_driver.txt.
#include <stdlib.h>

#include "base/testing.h"
#include "base/vec.h"

#include "driver_calls.c"

#define EXPECTED "tests/cuda/h200_driver.txt"

typedef struct Line {
    char text[300];
} Line;
typedef Vec(Line) Lines;

static bool get_line(FILE *file, Line *line) {
    if (!fgets(line->text, sizeof line->text, file)) return false;
    line->text[strcspn(line->text, "\n")] = 0;
    return true;
}

// What the simulator is to answer: the GPU's lines, with the lines behind them that begin with "> " in their place.
static void read_expected(Lines *to) {
    FILE *file = fopen(EXPECTED, "r");
    Line line;
    bool replaced = false;
    assert_non_null(file);
    while (get_line(file, &line)) {
        if (line.text[0] == '#') continue;
        bool ours = strncmp(line.text, "> ", 2) == 0;
        if (ours) memmove(line.text, line.text + 2, strlen(line.text) - 1);
        if (ours && !replaced) to->len--;
        replaced = ours;
        assert_int_equal(vec_push(to, line), STATUS_OK);
    }
    fclose(file);
}

// Runs every section with its output in a file; messages of the simulator go nowhere.
static FILE *ask(void) {
    FILE *file = tmpfile(), *nowhere = fopen("/dev/null", "w");
    assert_non_null(file);
    assert_non_null(nowhere);
    fflush(stdout);
    int out = dup(1), err = dup(2);
    dup2(fileno(file), 1);
    dup2(fileno(nowhere), 2);
    for (unsigned i = 0; i < section_count; i++) run_section(&sections[i]);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    fclose(nowhere);
    rewind(file);
    return file;
}

TEST(calls_answer_as_on_an_h200) {
    Lines expected = {0};
    Line line;
    u32 at = 0, differences = 0;
    read_expected(&expected);
    FILE *answers = ask();
    while (get_line(answers, &line)) {
        const char *wanted = at < expected.len ? expected.data[at].text : "(the end)";
        if (strcmp(line.text, wanted) != 0 && differences++ < 20)
            print_error("%s\n  expected: %s\n", line.text, wanted);
        at++;
    }
    fclose(answers);
    assert_int_equal(differences, 0);
    assert_int_equal(at, expected.len);
    assert_true(at > 1000);
    vec_free(&expected);
}

int main(void) {
    setenv("WARPLENS_GPU_DIR", "gpus", 1);
    setenv("WARPLENS_PROGRESS", "0", 1);
    unsetenv("WARPLENS_OUTPUT");
    cuda_setup(NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_answer_as_on_an_h200)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
