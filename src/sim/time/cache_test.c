// SPDX-License-Identifier: Apache-2.0
#include "sim/time/cache.h"

#include <string.h>

#include "base/map.h"
#include "sim/time/cache_testing.h"

static Cache *make(u64 size, u32 ways, u8 replacement, bool hashed) {
    CacheConfig config = {.size = size,
                          .line = 128,
                          .sector = 32,
                          .ways = ways,
                          .replacement = replacement,
                          .hashed = hashed,
                          .owned = true};
    Cache *cache;
    assert_int_equal(cache_create(&config, &cache), STATUS_OK);
    return cache;
}

TEST(sectors_are_missing_then_pending_then_there) {
    Cache *cache = make(4096, 4, CACHE_LRU, false);
    CacheVictim victim;
    CacheLook look = cache_look(cache, 1280, 6);
    assert_true(look.miss == 6 && !look.hit && !look.pending && !look.present);
    assert_true(cache_reserve(cache, 1280, 2, 7, &victim));
    assert_false(victim.evicted);
    look = cache_look(cache, 1280, 6);
    assert_true(look.miss == 4 && !look.hit && look.pending == 2 && look.present);
    cache_fill(cache, 1280, 2);
    look = cache_look(cache, 1280, 6);
    assert_true(look.miss == 4 && look.hit == 2 && !look.pending && look.present);
    cache_clear(cache);
    assert_false(cache_look(cache, 1280, 2).present);
    cache_destroy(cache);
}

// Any number of sets, lines anywhere: what lies so many lines apart as there are sets shares one, neighbours do not.
TEST(sets_repeat_with_their_number) {
    static const u64 sets[] = {3, 122, 1000, 65535},
                     lines[] = {0, 12345, 1ull << 41, (1ull << 48) + 77, (1ull << 57) - 2};
    for (u32 i = 0; i < WL_COUNT(sets) * WL_COUNT(lines); i++) {
        u64 count = sets[i / WL_COUNT(lines)], line = lines[i % WL_COUNT(lines)];
        if (line >= count) line -= count;
        Cache *cache = make(count * 128, 1, CACHE_LRU, false);
        assert_false(bring(cache, line, 0xF, 0).evicted);
        assert_false(bring(cache, line + 1, 0xF, 0).evicted);
        CacheVictim victim = bring(cache, line + count, 0xF, 0);
        assert_true(victim.evicted && victim.line == line * 128);
        cache_destroy(cache);
    }
}

TEST(least_recently_used_or_first_come_goes) {
    for (u8 replacement = CACHE_LRU; replacement <= CACHE_FIFO; replacement++) {
        Cache *cache = make(512, 0, replacement, false);  // four lines
        for (u64 i = 0; i < 4; i++) assert_false(bring(cache, i, 0xF, 100 + i).evicted);
        assert_int_equal(hits(cache, 0), 0xF);
        CacheVictim victim = bring(cache, 4, 0xF, 0);
        assert_true(victim.evicted && !victim.dirty);
        u64 gone = replacement == CACHE_LRU ? 1 : 0;
        assert_int_equal(victim.line, gone * 128);
        assert_int_equal(victim.owner, 100 + gone);
        assert_int_equal(hits(cache, gone), 0);
        cache_destroy(cache);
    }
}

TEST(lines_with_pending_sectors_stay) {
    Cache *cache = make(512, 0, CACHE_LRU, false);
    CacheVictim victim;
    for (u64 i = 0; i < 4; i++) assert_true(cache_reserve(cache, i * 128, 1, 0, &victim));
    assert_false(cache_reserve(cache, 4 * 128, 1, 0, &victim));
    assert_false(cache_write(cache, 4 * 128, 1, 0, true, 0, &victim));
    assert_true(cache_reserve(cache, 3 * 128, 2, 0, &victim));  // has its place already
    cache_fill(cache, 2 * 128, 1);
    assert_true(cache_reserve(cache, 4 * 128, 1, 0, &victim));
    assert_true(victim.evicted && victim.line == 2 * 128);
    cache_destroy(cache);
}

