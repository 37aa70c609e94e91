// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/testing.h"
#include "collect/collect_inside.h"

enum { MS = 1000000 };

TEST(a_buffer_lasts_a_quarter_of_a_second) {
    assert_int_equal(buffers_size(64 << 10, 250 * MS), 64 << 10);
    assert_int_equal(buffers_size(64 << 10, 125 * MS), 128 << 10);
    assert_int_equal(buffers_size(64 << 10, 1000 * MS), 16 << 10);
    assert_int_equal(buffers_size(64 << 10, 3600000ull * MS), BUFFER_LEAST);
    assert_int_equal(buffers_size(BUFFER_LEAST, 0), BUFFER_BYTES);
}

TEST(buffers_come_back_in_the_order_of_completion) {
    Buffers *b = &collector.buffers;
    u8 *taken[BUFFER_COUNT], *none;
    size_t size, most;
    sem_init(&collector.wake, 0, 0);
    assert_true(buffers_make(b));
    for (u32 i = 0; i < BUFFER_COUNT; i++) {
        buffers_request(&taken[i], &size, &most);
        assert_non_null(taken[i]);
    }
    buffers_request(&none, &size, &most);
    assert_null(none);
    assert_int_equal(atomic_load(&b->refused), 1);
    assert_int_equal(buffers_take_full(b, UINT64_MAX), BUFFER_NONE);
    buffers_complete(NULL, 0, taken[7], size, 100);
    buffers_complete(NULL, 0, taken[3], size, 200);
    assert_int_equal(buffers_take_full(b, 0), BUFFER_NONE);
    u32 first = buffers_take_full(b, 1), later = buffers_take_full(b, 1), second = buffers_take_full(b, 2);
    assert_int_equal(later, BUFFER_NONE);
    assert_ptr_equal(b->memory + (size_t)first * BUFFER_BYTES, taken[7]);
    assert_int_equal(b->valid[first], 100);
    assert_ptr_equal(b->memory + (size_t)second * BUFFER_BYTES, taken[3]);
    buffers_give_back(b, second);
    buffers_request(&none, &size, &most);
    assert_ptr_equal(none, taken[3]);
}

TEST(an_end_comes_though_launches_go_on) {
    Buffers *b = &collector.buffers;
    u8 *buffer;
    size_t size, most;
    u32 count = 0;
    memset(b, 0, sizeof *b);
    assert_true(buffers_make(b));
    buffers_end(b);
    for (;; count++) {
        buffers_request(&buffer, &size, &most);
        if (!buffer) break;
        buffers_complete(NULL, 0, buffer, size, 8);
        buffers_give_back(b, buffers_take_full(b, UINT64_MAX));
    }
    assert_in_range(count, 1, BUFFER_COUNT / 2);
    assert_int_equal(size, 0);
    assert_int_equal(atomic_load(&b->refused), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_lasts_a_quarter_of_a_second),
        cmocka_unit_test(buffers_come_back_in_the_order_of_completion),
        cmocka_unit_test(an_end_comes_though_launches_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
