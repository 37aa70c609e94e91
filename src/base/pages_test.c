// SPDX-License-Identifier: Apache-2.0
#include "base/pages.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/testing.h"

TEST(blocks_are_aligned_and_apart) {
    Pages *pages;
    assert_int_equal(pages_create(&pages), STATUS_OK);
    static const size_t sizes[] = {0, 1, 64, 65, 4000, 65536, 65537, 1 << 20};
    u8 *blocks[WL_COUNT(sizes)];
    for (u32 i = 0; i < WL_COUNT(sizes); i++) {
        blocks[i] = pages_take(pages, sizes[i]);
        assert_non_null(blocks[i]);
        memset(blocks[i], (int)i + 1, sizes[i]);
    }
    for (u32 i = 0; i < WL_COUNT(sizes); i++) {
        for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(blocks[i][k], i + 1);
        pages_give(pages, blocks[i], sizes[i]);
    }
    pages_give(pages, NULL, 64);
    pages_destroy(pages);
}

TEST(more_than_one_reservation) {
    Pages *pages;
    assert_int_equal(pages_create(&pages), STATUS_OK);
    enum { COUNT = 1200, SIZE = 60000 };  // more than RESERVED of pages.c
    static u8 *blocks[COUNT];
    for (u32 i = 0; i < COUNT; i++) {
        assert_non_null(blocks[i] = pages_take(pages, SIZE));
        blocks[i][0] = (u8)i;
        blocks[i][SIZE - 1] = (u8)~i;
    }
    for (u32 i = 0; i < COUNT; i++) {
        assert_int_equal(blocks[i][0], (u8)i);
        assert_int_equal(blocks[i][SIZE - 1], (u8)~i);
        pages_give(pages, blocks[i], SIZE);
    }
    pages_destroy(pages);
}

typedef struct Taking {
    Pages *pages;
    _Atomic u32 here;
    void *blocks[2];
} Taking;

// Each of two threads takes a block.
static void take_one(void *context, u32 part, u32 worker) {
    Taking *t = context;
    (void)part;
    atomic_fetch_add(&t->here, 1);
    while (atomic_load(&t->here) < 2) {}
    t->blocks[worker] = pages_take(t->pages, 640);
}

// Whoever gave them back, and in whatever order.
TEST(a_thread_gets_its_own_blocks_back) {
    Pages *pages;
    Pool *pool;
    assert_int_equal(pages_create(&pages), STATUS_OK);
    assert_int_equal(pool_create(&pool, 2), STATUS_OK);
    Taking first = {.pages = pages};
    pool_run(pool, 2, take_one, &first);
    for (u32 order = 0; order < 2; order++) {
        for (u32 i = 0; i < 2; i++) pages_give(pages, first.blocks[i ^ order], 640);
        Taking again = {.pages = pages};
        pool_run(pool, 2, take_one, &again);
        for (u32 i = 0; i < 2 && !pages_are_separate(); i++) assert_ptr_equal(again.blocks[i], first.blocks[i]);
        for (u32 i = 0; i < 2; i++) first.blocks[i] = again.blocks[i];
    }
    for (u32 i = 0; i < 2; i++) pages_give(pages, first.blocks[i], 640);
    void *all[] = {pages_take(pages, 640), pages_take(pages, 640)};  // others' rather than more
    if (!pages_are_separate())
        assert_true((all[0] == first.blocks[0] && all[1] == first.blocks[1]) ||
                    (all[0] == first.blocks[1] && all[1] == first.blocks[0]));
    for (u32 i = 0; i < 2; i++) pages_give(pages, all[i], 640);
    pool_destroy(pool);
    pages_destroy(pages);
}

TEST(resizing_keeps_the_content) {
    Pages *pages;
    assert_int_equal(pages_create(&pages), STATUS_OK);
    char *text = pages_resize(pages, NULL, 0, 5);
    memcpy(text, "warp", 5);
    text = pages_resize(pages, text, 5, 500);
    assert_string_equal(text, "warp");
    text = pages_resize(pages, text, 500, 100000);
    assert_string_equal(text, "warp");
    pages_give(pages, text, 100000);
    char *plain = pages_resize(NULL, NULL, 0, 5);  // without pages
    memcpy(plain, "lane", 5);
    plain = pages_resize(NULL, plain, 5, 50);
    assert_string_equal(plain, "lane");
    pages_give(NULL, plain, 50);
    pages_destroy(pages);
}

TEST(no_memory_is_told) {
    Pages *pages;
    assert_int_equal(pages_create(&pages), STATUS_OK);
    char *block = pages_take(pages, 100);
    assert_non_null(block);
    u64 left = 0;
    testing_memory_out_after(&left);
    assert_null(pages_take(pages, 100));
    assert_null(pages_resize(pages, block, 100, 200));
    testing_memory_back();
    pages_give(pages, block, 100);
    pages_destroy(pages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(more_than_one_reservation),
        cmocka_unit_test(a_thread_gets_its_own_blocks_back),
        cmocka_unit_test(resizing_keeps_the_content),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
