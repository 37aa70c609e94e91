// SPDX-License-Identifier: Apache-2.0
#include "collect/kernel_names.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/testing.h"

TEST(a_name_is_copied_once) {
    KernelNames names = {0};
    char symbol[] = "kernel";
    assert_true(kernel_names_make(&names));
    const char *name = kernel_names_find(&names, symbol);
    assert_string_equal(name, "kernel");
    assert_ptr_not_equal(name, symbol);
    assert_ptr_equal(kernel_names_find(&names, symbol), name);
}

TEST(another_module_may_have_another_name_at_the_same_address) {
    KernelNames names = {0};
    char symbol[] = "kernel";
    assert_true(kernel_names_make(&names));
    const char *name = kernel_names_find(&names, symbol);
    strcpy(symbol, "other");
    assert_string_equal(kernel_names_find(&names, symbol), "other");
    assert_string_equal(name, "kernel");
}

TEST(long_names_are_cut_and_found_again) {
    static char symbol[3 * KERNEL_NAME_BYTES];
    KernelNames names = {0};
    memset(symbol, 'k', sizeof symbol - 1);
    assert_true(kernel_names_make(&names));
    const char *name = kernel_names_find(&names, symbol);
    assert_int_equal(strlen(name), KERNEL_NAME_BYTES - 1);
    assert_ptr_equal(kernel_names_find(&names, symbol), name);
}

TEST(more_than_fit_have_none) {
    static char symbol[KERNEL_NAME_BYTES];
    KernelNames names = {0};
    u32 known = 0;
    memset(symbol, 'k', sizeof symbol - 1);
    assert_true(kernel_names_make(&names));
    for (u32 i = 0; i < KERNEL_NAMES; i++) {
        snprintf(symbol, 8, "%07u", i);
        symbol[7] = 'k';
        known += kernel_names_find(&names, symbol) != NULL;
    }
    assert_int_equal(known, (32 << 20) / KERNEL_NAME_BYTES);
}

enum { THREADS = 4, TURNS = 200, SYMBOLS = 64 };
static char symbols[SYMBOLS][16];

static void *find_all(void *context) {
    for (u32 turn = 0; turn < TURNS; turn++)
        for (u32 i = 0; i < SYMBOLS; i++)
            if (strcmp(kernel_names_find(context, symbols[i]), symbols[i]) != 0) return NULL;
    return context;
}

TEST(threads_find_the_same) {
    KernelNames names = {0};
    pthread_t threads[THREADS];
    assert_true(kernel_names_make(&names));
    for (u32 i = 0; i < SYMBOLS; i++) snprintf(symbols[i], sizeof symbols[i], "kernel%u", i);
    for (u32 i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, find_all, &names), 0);
    for (u32 i = 0; i < THREADS; i++) {
        void *found;
        pthread_join(threads[i], &found);
        assert_ptr_equal(found, &names);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_copied_once),
        cmocka_unit_test(another_module_may_have_another_name_at_the_same_address),
        cmocka_unit_test(long_names_are_cut_and_found_again),
        cmocka_unit_test(more_than_fit_have_none),
        cmocka_unit_test(threads_find_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
