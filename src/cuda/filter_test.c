// SPDX-License-Identifier: Apache-2.0
// Which launches are recorded, and after which of them nothing will be.
#include "cuda/filter.h"

#include <regex.h>
#include <string.h>

#include "base/testing.h"

// `kernels`: a letter for each launch, its kernel's name; `expected`: n recorded, o passed over, r the rest.
static void expect(CudaContext *c, const char *kernels, const char *expected) {
    filter_setup(c);
    for (u32 i = 0; kernels[i]; i++) {
        char name[2] = {kernels[i], 0};
        assert_int_equal("nor"[filter_launch(c, name)], expected[i]);
    }
    if (c->filter) regfree(c->filter);
    mem_free(c->filter);
    mem_free(c);
}

static CudaContext *context(const char *regex, u64 skip, u64 count) {
    CudaContext *c = mem_zero(1, sizeof *c);
    assert_non_null(c);
    c->config.launch_skip = skip;
    c->config.launch_count = count;
    memcpy(c->config.kernel_regex, regex, strlen(regex) + 1);
    return c;
}

TEST(all_are_recorded) {
    CudaContext *c = context("", 0, UINT64_MAX);
    assert_false(filter_passes(c));
    expect(c, "abab", "nnnn");
}

TEST(those_skipped_and_those_after_the_last_are_not) {
    CudaContext *c = context("", 2, 1);
    assert_true(filter_passes(c));
    expect(c, "abab", "oonr");
    expect(context("", 0, 0), "ab", "rr");
    expect(context("", 3, UINT64_MAX), "ababa", "ooonn");
}

TEST(only_kernels_that_match_count) {
    CudaContext *c = context("^b$", 1, 2);
    assert_true(filter_passes(c));
    expect(c, "abababab", "ooononrr");
    expect(context("b", 0, UINT64_MAX), "aba", "ono");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_recorded),
        cmocka_unit_test(those_skipped_and_those_after_the_last_are_not),
        cmocka_unit_test(only_kernels_that_match_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
