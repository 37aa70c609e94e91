// SPDX-License-Identifier: Apache-2.0
// What a thread loads of what it has just stored: which of it hits the L1, against an H200, rows of
// bench/hwref/h200-l1-words.tsv (2026-11-23, driver 580, CUDA 13.0). The same whatever time is between.
#include "base/testing.h"
#include "sim/time/cache.h"
#include "sim/time/trace.h"

enum { TURNS = 1024 };
static const u32 block_end[] = {1000};

// The only line that lanes side by side access.
static u64 line_of(u64 address, u32 lanes, u32 bytes) {
    u64 each[32];
    for (u32 l = 0; l < lanes; l++) each[l] = address + (u64)l * bytes;
    Trace t = {.half = 32, .block_end = block_end};
    trace_reset(&t);
    trace_open(&t, 0, lanes == 32 ? ~0u : (1u << lanes) - 1);
    trace_global(&t, each, lanes, bytes);
    trace_close(&t);
    assert_int_equal(trace_access(t.words[TRACE_HEAD]).lines, 1);
    u64 word = t.words[TRACE_HEAD + 1];
    trace_free(&t);
    return word;
}

static u32 load(Cache *c, u64 word) {  // sectors that hit; the others are there afterwards
    u64 line = trace_line_address(word);
    CacheLook look = cache_look(c, line, trace_line_sectors(word));
    CacheVictim victim;
    if (look.miss && look.present) look.miss &= ~cache_words(c, line, look.miss, trace_line_words(word));
    assert_true(cache_reserve(c, line, look.miss, 0, &victim));
    cache_fill(c, line, look.miss);
    return sector_count(trace_line_sectors(word) & ~look.miss);
}
static void store(Cache *c, u64 word, u32 bytes) {
    CacheVictim victim;
    (void)cache_store(c, trace_line_address(word), trace_line_sectors(word), trace_line_whole(word),
                      bytes < 4 ? CACHE_NO_WORDS : trace_line_words(word), 0, &victim);
}

typedef struct Row {
    i32 step, off;  // bytes from turn to turn; from the store to the load
    bool before;    // a word of each line had been loaded
    u32 bytes, lanes;
    u32 hits, asked;  // an H200's: sectors of the loads that hit; that the L2 was asked for
} Row;

TEST(loads_hit_the_words_that_were_stored) {
    static const Row rows[] = {
        {0, 0, false, 4, 1, 1024, 0},     {4, 0, false, 4, 1, 1024, 0},   {32, 0, false, 4, 1, 1024, 0},
        {128, 0, false, 4, 1, 1024, 0},   {0, 4, false, 4, 1, 1023, 1},   {4, 4, false, 4, 1, 895, 129},
        {4, -4, false, 4, 1, 1023, 1},    {4, 32, false, 4, 1, 896, 128}, {4, 0, true, 4, 1, 1024, 33},
        {128, 0, true, 4, 1, 1024, 1025}, {4, 4, true, 4, 1, 928, 129},   {4, -4, true, 4, 1, 1023, 34},
        {4, 32, true, 4, 1, 928, 129},    {1, 0, false, 1, 1, 992, 32},   {1, 0, true, 1, 1, 1000, 33},
        {1, -1, true, 1, 1, 999, 34},     {64, 0, true, 4, 1, 1024, 513}, {128, 0, true, 4, 32, 4096, 4100},
        {128, 0, false, 4, 32, 4096, 0},  {0, 0, true, 4, 32, 4096, 4},
    };
    for (u32 r = 0; r < WL_COUNT(rows); r++) {
        const Row *row = &rows[r];
        Cache *c;
        CacheConfig config = {.size = 256 << 10, .line = 128, .sector = 32, .ways = 4, .sets = 512, .words = true};
        assert_int_equal(cache_create(&config, &c), STATUS_OK);
        u32 hits = 0, all = 0, early = 0;
        for (i32 i = 0; row->before && i * 128 <= TURNS * row->step; i++) {
            u64 word = line_of((u64)(4096 + i * 128), row->lanes, 4);
            early += sector_count(trace_line_sectors(word)) - load(c, word);
        }
        for (i32 i = 0; i < TURNS; i++) {
            store(c, line_of((u64)(4096 + i * row->step), row->lanes, row->bytes), row->bytes);
            u64 word = line_of((u64)(4096 + i * row->step + row->off), row->lanes, row->bytes);
            hits += load(c, word);
            all += sector_count(trace_line_sectors(word));
        }
        if (hits != row->hits || all - hits + early != row->asked)
            fail_msg("row %u: %u hits, %u sectors asked for; an H200 %u, %u", r, hits, all - hits + early, row->hits,
                     row->asked);
        cache_destroy(c);
    }
}

// Strided stores of a warp: each sector has the same words of it; where they differ, all of it counts as there.
TEST(words_of_several_sectors_are_alike) {
    u64 address[32];
    for (u32 stride = 8; stride <= 24; stride += 8) {
        Trace t = {.half = 32, .block_end = block_end};
        for (u32 l = 0; l < 32; l++) address[l] = l * stride;
        trace_reset(&t);
        trace_open(&t, 0, ~0u);
        trace_global(&t, address, 32, 4);
        trace_close(&t);
        assert_int_equal(trace_line_words(t.words[TRACE_HEAD + 1]), stride == 8 ? 0x55 : stride == 16 ? 0x11 : 0);
        trace_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_hit_the_words_that_were_stored),
        cmocka_unit_test(words_of_several_sectors_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
