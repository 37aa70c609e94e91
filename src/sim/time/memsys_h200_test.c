// SPDX-License-Identifier: Apache-2.0
// The memory system of gpus/h200.gpu against an H200: rows of bench/hwref/h200-micro.tsv, h200-hierarchy.tsv,
// h200-dram-order.tsv, h200-dram-latency.tsv and h200-l2-bandwidth.tsv (2026-11-21 to 23, driver 580, CUDA 13.0), whose
// names stand beside the figures. Warps are played as the microbenchmarks have them: each asks for some lines and goes
// on when all have come.
#include "sim/time/memsys_testing.h"

typedef struct Warps {
    u32 sms, warps, lines;  // warps of an SM; lines that each asks for at a time
    u32 gap;                // cycles from the last reply to the next requests
    u32 rounds;
    u8 kind, second;       // MemKind; second: of every other round
    u8 sectors, waiting;   // sectors: of a line, from where the address lies
    u8 atomic;             // MemAtomic
    u64 span;              // bytes that are read, in order over all warps
    u64 step;              // bytes between two lines
    bool random, partial;  // partial: sectors are not written whole
    bool shift;            // in each round what the next warp had in the one before
} Warps;

typedef struct WarpState {
    u64 ready;
    u32 left, round;
} WarpState;

static GpuModel h200(void) {
    GpuModel gpu;
    assert_int_equal(gpu_load("gpus", "h200", &gpu, NULL), STATUS_OK);
    return gpu;
}

static u64 address_of(const Warps *w, u64 number, u32 round) {
    u64 place = w->random ? hash_u64(number) : number, away = round % 2 && w->second != w->kind ? 8ull << 30 : 0;
    return place * w->step % w->span + away;
}

static void ask(Driver *d, const Warps *w, WarpState *states, u32 index) {
    WarpState *s = &states[index];
    u32 sm = index % w->sms, all = w->sms * w->warps;
    for (u32 k = 0; k < w->lines; k++) {
        u64 number = ((u64)s->round * all + index) * w->lines + k;
        if (w->shift) number = (index % w->sms * w->warps + index / w->sms + (u64)s->round) * w->lines + k;
        u64 address = address_of(w, number, s->round);
        u32 tag = driver_ask(d, s->ready, sm, s->round % 2 ? w->second : w->kind, address,
                             (u32)w->sectors << address % 128 / 32);
        d->requests.data[tag].waiting = w->waiting;
        d->requests.data[tag].atomic = w->atomic;
        d->requests.data[tag].tag = index;
        if (w->partial) d->requests.data[tag].whole = 0;
    }
    s->left = w->lines;
    s->round++;
}

// Bytes per cycle of all warps together, from the first request to the last reply but for the ends.
static double play(const GpuModel *gpu, const Warps *w, u64 warm) {
    Driver d = driver_make(gpu);
    u32 all = w->sms * w->warps;
    u64 quantum = memsys_least_latency(d.memsys), base = 0, end = 0, from = 0, to = 0, counted = 0;
    WarpState *states = calloc(all, sizeof *states);
    if (warm) memsys_touch(d.memsys, 0, warm, true);
    for (bool more = true; more || !memsys_idle(d.memsys);) {
        u64 until = d.now + quantum;
        more = false;
        for (u32 i = 0; i < all; i++) {
            if (states[i].round == w->rounds) continue;
            more = true;
            if (states[i].left == 0 && states[i].ready < until) ask(&d, w, states, i);
        }
        qsort(d.requests.data, d.requests.len, sizeof *d.requests.data, driver_order);
        assert_int_equal(memsys_step(d.memsys, d.requests.data, d.requests.len, d.now, until, &d.replies), STATUS_OK);
        d.requests.len = 0;
        for (u32 i = 0; i < d.replies.len; i++) {
            WarpState *s = &states[d.replies.data[i].tag];
            u64 cycle = d.replies.data[i].cycle;
            if (--s->left == 0 || s->ready < cycle) s->ready = cycle + (s->left ? 0 : w->gap);
        }
        counted += d.replies.len;
        d.replies.len = 0;
        d.now = until;
        if (!from && counted > (u64)all * w->lines * w->rounds / 4) from = until, base = counted;
        if (from && more) to = until, end = counted;
    }
    free(states);
    double rate = (double)(end - base) * __builtin_popcount(w->sectors) * 32 / (double)(to - from);
    driver_end(&d);
    return rate;
}

static void expect(const char *name, double value, double low, double high) {
    print_message("%-40s %8.2f (%g to %g)\n", name, value, low, high);
    if (value < low || value > high) fail_msg("%s: %g is not within %g to %g", name, value, low, high);
}