TEST(written_sectors_are_dirty_until_evicted) {
    Cache *cache = make(512, 0, CACHE_LRU, false);
    CacheVictim victim;
    assert_true(cache_write(cache, 0, 3, 0, false, 0, &victim));  // no line, none made
    assert_false(cache_look(cache, 0, 3).present);
    bring(cache, 0, 1, 0);
    assert_true(cache_write(cache, 0, 3, 0, false, 0, &victim));  // only what is there
    assert_int_equal(cache_look(cache, 0, 3).hit, 1);
    assert_true(cache_write(cache, 0, 6, 0, true, 0, &victim));
    assert_int_equal(cache_look(cache, 0, 15).hit, 7);
    for (u64 i = 1; i < 4; i++) bring(cache, i, 1, 0);
    victim = bring(cache, 4, 1, 0);
    assert_true(victim.evicted && victim.line == 0 && victim.dirty == 7);
    cache_destroy(cache);
}

TEST(dropped_lines_leave_room) {
    Cache *cache = make(512, 0, CACHE_LRU, false);
    for (u64 i = 0; i < 4; i++) bring(cache, i, 3, 0);
    cache_drop(cache, 2 * 128, 1);
    assert_int_equal(cache_look(cache, 2 * 128, 3).hit, 2);
    cache_drop(cache, 2 * 128, 2);
    assert_false(cache_look(cache, 2 * 128, 3).present);
    assert_false(bring(cache, 9, 1, 0).evicted);
    assert_int_equal(hits(cache, 0), 3);
    cache_destroy(cache);
}

TEST(without_a_cache_everything_misses) {
    Cache *cache = make(0, 4, CACHE_LRU, false);
    CacheVictim victim;
    assert_true(cache_reserve(cache, 128, 5, 0, &victim));
    assert_false(victim.evicted);
    cache_fill(cache, 128, 5);
    assert_int_equal(cache_look(cache, 128, 5).miss, 5);
    assert_true(cache_write(cache, 128, 5, 0, false, 3, &victim));
    assert_false(victim.evicted);
    assert_true(cache_write(cache, 128, 5, 0, true, 3, &victim));  // leaves it at once
    assert_true(victim.evicted && victim.line == 128 && victim.dirty == 5 && victim.owner == 3);
    cache_drop(cache, 128, 5);
    cache_destroy(cache);
}

TEST(shapes_that_do_not_fit_are_refused) {
    static const CacheConfig bad[] = {{.size = 4096, .line = 100, .sector = 32},
                                      {.size = 4096, .line = 128, .sector = 24},
                                      {.size = 4096, .line = 32, .sector = 64},
                                      {.size = 4096, .line = 512, .sector = 16},
                                      {.size = UINT64_MAX, .line = 128, .sector = 32}};
    Cache *cache;
    for (u32 i = 0; i < WL_COUNT(bad); i++) assert_int_equal(cache_create(&bad[i], &cache), STATUS_INVALID);
    CacheConfig good = {.size = 1 << 16, .line = 128, .sector = 32, .ways = 128};
    for (u64 allowed = 0; allowed < 2; allowed++) {
        u64 left = allowed;
        testing_memory_out_after(&left);
        assert_int_equal(cache_create(&good, &cache), STATUS_NO_MEMORY);
        testing_memory_back();
        assert_null(cache);
    }
}

// A contiguous array as large as the cache fits, hashed or not, whatever the number of sets.
TEST(contiguous_lines_fill_the_cache_exactly) {
    static const struct {
        u64 size;
        u32 ways;
    } shapes[] = {{1 << 18, 16}, {223 << 10, 64}, {60 << 10, 4}, {5229 * 128, 16}, {48 << 10, 0}};
    for (u32 i = 0; i < WL_COUNT(shapes) * 2; i++) {
        u64 size = shapes[i / 2].size;
        u32 ways = shapes[i / 2].ways;
        Cache *cache = make(size, ways, CACHE_LRU, i & 1);
        u64 lines = size / 128, base = 1234567;
        if (ways) lines = lines / ways * ways;
        if (i & 1)
            base = base / (ways ? lines / ways : 1) * (ways ? lines / ways : 1);  // blocks of as many lines as sets
        for (u64 k = 0; k < lines; k++) assert_false(bring(cache, base + k, 0xF, 0).evicted);
        for (u64 k = 0; k < lines; k++) assert_int_equal(hits(cache, base + k), 0xF);
        assert_true(bring(cache, base + lines, 1, 0).evicted);
        cache_destroy(cache);
    }
}

