// SPDX-License-Identifier: Apache-2.0
// What an access of a warp becomes in its trace: lines, and the turns that the banks of their words take.
#include "sim/time/trace.h"

#include "base/testing.h"
#include "sim/exec.h"

static const u32 block_end[] = {1};

// The access of 32 lanes at these addresses.
static TraceAccess access_of(const u64 *address, u32 bytes) {
    Trace t = {.half = LANES, .block_end = block_end};
    trace_reset(&t);
    trace_open(&t, 0, FULL_MASK);
    trace_global(&t, address, LANES, bytes);
    trace_close(&t);
    assert_false(t.failed);
    TraceAccess a = trace_access(t.words[TRACE_HEAD]);
    trace_free(&t);
    return a;
}

TEST(gathers_take_turns_at_the_banks) {
    u64 own[LANES], same[LANES], wide[LANES], row[LANES];
    for (u32 l = 0; l < LANES; l++) {
        own[l] = l * 128 + l * 4;        // a line and a bank for each lane
        same[l] = l * 128;               // ... all at one bank
        wide[l] = l * 128 + l % 16 * 8;  // 8 bytes: half warps, a bank each
        row[l] = l * 4;
    }
    assert_int_equal(access_of(own, 4).lines, 32);
    assert_int_equal(access_of(own, 4).wavefronts, 1);
    assert_int_equal(access_of(same, 4).lines, 32);
    assert_int_equal(access_of(same, 4).wavefronts, 32);
    assert_int_equal(access_of(wide, 8).wavefronts, 2);
    assert_int_equal(access_of(row, 4).lines, 1);
    assert_int_equal(access_of(row, 4).wavefronts, 0);  // as many as its bytes need
}

// What the L2 is told of an atomic's lines: the most lanes that meet on a word, neighbours or not.
TEST(lanes_of_an_atomic_meet_wherever_they_are) {
    u64 address[LANES];
    for (u32 l = 0; l < LANES; l++) address[l] = l % 8 == 7 ? 128 + l * 4 : l % 7 * 4;  // 7 words, and some apart
    Trace t = {.half = LANES, .block_end = block_end, .atomic = true};
    trace_reset(&t);
    trace_open(&t, 0, FULL_MASK);
    trace_global(&t, address, LANES, 4);
    trace_close(&t);
    u32 most = 0, lanes[7] = {0};
    for (u32 l = 0; l < LANES; l++)
        if (l % 8 != 7 && ++lanes[l % 7] > most) most = lanes[l % 7];
    const u64 *lines = t.words + TRACE_HEAD + 1;
    assert_int_equal(trace_access(t.words[TRACE_HEAD]).lines, 2);
    for (u32 i = 0; i < 2; i++) {  // 28 lanes on seven words of a sector, four on one of each of the next line's
        bool first = trace_line_address(lines[i]) == 0;
        assert_int_equal(trace_line_degree(lines[i]), first ? most : 1);
        assert_int_equal(trace_line_waiting(lines[i]), first ? most - 1 : 0);
        assert_int_equal(trace_line_sectors(lines[i]), first ? 1 : 15);
        assert_int_equal(trace_line_waiting(trace_line_alone(lines[i])), 0);
    }
    // Ten words: 26 lanes on those of a sector, six on two of the next; each has lanes that wait for three and two.
    for (u32 l = 0; l < LANES; l++) address[l] = l % 10 * 4;
    trace_reset(&t);
    trace_open(&t, 0, FULL_MASK);
    trace_global(&t, address, LANES, 4);
    trace_close(&t);
    assert_int_equal(trace_line_waiting(t.words[TRACE_HEAD + 1]), 3 + 2);
    trace_free(&t);
}

// An instruction that is not executed after all leaves nothing: neither a run of its own nor an end of the one before.
TEST(what_is_taken_back_was_not_begun) {
    static const u32 ends[] = {2, 2, 3};
    Trace t = {.half = LANES, .block_end = ends};
    trace_reset(&t);
    trace_open(&t, 0, FULL_MASK);
    trace_take_back(&t);
    assert_false(trace_goes_on(&t, 0, FULL_MASK));
    trace_close(&t);
    assert_true(trace_empty(&t));
    trace_open(&t, 0, FULL_MASK);
    t.next = 1;  // the first instruction was executed, the second is taken back
    trace_take_back(&t);
    assert_true(trace_goes_on(&t, 1, FULL_MASK));
    trace_close(&t);
    assert_int_equal(trace_run(t.words).to, 1);
    assert_int_equal(t.complete, TRACE_HEAD);
    trace_free(&t);
}