TEST(latency_of_the_l2) {
    GpuModel g = h200();
    Driver d = driver_make(&g);
    u64 low = UINT64_MAX, high = 0, sum = 0, count = 0;
    memsys_touch(d.memsys, 0, 1 << 20, true);
    for (u32 sm = 0; sm < 132; sm += 11)
        for (u64 at = 0; at < 94; at++, count++) {
            driver_alone(&d, sm, MEM_READ, at * 512, 1);  // from the other partition
            u64 took = driver_alone(&d, sm, MEM_READ, at * 512, 1);
            low = took < low ? took : low;
            high = took > high ? took : high;
            sum += took;
        }
    expect("l2/latency_nearest", (double)low, 245, 247);
    expect("l2/latency_farthest", (double)high, 300, 333);  // hierarchy: l2/latency_quantile/100
    expect("chase/cg/1_MiB", (double)sum / (double)count, 277, 285);
    driver_end(&d);
}

static int by_size(const void *a, const void *b) {
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

// Half of the loads cross from the other partition (h200-dram-places.tsv), some find their bank being refreshed
// (h200-dram-latency.tsv). Its quantiles are with 40 cycles of the two looks at the clock.
TEST(latency_of_dram) {
    GpuModel g = h200();
    Driver d = driver_make(&g);
    enum { COUNT = 2000 };
    u64 sum = 0, took[COUNT], slow = 0;
    for (u64 i = 0; i < COUNT; i++)
        sum += took[i] = driver_alone(&d, 0, MEM_READ, hash_u64(i) % (1 << 30) & ~127ull, 1);
    qsort(took, COUNT, sizeof *took, by_size);
    for (u64 i = 0; i < COUNT; i++) slow += took[i] > took[COUNT / 2] + 100;
    expect("chase/dram", (double)sum / COUNT, 640, 670);
    expect("dram_latency/clean/4096, quantile 25", (double)took[COUNT / 4], 515, 560);      // 577 less 40
    expect("dram_latency/clean/4096, quantile 75", (double)took[COUNT / 4 * 3], 710, 750);  // 767 less 40
    expect("slow/clean/4096, of 100", 100 * (double)slow / COUNT, 8, 12);                   // 10.8
    expect("dram_latency/clean/4096, quantiles 100 - 50", (double)(took[COUNT - 1] - took[COUNT / 2]), 450, 650);
    driver_end(&d);
}

TEST(bandwidth_of_the_l2) {
    GpuModel g = h200();
    Warps w = {
        .sms = 132, .warps = 32, .lines = 4, .gap = 40, .rounds = 40, .sectors = 15, .span = 16 << 20, .step = 128};
    expect("l2/read/all_sms_x1, 256_blocks", play(&g, &w, 16 << 20), 4100, 4700);
    w.sms = 1, w.rounds = 240, w.span = 1 << 20;  // what comes from the other partition comes first
    expect("l2/read_one_sm/32_warps", play(&g, &w, 16 << 20), 41, 50);
    w.warps = 64, w.lines = 8, w.gap = 0;
    expect("own/cg/16/one", play(&g, &w, 16 << 20), 83, 97);  // 92; the 75 of hierarchy.cu are its remainders' time
    w = (Warps){.sms = 80, .warps = 64, .lines = 4, .rounds = 40, .sectors = 15, .span = 16 << 20, .step = 128};
    w.shift = true;
    expect("shift/cg/16/first_80", play(&g, &w, 16 << 20), 3900, 4750);  // 4315; Accel-Sim's l2_bw_128 3620 to 4120
    w.sms = 132;
    expect("shift/cg/16/first_132", play(&g, &w, 16 << 20), 4200, 5100);  // 4669
    w = (Warps){.sms = 132,
                .warps = 64,
                .lines = 4,
                .rounds = 8,
                .kind = MEM_WRITE,
                .second = MEM_WRITE,
                .sectors = 15,
                .span = 16 << 20,
                .step = 128};
    expect("l2/write_16", play(&g, &w, 16 << 20), 2150, 2650);
    w.partial = true;
    expect("l2/write_word_of_sector", play(&g, &w, 16 << 20), 1750, 2100);
    w.sectors = 1;  // h200-ncu.csv, ss_transpose_1024: 1,048,576 sectors in 28,000 cycles
    expect("a word of each line", play(&g, &w, 16 << 20) / 32, 34, 41);
}

TEST(bandwidth_of_dram) {
    GpuModel g = h200();
    double gb = 1.98;  // GB/s of a byte per cycle
    Warps w = {
        .sms = 132, .warps = 64, .lines = 4, .gap = 20, .rounds = 5, .sectors = 15, .span = 8ull << 30, .step = 128};
    expect("dram/read/all", play(&g, &w, 0) * gb, 4240, 4650);
    GpuModel small = g;
    small.l2_usable /= 4;  // sooner full of what was written
    w.second = MEM_WRITE, w.rounds = 20;
    expect("dram/copy/all", play(&small, &w, 0) * gb, 3790, 4200);
    w.second = MEM_READ, w.random = true, w.rounds = 24;
    expect("order/128/windows/1073741824", play(&g, &w, 0) * gb, 4160, 4600);
    w.sectors = 3;
    expect("order/64/windows/1073741824", play(&g, &w, 0) * gb, 2580, 2900);
    w.sectors = 1;
    expect("order/32/windows/1073741824", play(&g, &w, 0) * gb, 1310, 1500);
}

TEST(throughput_of_atomics) {
    GpuModel g = h200();
    Warps w = {.sms = 132,
               .warps = 8,
               .lines = 1,
               .gap = 30,
               .rounds = 4,
               .kind = MEM_ATOMIC,
               .second = MEM_ATOMIC,
               .sectors = 1,
               .waiting = 31,
               .span = 128,
               .step = 128};
    expect("atomic/atom_throughput/one_word", play(&g, &w, 128) / 32, 0.0205, 0.0225);
    w.kind = w.second = MEM_REDUCE;
    expect("atomic/red_throughput/one_word", play(&g, &w, 128) / 32, 0.0205, 0.0230);
    w.rounds = 12, w.span = 16 << 20, w.warps = 32;
    expect("atomic/all_sms/red/one_word", play(&g, &w, 16 << 20) / 32, 1.3, 2.1);
    w.sectors = 1, w.waiting = 7;
    expect("atomic/all_sms/red/degree8", play(&g, &w, 16 << 20) / 32, 3.8, 7.5);
    w.waiting = 3;
    expect("atomic/all_sms/red/sector", play(&g, &w, 16 << 20) / 32, 7.5, 13);
}

// Warps whose lanes add to one word all, one of `words` (bench/hwref/h200-atomic-random.tsv, 1/32/0 and alike/1): of
// f32 those of other sectors go on beside it.
TEST(sums_of_f32_hold_up_their_sector) {
    GpuModel g = h200();
    Warps w = {.sms = 132,
               .warps = 8,
               .lines = 1,
               .gap = 30,
               .rounds = 24,
               .kind = MEM_REDUCE,
               .second = MEM_REDUCE,
               .sectors = 1,
               .waiting = 31,
               .step = 4,
               .random = true};
    w.span = 32;
    expect("atomic_random/u32/1/1/32/0", 32 / play(&g, &w, 1024), 44, 49);
    w.span = 128;
    expect("atomic_random/u32/32/1/32/alike/1", 32 / play(&g, &w, 1024), 41, 48);
    w.span = 1024;
    expect("atomic_random/u32/256/1/32/alike/1", 32 / play(&g, &w, 1024), 21, 26);
    w.atomic = MEM_ATOMIC_FLOAT, w.span = 32;
    expect("atomic_random/f32/1/1/32/0", 32 / play(&g, &w, 1024), 106, 117);
    w.span = 128;
    expect("atomic_random/f32/32/1/32/alike/1", 32 / play(&g, &w, 1024), 55, 67);
    w.span = 1024;
    expect("atomic_random/f32/256/1/32/alike/1", 32 / play(&g, &w, 1024), 21, 27);
}

// Lines that an SM loads and sets to 0 at once, of both partitions: the write does not overtake the load on its way to
// the other one, so that DRAM is asked for all of them (h200-rewrites.tsv: 2 MiB of 2 MiB).
TEST(writes_do_not_overtake_loads) {
    GpuModel gpu = h200();
    Driver d = driver_make(&gpu);
    enum { LINES = 512 };
    for (u32 i = 0; i < LINES; i++) {
        driver_ask(&d, d.now + 8 * i, 0, MEM_READ, i * 128, 15);
        driver_ask(&d, d.now + 8 * i + 2, 0, MEM_WRITE, i * 128, 15);
    }
    driver_play(&d, 0);
    assert_int_equal(driver_count(&d, MEMC_DRAM_READ_BYTES, MEM_SCOPE_CHANNEL), LINES * 128);
    driver_end(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_of_the_l2),
        cmocka_unit_test(latency_of_dram),
        cmocka_unit_test(writes_do_not_overtake_loads),
        cmocka_unit_test(bandwidth_of_the_l2),
        cmocka_unit_test(bandwidth_of_dram),
        cmocka_unit_test(throughput_of_atomics),
        cmocka_unit_test(sums_of_f32_hold_up_their_sector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
