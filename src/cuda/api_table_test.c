// SPDX-License-Identifier: Apache-2.0
#include "cuda/api_table.h"

#include <string.h>

#include "base/testing.h"

TEST(names_are_sorted_and_found) {
    assert_true(api_table_count > 400);
    for (u32 i = 0; i < api_table_count; i++) {
        if (i) assert_true(strcmp(api_table[i - 1].name, api_table[i].name) < 0);
        assert_ptr_equal(api_find(api_table[i].name), &api_table[i]);
        assert_non_null(api_table[i].function);
    }
    assert_null(api_find("cudaNoSuchFunction"));
    assert_null(api_find(""));
}

TEST(variants_have_entry_points_of_their_own) {
    assert_ptr_not_equal(api_find("cudaMemcpy_ptds")->function, api_find("cudaMemcpy")->function);
    assert_true(api_find("cudaMemcpy_ptds")->implemented);
    assert_true(api_find("cudaMemcpy")->implemented);
    assert_false(api_find("cudaGLGetDevices")->implemented);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_sorted_and_found),
        cmocka_unit_test(variants_have_entry_points_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
