// SPDX-License-Identifier: Apache-2.0
// Which of the bytes that kernels write reach DRAM before they end: the L2 of gpus/h200.gpu against an H200, rows of
// bench/hwref/h200-writes.tsv (2026-11-22, driver 580, CUDA 13.0). An eighth of the L2 and of the footprints.
#include "sim/time/memsys_testing.h"

enum { PART = 8, LINES_OF_MIB = (1 << 20) / 128 / PART, LATER = 4096, WORD_OF_EACH = 0x2222 };
static const u64 other = 1ull << 32, third = 1ull << 33;

typedef struct Played {
    Driver driver;
    u64 asked;
} Played;

// Four lines a cycle, of SMs in turn: what DRAM delivers.
static void ask(Played *p, MemKind kind, u64 line, u32 sectors, bool whole) {
    u32 tag = driver_ask(&p->driver, p->driver.now + p->asked / 4, (u32)(hash_u64(line / 4) % 132), kind, line * 128,
                         sectors);
    if (!whole) p->driver.requests.data[tag].whole = 0, p->driver.requests.data[tag].parts = WORD_OF_EACH;
    p->asked++;
}
static void play(Played *p) {
    driver_play(&p->driver, 0);
    p->asked = 0;
}

static void copy(Played *p, u32 mib, u32 others) {
    (void)others;
    for (u64 i = 0; i < (u64)mib * LINES_OF_MIB; i++)
        ask(p, MEM_READ, other / 128 + i, 15, true), ask(p, MEM_WRITE, i, 15, true);
}
static void add(Played *p, u32 mib, u32 others) {
    (void)others;
    for (u64 i = 0; i < (u64)mib * LINES_OF_MIB; i++) {
        ask(p, MEM_READ, other / 128 + i, 15, true), ask(p, MEM_READ, third / 128 + i, 15, true);
        ask(p, MEM_WRITE, i, 15, true);
    }
}
static void change(Played *p, u32 mib, u32 others) {
    (void)others;
    for (u64 i = 0; i < (u64)mib * LINES_OF_MIB + LATER; i++) {
        if (i < (u64)mib * LINES_OF_MIB) ask(p, MEM_READ, i, 15, true);
        if (i >= LATER) ask(p, MEM_WRITE, i - LATER, 15, true);
    }
}
static void write_then_read(Played *p, u32 mib, u32 others) {
    for (u64 i = 0; i < (u64)mib * LINES_OF_MIB; i++) ask(p, MEM_WRITE, i, 15, true);
    play(p);
    for (u64 i = 0; i < (u64)others * LINES_OF_MIB; i++) ask(p, MEM_READ, other / 128 + i, 15, true);
}
static void write_twice(Played *p, u32 mib, u32 others) {
    (void)others;
    for (u32 k = 0; k < 2; k++, play(p))
        for (u64 i = 0; i < (u64)mib * LINES_OF_MIB; i++) ask(p, MEM_WRITE, i, 15, true);
}
// Written four times, others read beside.
static void write_beside_read(Played *p, u32 mib, u32 others) {
    u64 count = (u64)mib * LINES_OF_MIB, per = (u64)others * LINES_OF_MIB / 4;
    for (u32 k = 0; k < 4; k++, play(p))
        for (u64 i = 0; i < count || i < per; i++) {
            if (i < count) ask(p, MEM_WRITE, i, 15, true);
            if (i < per) ask(p, MEM_READ, other / 128 + k * per + i, 15, true);
        }
}
// Each line by the same SM, twice.
static void read_only(Played *p, u32 mib, u32 others) {
    (void)mib;
    for (u32 k = 0; k < 2; k++, play(p))
        for (u64 i = 0; i < (u64)others * LINES_OF_MIB; i++) ask(p, MEM_READ, other / 128 + i, 15, true);
}
static void word(Played *p, u32 mib, u32 others) {
    (void)others;
    for (u64 i = 0; i < (u64)mib * LINES_OF_MIB; i++) ask(p, MEM_WRITE, i, 15, false);
}
static void word_of_line(Played *p, u32 mib, u32 others) {
    (void)others;
    for (u64 i = 0; i < (u64)mib * LINES_OF_MIB; i++) ask(p, MEM_WRITE, i, 1, false);
}
// Threads write a record of 35 words each, word by word: one warp of those that are resident after the other, which one
// is chance.
static void records(Played *p, u32 mib, u32 others) {
    (void)others;
    enum { WARPS = 264 * 16 / PART, WORDS = 35, WARP_BYTES = 32 * WORDS * 4 };
    u32 count = mib * LINES_OF_MIB * 128 / WARP_BYTES, begun = 0, warp[WARPS], done[WARPS], left = 0;
    for (; left < WARPS && begun < count; left++) warp[left] = begun++, done[left] = 0;
    for (u64 turn = 0; left; turn++) {
        u32 w = (u32)(hash_u64(turn) % left);
        for (u32 lane = 0; lane < 32; lane++) {
            u64 address = (u64)warp[w] * WARP_BYTES + (lane * WORDS + done[w]) * 4;
            ask(p, MEM_WRITE, address / 128, 1u << address / 32 % 4, false);
        }
        if (++done[w] < WORDS) continue;
        if (begun == count) left--;
        warp[w] = begun < count ? begun : warp[left], done[w] = begun < count ? 0 : done[left];
        begun += begun < count;
    }
}
enum { NOT = -1 };  // not compared
typedef struct Row {
    const char *name;
    void (*kernel)(Played *p, u32 mib, u32 others);
    u32 mib, others;
    f64 written, read;  // MB, of the H200
} Row;

