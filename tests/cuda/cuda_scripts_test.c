// SPDX-License-Identifier: Apache-2.0
// Runs the scripts of this folder; one that exits with 77 is skipped (no CUDA toolkit here).
#include <stdlib.h>
#include <sys/wait.h>

#include "base/testing.h"

static void run(const char *command) {
    if (!getenv("WARPLENS_BUILD")) skip();
    int status = system(command);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(types_are_laid_out_as_cudas) { run("bash tests/cuda/abi.sh"); }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// A preloaded library cannot bring a sanitizer into a program that was built without.
TEST(programs_of_nvcc_run) { skip(); }
#else
TEST(programs_of_nvcc_run) { run("bash tests/cuda/programs.sh"); }
#endif
TEST(the_api_document_is_current) { run("bash src/cuda/api_document.sh | diff - docs/cuda-api.md"); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_laid_out_as_cudas),
        cmocka_unit_test(programs_of_nvcc_run),
        cmocka_unit_test(the_api_document_is_current),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