// Lines a multiple of the sets apart share one set unless the sets are hashed.
TEST(hashed_sets_spread_strided_lines) {
    for (u32 hashed = 0; hashed < 2; hashed++) {
        Cache *cache = make(1 << 18, 4, CACHE_LRU, hashed);  // 512 sets
        for (u64 k = 0; k < 64; k++) bring(cache, k * 512, 1, 0);
        u32 left = 0;
        for (u64 k = 0; k < 64; k++) left += cache_look(cache, k * 512 * 128, 1).hit;
        if (hashed)
            assert_true(left > 60);
        else
            assert_int_equal(left, 4);
        cache_destroy(cache);
    }
}

// A fully associative cache the slow way: lines in the order of replacement.
typedef struct Plain {
    u64 number;
    u32 distance;  // CACHE_RRIP
    u32 valid, pending, dirty;
    u64 owner;
} Plain;
enum { MOST = 80 };
typedef struct Model {
    Plain lines[MOST];
    u32 count, ways, dirty_most;
    bool lru, rrip;
} Model;

static Plain *model_find(Model *m, u64 number) {
    for (u32 i = 0; i < m->count; i++)
        if (m->lines[i].number == number) return &m->lines[i];
    return NULL;
}
static Plain *model_front(Model *m, Plain line, const Plain *from) {
    memmove(m->lines + 1, m->lines, (size_t)((u8 *)from - (u8 *)m->lines));
    m->lines[0] = line;
    return m->lines;
}
static Plain *model_use(Model *m, Plain *p) {
    if (!p || !m->lru) return p;
    p = model_front(m, *p, p);
    p->distance = 0;
    return p;
}
static Plain *model_take(Model *m, u64 number, u64 owner, CacheVictim *victim) {
    *victim = (CacheVictim){0};
    Plain fresh = {.number = number, .distance = 2, .owner = owner};
    if (m->count < m->ways) return model_front(m, fresh, &m->lines[m->count++]);
    u32 farthest = 0;
    for (u32 i = 0; i < m->count; i++)
        if (!m->lines[i].pending && m->lines[i].distance > farthest) farthest = m->lines[i].distance;
    for (u32 i = 0; m->rrip && i < m->count; i++)
        m->lines[i].distance = m->lines[i].distance + 3 - farthest < 3 ? m->lines[i].distance + 3 - farthest : 3;
    for (u32 i = m->count; i-- > 0;) {
        Plain *p = &m->lines[i];
        if (p->pending || (m->rrip && p->distance < 3)) continue;
        *victim = (CacheVictim){
            .evicted = 1, .line = p->number * 128, .dirty = p->dirty, .part = p->dirty & ~p->valid, .owner = p->owner};
        return model_front(m, fresh, p);
    }
    return NULL;
}

// The line becomes dirty: of too many the oldest other one is cleaned.
static void model_dirty(Model *m, const Plain *line, CacheVictim *victim) {
    u32 dirty = 1;
    for (u32 i = 0; i < m->count; i++) dirty += m->lines[i].dirty != 0;
    if (line->dirty || victim->dirty || !m->dirty_most || dirty <= m->dirty_most) return;
    for (u32 i = m->count; i-- > 0;) {
        Plain *p = &m->lines[i];
        if (!p->dirty || p->pending) continue;
        *victim = (CacheVictim){
            .evicted = victim->evicted, .line = p->number * 128, .dirty = p->dirty, .part = p->dirty & ~p->valid};
        victim->owner = p->owner;
        p->valid |= p->dirty;
        p->dirty = 0;
        return;
    }
}