// Within a fifth, and an onset that is softer there.
static void check(const Row *row, f64 simulated, f64 real, const char *what) {
    if (real < 0) return;
    print_message("%s %u %u: %s %.2f MB, an H200 %.2f\n", row->name, row->mib, row->others, what, simulated, real);
    f64 off = simulated > real ? simulated - real : real - simulated;
    if (off > 0.2 * real + 0.8) fail_msg("%s: %.2f instead of %.2f MB %s", row->name, simulated, real, what);
}

TEST(writes_reach_dram_as_in_an_h200) {
    static const Row rows[] = {
        {"copy", copy, 16, 0, 0, 16.78},
        {"copy", copy, 24, 0, 3.86, 25.17},
        {"copy", copy, 28, 0, 6.54, 29.37},
        {"copy", copy, 40, 0, 18.76, 41.95},
        {"add", add, 12, 0, 0.06, 25.17},
        {"add", add, 16, 0, 1.63, 33.57},
        {"add", add, 20, 0, 5.56, 41.95},
        {"add", add, 40, 0, 24.79, 83.90},
        {"change", change, 64, 0, 38.76, 67.11},
        {"write", write_then_read, 24, 0, 0.01, 0},
        {"write", write_then_read, 36, 0, 8.04, 0.01},
        {"write", write_then_read, 64, 0, 37.57, 0.01},
        {"write_then_read", write_then_read, 16, 16, 0.02, 16.78},
        {"write_then_read", write_then_read, 16, 24, 1.63, 25.17},
        {"write_then_read", write_then_read, 8, 40, 4.60, 41.95},
        {"write_twice", write_twice, 24, 0, 0.15, 0.01},
        {"write_twice", write_twice, 28, 0, 6.57, 0.01},
        {"write_twice", write_twice, 32, 0, 22.08, 0.01},
        {"write_twice", write_twice, 48, 0, 69.72, 0.01},
        {"write_beside_read", write_beside_read, 20, 32, 0.52, 33.56},
        {"write_beside_read", write_beside_read, 20, 96, 45.33, 100.68},
        {"read_only", read_only, 1, 28, 0, 29.37},
        {"read_only", read_only, 1, 36, 0.02, 39.65},
        {"read_only", read_only, 1, 40, 0.02, 49.95},
        {"read_only", read_only, 1, 44, 0.16, 66.53},
        {"read_only", read_only, 1, 48, 0.02, 92.60},
        {"word", word, 6, 0, 0, 0},
        {"word", word, 12, 0, 2.94, 3.30},
        {"word", word, 24, 0, NOT, 19.53},
        {"records_35", records, 24, 0, 13.47, 13.13},
        {"word_of_line", word_of_line, 24, 0, NOT, 4.34},
        {"word_of_line", word_of_line, 48, 0, NOT, 11.11},
    };
    GpuModel gpu;
    assert_int_equal(gpu_load("gpus", "h200", &gpu, NULL), STATUS_OK);
    gpu.l2_usable /= PART, gpu.l2_in_part /= PART;
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        Played p = {.driver = driver_make(&gpu)};
        rows[i].kernel(&p, rows[i].mib, rows[i].others);
        play(&p);
        f64 unit = PART / 1e6;
        u64 written = driver_count(&p.driver, MEMC_DRAM_WRITE_BYTES, MEM_SCOPE_CHANNEL);
        u64 read = driver_count(&p.driver, MEMC_DRAM_READ_BYTES, MEM_SCOPE_CHANNEL);
        check(&rows[i], unit * (f64)written, rows[i].written, "written");
        check(&rows[i], unit * (f64)read, rows[i].read, "read");
        driver_end(&p.driver);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_reach_dram_as_in_an_h200),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
