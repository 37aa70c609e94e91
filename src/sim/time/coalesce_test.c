// SPDX-License-Identifier: Apache-2.0
// Loads that the L2 serves as one, and which SMs are together in a GPC.
#include "sim/time/gpc.h"
#include "sim/time/memsys_testing.h"

enum { LATENCY = 20, SECOND = 18 };  // SECOND: the first SM of the second GPC

static GpuModel two_gpcs(void) {
    GpuModel g = testing_model();
    g.sms = 36, g.gpcs_18 = 2;
    g.l2_coalesce = 4, g.l2_coalesce_latency = LATENCY;
    return g;
}

static u64 sectors_read(const Driver *d) { return driver_count(d, MEMC_L2_READ_SECTORS, MEM_SCOPE_SLICE); }

// Sectors that the L2 is asked for when SMs load `sectors` of a line, `apart` cycles after each other, whether it is in
// the L2 or not.
static u64 asked(u32 sms, const u32 *sm, const u32 *sectors, u64 apart, bool there) {
    GpuModel gpu = two_gpcs();
    Driver d = driver_make(&gpu);
    if (there) driver_alone(&d, 9, MEM_READ, 0, 15), d.now += 1000;
    u64 before = sectors_read(&d), begin = d.now;
    for (u32 i = 0; i < sms; i++) driver_ask(&d, begin + i * apart, sm[i], MEM_READ, 0, sectors[i]);
    driver_play(&d, 0);
    u64 result = sectors_read(&d) - before;
    driver_end(&d);
    return result;
}

TEST(loads_of_a_gpc_are_served_once) {
    static const u32 line[] = {15, 15, 15, 15, 15, 15, 15, 15, 15};
    assert_int_equal(asked(4, (u32[]){0, 1, 7, 17}, line, 0, false), 4);
    assert_int_equal(asked(2, (u32[]){0, SECOND}, line, 0, false), 8);
    assert_int_equal(asked(2, (u32[]){0, 1}, (u32[]){15, 1}, 0, false), 5);              // not the same sectors
    assert_int_equal(asked(9, (u32[]){0, 1, 2, 3, 4, 5, 6, 7, 8}, line, 0, false), 12);  // four at a time
}

// bench/hwref/h200-meetings.tsv, pair: two SMs ask for pieces of a line, the second one 20 cycles later.
TEST(pieces_of_a_line_meet_in_their_order) {
    static const struct {
        const char *name;
        u32 first[4], second[4];  // sectors; 0: no more
        u32 asked;                // of an H200's sectors, where the two are less than 400 cycles apart
    } rows[] = {{"0,1|0,1", {1, 2}, {1, 2}, 2},
                {"0,1|0", {1, 2}, {1}, 2},
                {"0,1|1", {1, 2}, {2}, 3},
                {"0,1|1,0", {1, 2}, {2, 1}, 4},
                {"0,2|0,2", {1, 4}, {1, 4}, 2},
                {"0,1,2,3|0,1,2,3", {1, 2, 4, 8}, {1, 2, 4, 8}, 4},
                {"0,1,2,3|3,2,1,0", {1, 2, 4, 8}, {8, 4, 2, 1}, 8},
                {"0,1-3|0,1-3", {1, 14}, {1, 14}, 4},
                {"0,1-3|0-3", {1, 14}, {15}, 8},
                {"0-3|0", {15}, {1}, 5},
                {"0|0-3", {1}, {15}, 5}};
    for (u32 r = 0; r < WL_COUNT(rows); r++)
        for (u32 turn = 0; turn < 2; turn++) {  // piece after piece, then SM after SM
            GpuModel gpu = two_gpcs();
            Driver d = driver_make(&gpu);
            u64 apart = turn ? 60 : 0;
            for (u32 i = 0; i < 4; i++) {
                if (rows[r].first[i]) driver_ask(&d, i * 4, 0, MEM_READ, 0, rows[r].first[i]);
                if (rows[r].second[i]) driver_ask(&d, i * 4 + apart + 1, 1, MEM_READ, 0, rows[r].second[i]);
            }
            driver_play(&d, 0);
            if (sectors_read(&d) != rows[r].asked)
                fail_msg("%s, %u apart: %u sectors instead of %u", rows[r].name, (u32)apart, (u32)sectors_read(&d),
                         rows[r].asked);
            driver_end(&d);
        }
}

// The same, timed: SMs one after the other (letters) ask for pieces. Two of an H200's 18 are not as here: of "A0 A1 B0
// C0 D0" and of eight SMs with "0 1" each fewer meet.
TEST(another_piece_ends_a_meeting) {
    static const struct {
        const char *plan;  // SM, then its sectors as digits
        u32 asked;         // sectors
    } rows[] = {{"A0 B0 C0", 1},
                {"A0 B1 C0", 3},
                {"A0 B1 C1 D0", 4},
                {"A0 B1 C2 D2", 3},
                {"A0 A1 B1 C0 C1", 5},
                {"A0 A1 B0 B1 C1 C0 D0 D1", 6},
                {"A0 B0 A1 C1", 3},
                {"A01 B0 C01 D01", 5},
                {"A01 C01 B0 D01", 5},
                {"A0123 C0123 B0 D0123", 9},
                {"A0 B0 C0 D0 E0 F0 G0 H0 A1 B1 C1 D1 E1 F1 G1 H1", 4},
                {"A0 B0 C1 D1 E2 F2 G3 H3", 7},
                {"A0 B1 C0 D1 E0 F1 G0 H1", 8}};
    for (u32 r = 0; r < WL_COUNT(rows); r++) {
        GpuModel gpu = two_gpcs();
        Driver d = driver_make(&gpu);
        u64 cycle = 0;
        for (const char *at = rows[r].plan; *at;) {
            u32 sm = (u32)(*at++ - 'A'), sectors = 0;
            for (; *at >= '0'; at++) sectors |= 1u << (*at - '0');
            driver_ask(&d, cycle, sm, MEM_READ, 0, sectors);
            cycle += 6;
            at += *at == ' ';
        }
        driver_play(&d, 0);
        if (sectors_read(&d) != rows[r].asked)
            fail_msg("%s: %u sectors instead of %u", rows[r].plan, (u32)sectors_read(&d), rows[r].asked);
        driver_end(&d);
    }
}