static void agree(const CacheVictim *a, const CacheVictim *b) {
    assert_int_equal(a->evicted, b->evicted);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->dirty, b->dirty);
    assert_int_equal(a->part, b->part);
    assert_int_equal(a->owner, b->owner);
}

static void step(Model *m, Cache *cache, u64 random, u64 number) {
    u32 sectors = random >> 32 & 15;
    CacheVictim got, expected = {0};
    Plain *p = model_find(m, number);
    switch (random >> 40 & 7) {
    case 0:
    case 1:
    case 2: {
        CacheLook look = cache_look(cache, number * 128, sectors);
        assert_int_equal(look.present, p != NULL);
        p = model_use(m, p);
        assert_int_equal(look.hit, p ? sectors & p->valid : 0);
        assert_int_equal(look.pending, p ? sectors & p->pending & ~p->valid : 0);
        assert_int_equal(look.hit | look.pending | look.miss, sectors);
        break;
    }
    case 3:
    case 4:
        if (!p) p = model_take(m, number, random, &expected);
        assert_int_equal(cache_reserve(cache, number * 128, sectors, random, &got), p != NULL);
        if (p) agree(&got, &expected), p->pending |= sectors & ~p->valid;
        break;
    case 5:
        cache_fill(cache, number * 128, sectors);
        if (p) p->valid |= sectors & p->pending, p->pending &= ~sectors;
        break;
    case 6:
        p = model_use(m, p);
        if (!p) p = model_take(m, number, random, &expected);
        assert_int_equal(cache_write(cache, number * 128, sectors, 0, true, random, &got), p != NULL);
        if (!p) break;
        if (sectors) model_dirty(m, p, &expected);
        agree(&got, &expected);
        p->valid |= sectors, p->dirty |= sectors;
        break;
    default:
        cache_drop(cache, number * 128, sectors);
        if (!p) break;
        p->valid &= ~sectors;
        p->dirty &= ~sectors;
        if (!(p->valid | p->pending)) {
            memmove(p, p + 1, (size_t)((u8 *)&m->lines[m->count] - (u8 *)(p + 1)));
            m->count--;
        }
    }
}

// Scanned sets (ways up to 64) and the index (more) against the plain model; numbers that share their low 32 bits, too.
TEST(agrees_with_a_plain_model_under_random_use) {
    static const u32 ways[] = {1, 3, 4, 16, 61, 64, 65, 80};
    for (u32 i = 0; i < WL_COUNT(ways) * 6; i++) {
        u32 replacement = i % 3;
        Model m = {.ways = ways[i / 6], .lru = replacement != CACHE_FIFO, .rrip = replacement == CACHE_RRIP};
        if (m.rrip && m.ways > 64) continue;
        if (i & 1 && m.ways <= 64) m.dirty_most = m.ways / 2;
        CacheConfig config = {.size = m.ways * 128,
                              .line = 128,
                              .sector = 32,
                              .ways = m.ways,
                              .replacement = (u8)replacement,
                              .owned = true};
        config.dirty_most = m.dirty_most;
        Status status = STATUS_OK;
        if (i & 1) config.status = &status;  // it grows
        Cache *cache;
        assert_int_equal(cache_create(&config, &cache), STATUS_OK);
        u64 random = i;
        for (u32 k = 0; k < 20000; k++) {
            random = hash_u64(random);
            u64 number = random % (m.ways * 2) + (random >> 20 & 1) * (1ull << 33);
            step(&m, cache, random, number == 5 ? UINT32_MAX : number);
        }
        assert_int_equal(status, STATUS_OK);
        cache_destroy(cache);
    }
}

TEST(without_memory_to_grow_it_says_so_and_goes_on) {
    Status status = STATUS_OK;
    CacheConfig config = {.size = 1000 * 128, .line = 128, .sector = 32, .status = &status};
    Cache *cache;
    assert_int_equal(cache_create(&config, &cache), STATUS_OK);
    u64 left = 1;
    testing_memory_out_after(&left);
    for (u64 i = 0; i < 100; i++) bring(cache, i, 15, 0);
    testing_memory_back();
    assert_int_equal(status, STATUS_NO_MEMORY);
    assert_true(hits(cache, 99) && !hits(cache, 0));
    cache_destroy(cache);
}

