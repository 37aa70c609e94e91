// SPDX-License-Identifier: Apache-2.0
// Places of arrays beside those that the driver of an H200 gave (bench/hwref/h200-placement.tsv).
#include "sim/places.h"

#include <stdio.h>
#include <string.h>

#include "base/testing.h"

#define WINDOW (1ull << 36)

enum { MOST = 256 };

typedef struct Block {
    u64 size, there;  // there: as the driver gave it
    u64 here;
} Block;

static u64 span(u64 size) { return (size + PLACE_UNIT - 1) / PLACE_UNIT * PLACE_UNIT; }

// Pages are numbered as arrays first come to them: which of the GPU's they are is the driver's.
static u32 page_number(const Block *blocks, u32 count, u64 page, bool here) {
    for (u32 i = 0; i < count; i++)
        if ((here ? blocks[i].here : blocks[i].there) / PLACE_PAGE == page) return i;
    return count;
}

static void give(WindowPlaces *p, const Block *b) { places_give(p, PLACE_ARRAY, b->here, span(b->size)); }

// The program gave back its blocks 1 to 4 of `again` before it asked for the sixth.
static void free_between(WindowPlaces *p, const char *name, u32 number, const Block *blocks, u32 count) {
    if (strcmp(name, "again") || number != 6) return;
    for (u32 k = 1; k < 5; k++) give(p, &blocks[count - 6 + k]);
}

TEST(arrays_lie_where_an_h200_has_them) {
    static Block blocks[MOST];
    FILE *file = fopen("bench/hwref/h200-placement.tsv", "r");
    assert_non_null(file);
    WindowPlaces p = {.size = WINDOW};
    char line[256], name[32];
    u32 count = 0;
    while (fgets(line, sizeof line, file)) {
        u32 number;
        long long size, there;
        if (sscanf(line, "placement/%31[^/]/%u/%lld\t%lld", name, &number, &size, &there) != 4) continue;
        if (strcmp(name, "order") && strcmp(name, "small") && strcmp(name, "again")) continue;
        assert_true(count < MOST);
        free_between(&p, name, number, blocks, count);
        Block *b = &blocks[count];
        *b = (Block){(u64)size, (u64)there + WINDOW, places_take(&p, PLACE_ARRAY, span((u64)size), PLACE_UNIT)};
        if (b->here % PLACE_PAGE != b->there % PLACE_PAGE ||
            page_number(blocks, count, b->here / PLACE_PAGE, true) !=
                page_number(blocks, count, b->there / PLACE_PAGE, false))
            fail_msg("%s here at %#llx", line, (unsigned long long)b->here);
        count++;
    }
    assert_int_equal(count, 49);
    fclose(file);
    places_free(&p);
}

TEST(everything_given_back_is_one_room) {
    const u64 sizes[] = {512, 3 << 20, 1 << 20, 1024, 2 << 20, 7 << 20, 700 << 10};
    u64 at[WL_COUNT(sizes)];
    WindowPlaces p = {.size = WINDOW};
    for (u32 i = 0; i < WL_COUNT(sizes); i++) at[i] = places_take(&p, i % 2, sizes[i], PLACE_UNIT);
    for (u32 i = 0; i < WL_COUNT(sizes); i++) places_give(&p, i % 2, at[i], sizes[i]);
    assert_int_equal(p.rests[PLACE_ARRAY].len + p.rests[PLACE_VARIABLE].len, 0);
    assert_int_equal(p.pages.len, 1);
    assert_int_equal(p.pages.data[0].offset, 0);
    assert_int_equal(p.pages.data[0].size, p.next);
    places_free(&p);
}

TEST(a_full_window_has_no_place) {
    WindowPlaces p = {.size = 2 * PLACE_PAGE};
    assert_int_equal(places_take(&p, PLACE_ARRAY, 3 * PLACE_PAGE, PLACE_UNIT), PLACE_NOWHERE);
    assert_int_equal(places_take(&p, PLACE_ARRAY, PLACE_UNIT, PLACE_UNIT), 0);
    assert_int_equal(places_take(&p, PLACE_ARRAY, PLACE_PAGE, PLACE_UNIT), PLACE_PAGE);
    assert_int_equal(places_take(&p, PLACE_ARRAY, PLACE_PAGE, PLACE_UNIT), PLACE_NOWHERE);
    assert_int_equal(places_take(&p, PLACE_ARRAY, PLACE_UNIT, PLACE_UNIT), PLACE_UNIT);
    places_free(&p);
}

TEST(what_alignment_skips_can_be_had) {
    WindowPlaces p = {.size = WINDOW};
    assert_int_equal(places_take(&p, PLACE_ARRAY, PLACE_UNIT, PLACE_UNIT), 0);
    assert_int_equal(places_take(&p, PLACE_ARRAY, 1024, 64 * PLACE_PAGE), 64 * PLACE_PAGE);
    assert_int_equal(places_take(&p, PLACE_ARRAY, 3 * PLACE_PAGE, PLACE_UNIT), PLACE_PAGE);
    places_give(&p, PLACE_ARRAY, PLACE_PAGE, 3 * PLACE_PAGE);
    places_give(&p, PLACE_ARRAY, 64 * PLACE_PAGE, 1024);
    places_give(&p, PLACE_ARRAY, 0, PLACE_UNIT);
    assert_int_equal(p.pages.len, 1);
    assert_int_equal(p.pages.data[0].size, 65 * PLACE_PAGE);
    places_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_lie_where_an_h200_has_them),
        cmocka_unit_test(everything_given_back_is_one_room),
        cmocka_unit_test(a_full_window_has_no_place),
        cmocka_unit_test(what_alignment_skips_can_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