TEST(they_may_come_while_the_first_is_on_its_way) {
    static const u32 line[] = {15, 15}, sm[] = {0, 1};
    assert_int_equal(asked(2, sm, line, 60, false), 4);  // until DRAM has answered
    assert_int_equal(asked(2, sm, line, LATENCY - 4, true), 4);
    assert_int_equal(asked(2, sm, line, LATENCY + 10, true), 8);
}

TEST(what_is_not_loaded_is_served_by_itself) {
    GpuModel gpu = two_gpcs();
    Driver d = driver_make(&gpu);
    for (u32 sm = 0; sm < 3; sm++) driver_ask(&d, 0, sm, MEM_WRITE, 0, 15), driver_ask(&d, 0, sm, MEM_REDUCE, 512, 1);
    driver_play(&d, 0);
    assert_int_equal(driver_count(&d, MEMC_L2_WRITE_SECTORS, MEM_SCOPE_SLICE), 12);
    assert_int_equal(driver_count(&d, MEMC_L2_ATOMIC_SECTORS, MEM_SCOPE_SLICE), 3);
    driver_end(&d);
}

static u64 play_mixture(u64 quantum) {
    GpuModel gpu = two_gpcs();
    Driver d = driver_make(&gpu);
    for (u32 i = 0; i < 4000; i++) {
        u64 r = hash_u64(i);
        MemKind kind = (r & 7) == 0 ? MEM_WRITE : (r & 7) == 1 ? MEM_TEXTURE : MEM_READ;
        driver_ask(&d, r >> 3 & 2047, r >> 14 & 31, kind, (r >> 20 & 63) * 128, 1 + (r >> 30 & 1));
    }
    driver_play(&d, quantum);
    u64 result = sectors_read(&d);
    for (u32 i = 0; i < 4000; i++) result = hash_u64(result ^ d.latency[i]);
    driver_end(&d);
    return result;
}

TEST(results_do_not_depend_on_the_quanta) { assert_int_equal(play_mixture(0), play_mixture(7)); }

// --- GPCs ----------------------------------------------------------------------------------------------------------
static GpuModel h200(void) { return (GpuModel){.sms = 132, .gpcs_18 = 2, .gpcs_16 = 5, .gpcs_8 = 1}; }

TEST(gpcs_have_their_sms) {
    GpuModel gpu = h200();
    u32 sms[8] = {0};
    assert_int_equal(gpc_count(&gpu), 8);
    for (u32 sm = 0; sm < 132; sm++) sms[gpc_of(&gpu, sm)]++;
    for (u32 i = 0; i < 8; i++) assert_int_equal(sms[i], i < 6 ? 16 : 18);
    gpu.gpcs_18 = gpu.gpcs_16 = 0;
    assert_int_equal(gpc_count(&gpu), 0);
    assert_int_equal(gpc_place(&gpu, 0, 5), WL_NONE);
}

// bench/hwref/h200-places.tsv: grids of 16 and 64 blocks; with 132 every SM has one.
TEST(small_grids_are_spread_over_the_gpcs) {
    static const struct {
        u32 ctas, each[8];
    } rows[] = {{5, {5}},
                {16, {9, 1, 1, 1, 1, 1, 1, 1}},
                {64, {12, 8, 8, 8, 7, 7, 7, 7}},
                {131, {16, 16, 16, 16, 16, 16, 18, 17}}};
    GpuModel gpu = h200();
    for (u32 r = 0; r < WL_COUNT(rows); r++) {
        u32 each[8] = {0}, last = 0;
        for (u32 cta = 0; cta < rows[r].ctas; cta++) {
            u32 sm = gpc_place(&gpu, cta, rows[r].ctas);
            assert_true(sm < 132 && (cta == 0 || sm > last));
            each[gpc_of(&gpu, last = sm)]++;
        }
        for (u32 i = 0; i < 8; i++) assert_int_equal(each[i], rows[r].each[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_of_a_gpc_are_served_once),
        cmocka_unit_test(pieces_of_a_line_meet_in_their_order),
        cmocka_unit_test(another_piece_ends_a_meeting),
        cmocka_unit_test(they_may_come_while_the_first_is_on_its_way),
        cmocka_unit_test(what_is_not_loaded_is_served_by_itself),
        cmocka_unit_test(results_do_not_depend_on_the_quanta),
        cmocka_unit_test(gpcs_have_their_sms),
        cmocka_unit_test(small_grids_are_spread_over_the_gpcs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