TEST(marks_go_with_the_line) {
    Cache *cache = make(1024, 4, CACHE_LRU, false);
    CacheVictim victim;
    assert_int_equal(cache_mark(cache, 0, 3, 0), 0);  // no place, no marks
    assert_true(cache_write(cache, 0, 3, 0, true, 0, &victim));
    assert_int_equal(cache_mark(cache, 0, 3, 0), 0);
    assert_int_equal(cache_mark(cache, 0, 4, 1), 3);
    assert_int_equal(cache_mark(cache, 0, 0, 0), 6);
    for (u32 i = 1; i <= 8; i++) assert_true(cache_write(cache, i * 128, 1, 0, true, 0, &victim));
    assert_true(cache_write(cache, 0, 1, 0, true, 0, &victim));
    assert_int_equal(cache_mark(cache, 0, 0, 0), 0);
    cache_destroy(cache);
}

TEST(a_sector_written_in_part_is_not_there) {
    CacheConfig config = {.size = 1024, .line = 128, .sector = 32, .ways = 4, .in_part = true};
    Cache *cache;
    CacheVictim victim;
    assert_int_equal(cache_create(&config, &cache), STATUS_OK);
    assert_true(cache_write(cache, 0, 7, 0x014, true, 0, &victim));  // a quarter and a sixteenth
    assert_int_equal(cache_look(cache, 0, 7).hit, 4);
    assert_true(cache_write(cache, 0, 3, 0xfb, true, 0, &victim));
    assert_int_equal(cache_look(cache, 0, 7).hit, 6);
    assert_true(cache_write(cache, 0, 1, 1, true, 0, &victim));
    assert_int_equal(cache_look(cache, 0, 7).hit, 7);
    assert_true(cache_write(cache, 0, 1, 1, true, 0, &victim));  // stays
    assert_int_equal(cache_look(cache, 0, 7).hit, 7);
    cache_drop(cache, 0, 7);
    assert_true(cache_write(cache, 0, 2, 0x80, true, 0, &victim));  // begins anew
    assert_int_equal(cache_look(cache, 0, 7).hit, 0);
    assert_true(cache_write(cache, 0, 2, 0, true, 0, &victim));  // all of it
    assert_int_equal(cache_look(cache, 0, 7).hit, 2);
    cache_destroy(cache);
}

static Cache *make_l2(void) {
    CacheConfig config = {.size = 16 * 128, .line = 128, .sector = 32, .ways = 16, .dirty_most = 8, .in_part = true};
    Cache *cache;
    assert_int_equal(cache_create(&config, &cache), STATUS_OK);
    return cache;
}

TEST(of_too_many_dirty_lines_the_oldest_is_cleaned) {
    Cache *cache = make_l2();
    CacheVictim victim;
    for (u32 i = 0; i < 8; i++) {
        assert_true(cache_write(cache, i * 128, 15, 0, true, i, &victim));
        assert_int_equal(victim.dirty, 0);
    }
    (void)bring(cache, 100, 15, 0);
    assert_true(cache_write(cache, 100 * 128, 1, 0, true, 0, &victim));
    assert_int_equal(victim.evicted, 0);
    assert_int_equal(victim.line, 0);
    assert_int_equal(victim.dirty, 15);
    assert_int_equal(hits(cache, 0), 15);
    assert_true(cache_write(cache, 128, 15, 0, true, 0, &victim));  // is dirty already
    assert_int_equal(victim.dirty, 0);
    cache_destroy(cache);
}