// An experiment has accesses coalesced: who walks along rows, or takes fields of structures one after the other, comes
// to each sector once, four at a time.
TEST(coalesced_accesses_touch_each_sector_once) {
    static const u8 edits[] = {TRACE_COALESCED};
    static const u32 pitches[] = {32, 128, 4096, 4096 + 32};
    for (u32 p = 0; p < WL_COUNT(pitches); p++) {
        Trace t = {.half = LANES, .block_end = block_end, .edits = edits};
        u32 sectors = 0, lines = 0;
        trace_reset(&t);
        for (u32 turn = 0; turn < 8; turn++) {
            u64 address[LANES];
            for (u32 l = 0; l < LANES; l++) address[l] = l * pitches[p] + turn * 4;
            trace_open(&t, 0, FULL_MASK);
            trace_global(&t, address, LANES, 4);
            trace_close(&t);
        }
        u64 names[8 * LANES];
        for (u32 at = 0; at < t.complete;) {
            TraceAccess a = trace_access(t.words[at + TRACE_HEAD]);
            assert_in_range(a.lines, 1, 8);
            assert_int_equal(a.lanes, LANES);
            for (u32 i = 0; i < a.lines; i++) {
                u64 line = t.words[at + TRACE_HEAD + 1 + i];
                assert_int_equal(trace_line_whole(line), trace_line_sectors(line));
                for (u32 k = 0; k < lines && p < 3; k++) assert_true(names[k] != trace_line_address(line));
                names[lines++] = trace_line_address(line);
                sectors += (u32)__builtin_popcount(trace_line_sectors(line));
            }
            at += TRACE_HEAD + trace_run(t.words + at).words;
        }
        assert_in_range(sectors, LANES, LANES + p / 3 * 4);  // of other rows some turns have none, and take one
        trace_free(&t);
    }
}

TEST(conflict_free_accesses_take_the_fewest_wavefronts) {
    static const u8 edits[] = {TRACE_CONFLICT_FREE};
    Trace t = {.half = LANES, .block_end = block_end, .edits = edits};
    trace_reset(&t);
    trace_open(&t, 0, FULL_MASK);
    trace_shared(&t, 32, 2, LANES, 8, false);
    trace_close(&t);
    assert_int_equal(trace_access(t.words[TRACE_HEAD]).wavefronts, 2);
    trace_free(&t);
}

// Sectors of a texture in pitched memory are asked for one by one, those of a CUDA array by line
// (bench/hwref/h200-l2.csv, HSOpticalFlow: 28,800 hits of the L2 and 38,400 misses, by line 9,600 hits; array walks of
// bench/hwref/h200-texture.tsv).
TEST(textures_in_pitched_memory_are_apart) {
    static const u64 sectors[] = {4, 5, 7, 12};
    for (u32 apart = 0; apart < 2; apart++) {
        Trace t = {.half = LANES, .block_end = block_end};
        trace_reset(&t);
        trace_open(&t, 0, ~0u);
        trace_sectors(&t, sectors, 4, 8, 128, apart);
        trace_close(&t);
        const u64 *lines = t.words + TRACE_HEAD + 1;
        assert_int_equal(trace_access(t.words[TRACE_HEAD]).lines, 2);
        assert_int_equal(trace_line_sectors(lines[0]), 11);
        assert_int_equal(trace_line_sectors(lines[1]), 1);
        assert_int_equal(trace_line_whole(lines[0]) != 0, apart);
        assert_int_equal(trace_line_whole(lines[1]) != 0, apart);
        trace_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(coalesced_accesses_touch_each_sector_once),
                                       cmocka_unit_test(conflict_free_accesses_take_the_fewest_wavefronts),
                                       cmocka_unit_test(gathers_take_turns_at_the_banks),
                                       cmocka_unit_test(lanes_of_an_atomic_meet_wherever_they_are),
                                       cmocka_unit_test(what_is_taken_back_was_not_begun),
                                       cmocka_unit_test(textures_in_pitched_memory_are_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