TEST(lines_written_in_part_are_counted_and_completed) {
    Cache *cache = make_l2();
    CacheVictim victim;
    for (u32 i = 0; i < 4; i++) assert_true(cache_write(cache, i * 128, 3, 1, true, 0, &victim));
    assert_int_equal(cache_parts(cache), 4);
    (void)bring(cache, 1, 1, 0);  // read
    cache_drop(cache, 2 * 128, 3);
    assert_int_equal(cache_parts(cache), 2);
    assert_int_equal(cache_look(cache, 0, 15).hit, 2);
    assert_true(cache_complete(cache, 0, &victim));
    assert_int_equal(victim.dirty, 1);
    assert_int_equal(victim.part, 1);
    assert_false(cache_complete(cache, 0, &victim));
    assert_int_equal(cache_look(cache, 0, 15).hit, 3);
    assert_int_equal(cache_parts(cache), 1);
    for (u32 i = 4; i < 40; i++) (void)bring(cache, i, 15, 0);
    assert_int_equal(cache_parts(cache), 0);
    cache_destroy(cache);
}

// cache_store() is a look-up and a write of what is not under way; cache_has() changes nothing.
static void stores_agree(const CacheConfig *config) {
    Cache *one, *other;
    assert_int_equal(cache_create(config, &one), STATUS_OK);
    assert_int_equal(cache_create(config, &other), STATUS_OK);
    for (u64 i = 0, random = 1; i < 4000; i++) {
        random = hash_u64(random + i);
        u64 line = random % 97 * 128;
        u32 sectors = 1 + (random >> 10) % 15;
        CacheVictim left = {0}, right = {0};
        if (random >> 20 & 1) {
            CacheLook look = cache_look(one, line, sectors);
            CacheLook at_once = cache_store(other, line, sectors, 0, 0, i, &right);
            (void)cache_write(one, line, sectors & ~look.pending, 0, true, i, &left);
            assert_int_equal(look.hit | look.pending << 4 | look.miss << 8,
                             at_once.hit | at_once.pending << 4 | at_once.miss << 8);
            assert_int_equal(look.present, at_once.present);
        } else {
            assert_int_equal(cache_reserve(one, line, sectors, i, &left),
                             cache_reserve(other, line, sectors, i, &right));
            if (random >> 21 & 1) cache_fill(one, line, sectors), cache_fill(other, line, sectors);
        }
        agree(&left, &right);
        u64 asked = (random >> 30) % 97 * 128;
        assert_int_equal(cache_has(one, asked), cache_has(other, asked));
        assert_int_equal(cache_has(one, line), config->size != 0 && cache_look(one, line, 15).present);
        (void)cache_look(other, line, 15);
    }
    cache_destroy(one);
    cache_destroy(other);
}

TEST(a_store_is_a_look_up_and_a_write) {
    CacheConfig config = {
        .size = 64 * 128, .line = 128, .sector = 32, .ways = 4, .replacement = CACHE_LRU, .owned = true};
    stores_agree(&config);
    config.replacement = CACHE_FIFO;
    stores_agree(&config);
    config.ways = 0;
    stores_agree(&config);
    config.size = 0;
    stores_agree(&config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_is_a_look_up_and_a_write),
        cmocka_unit_test(sectors_are_missing_then_pending_then_there),
        cmocka_unit_test(sets_repeat_with_their_number),
        cmocka_unit_test(least_recently_used_or_first_come_goes),
        cmocka_unit_test(lines_with_pending_sectors_stay),
        cmocka_unit_test(written_sectors_are_dirty_until_evicted),
        cmocka_unit_test(dropped_lines_leave_room),
        cmocka_unit_test(without_a_cache_everything_misses),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(contiguous_lines_fill_the_cache_exactly),
        cmocka_unit_test(hashed_sets_spread_strided_lines),
        cmocka_unit_test(agrees_with_a_plain_model_under_random_use),
        cmocka_unit_test(without_memory_to_grow_it_says_so_and_goes_on),
        cmocka_unit_test(marks_go_with_the_line),
        cmocka_unit_test(a_sector_written_in_part_is_not_there),
        cmocka_unit_test(of_too_many_dirty_lines_the_oldest_is_cleaned),
        cmocka_unit_test(lines_written_in_part_are_counted_and_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
