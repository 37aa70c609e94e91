// SPDX-License-Identifier: Apache-2.0
// Latencies, bandwidths, counters and order of the memory system with a crossbar. Networks: noc_network_test.c.
#include "sim/time/memsys_testing.h"

#define SLICE_COUNT(d, id) driver_count(d, MEMC_##id, MEM_SCOPE_SLICE)
#define CHANNEL_COUNT(d, id) driver_count(d, MEMC_##id, MEM_SCOPE_CHANNEL)

// --- isolated requests
// -------------------------------------------------------------------------------------------------
TEST(a_lonely_request_takes_what_the_model_says) {
    GpuModel g = testing_model();
    Driver d = driver_make(&g);
    u64 row_miss = g.l2_latency + g.dram_latency + g.t_rcd + g.t_cl + g.t_burst;
    assert_int_equal(driver_alone(&d, 0, MEM_READ, 0, 1), row_miss);              // row closed
    assert_int_equal(driver_alone(&d, 0, MEM_READ, 0, 1), g.l2_latency);          // hit
    assert_int_equal(driver_alone(&d, 0, MEM_READ, 128, 1), row_miss - g.t_rcd);  // row open
    assert_int_equal(driver_alone(&d, 0, MEM_READ, 512, 15),
                     row_miss - g.t_rcd + 6 + 1);  // four bursts; two cycles to the SM
    assert_int_equal(driver_alone(&d, 0, MEM_READ, 512, 15), g.l2_latency + 1);
    assert_int_equal(driver_alone(&d, 0, MEM_READ, 1 << 16, 1), row_miss + g.t_rp);  // another row of the bank
    assert_int_equal(driver_alone(&d, 0, MEM_WRITE, 1 << 20, 15), g.l2_latency);     // nothing is fetched
    driver_end(&d);
}

TEST(far_slices_take_longer_and_always_the_same) {
    GpuModel g = testing_model();
    g.sms = 64, g.noc_spread = 20;
    Driver d = driver_make(&g);
    u64 low = UINT64_MAX, high = 0, sum = 0;
    for (u32 k = 0; k < 2; k++) driver_alone(&d, 0, MEM_READ, k * 256, 1);
    for (u32 sm = 0; sm < 64; sm++)
        for (u32 k = 0; k < 2; k++) {
            u64 took = driver_alone(&d, sm, MEM_READ, k * 256, 1);
            assert_int_equal(driver_alone(&d, sm, MEM_READ, k * 256, 1), took);
            low = took < low ? took : low;
            high = took > high ? took : high;
            sum += took;
        }
    assert_int_equal(low, g.l2_latency);
    assert_int_equal(high, g.l2_latency + 20);
    assert_in_range(sum / 128, g.l2_latency + 7, g.l2_latency + 13);
    assert_true(memsys_least_latency(d.memsys) <= low);
    driver_end(&d);
}

TEST(atomics_on_one_word_follow_each_other) {
    GpuModel g = testing_model();
    Driver d = driver_make(&g);
    driver_alone(&d, 0, MEM_READ, 0, 15);
    u64 degree_1 = driver_alone(&d, 0, MEM_ATOMIC, 0, 1);
    assert_int_equal(degree_1, g.l2_latency + g.l2_atomic_latency + 2 + 1);  // an interval of 2, a new line
    for (u32 i = 0; i < 32; i++) {
        u32 tag = driver_ask(&d, d.now, i % 4, MEM_REDUCE, 0, 1);
        d.requests.data[tag].waiting = 31;
    }
    u64 begin = d.now, end = driver_play(&d, 0), each = 1 + 31 * 2;  // the sector, and who waits
    assert_in_range(end - begin, 32 * each, 32 * each + 2 * g.l2_latency);
    assert_int_equal(SLICE_COUNT(&d, L2_ATOMIC_SECTORS), 1 + 32 * 32);  // each lane looks it up
    assert_int_equal(SLICE_COUNT(&d, L2_ATOMIC_HIT_SECTORS), 1 + 32 * 32);
    driver_end(&d);
}

// Cycles that 64 atomics of one kind on a sector take, all lanes on one word or each on its own.
static u64 atomics_of(MemAtomic kind, u32 lanes) {
    GpuModel g = testing_model();
    g.l2_atomic_float = 300, g.l2_atomic_wide = 400;
    Driver d = driver_make(&g);
    driver_alone(&d, 0, MEM_READ, 0, 1);
    for (u32 i = 0; i < 64; i++) {
        u32 tag = driver_ask(&d, d.now, i % 4, MEM_REDUCE, 0, 1);
        d.requests.data[tag].waiting = (u8)(lanes - 1);
        d.requests.data[tag].atomic = (u8)kind;
    }
    u64 begin = d.now, end = driver_play(&d, 0);
    driver_end(&d);
    return end - begin;
}

TEST(atomics_take_what_their_kind_takes) {
    u64 word = 31 * 64, slack = 400;  // for each that waits; what the sector takes
    assert_in_range(atomics_of(MEM_ATOMIC_INTEGER, 32), 2 * word, 2 * word + slack);
    assert_in_range(atomics_of(MEM_ATOMIC_SWAP, 32), 2 * word, 2 * word + slack);
    assert_in_range(atomics_of(MEM_ATOMIC_FLOAT, 32), 3 * word, 3 * word + slack);
    assert_in_range(atomics_of(MEM_ATOMIC_DOUBLE, 32), 3 * word, 3 * word + slack);
    assert_in_range(atomics_of(MEM_ATOMIC_INTEGER, 1), 2 * 64, 2 * 64 + slack);
    assert_in_range(atomics_of(MEM_ATOMIC_DOUBLE, 1), 4 * 64, 4 * 64 + slack);
    assert_in_range(atomics_of(MEM_ATOMIC_SWAP, 1), 4 * 64, 4 * 64 + slack);
}

TEST(memory_of_the_host_lies_behind_the_bus) {
    static const MemHostRange ranges[] = {{0, 4096}, {1 << 20, 2 << 20}};
    GpuModel g = testing_model();
    g.host_read = 3200, g.host_write = 6400, g.host_latency = 500;  // 3.2 and 6.4 bytes a cycle
    Driver d = driver_make(&g);
    memsys_set_host(d.memsys, ranges, WL_COUNT(ranges));
    for (u32 k = 0; k < 2; k++)  // it is not kept
        assert_in_range(driver_alone(&d, 0, MEM_READ, 1 << 20, 1), g.l2_latency + 510, g.l2_latency + 512);
    assert_in_range(driver_alone(&d, 0, MEM_WRITE, 1 << 20, 15), g.l2_latency + 18, g.l2_latency + 26);
    assert_int_equal(SLICE_COUNT(&d, L2_READ_HIT_SECTORS), 0);
    assert_true(driver_alone(&d, 0, MEM_READ, 8192, 1) < g.l2_latency + 200);
    for (u32 i = 0; i < 100; i++) driver_ask(&d, d.now, i % 4, MEM_READ, (1 << 20) + i * 128, 15);
    u64 begin = d.now, end = driver_play(&d, 0);
    assert_in_range(end - begin, 100 * 40 + 500, 100 * 40 + 500 + 2 * g.l2_latency);
    driver_end(&d);
}

// A line on its way from DRAM is written to when it is there, and what its slice has behind the write waits, too.
TEST(writes_wait_for_what_is_on_its_way) {
    enum { LINES = 8 };
    GpuModel g = testing_model();
    Driver d = driver_make(&g);
    for (u32 i = 0; i < LINES; i++) driver_alone(&d, 0, MEM_READ, 4096 + i * 128, 15);
    u64 there = CHANNEL_COUNT(&d, DRAM_READ_BYTES), least = UINT64_MAX, most = 0;
    u32 miss = driver_ask(&d, d.now, 0, MEM_READ, 65536, 15),
        write = driver_ask(&d, d.now + 1, 1, MEM_WRITE, 65536, 15);
    u32 hits[LINES];
    for (u32 i = 0; i < LINES; i++) hits[i] = driver_ask(&d, d.now + 4 + i, 2, MEM_READ, 4096 + i * 128, 15);
    driver_play(&d, 0);
    for (u32 i = 0; i < LINES; i++) {
        u64 latency = d.latency[hits[i]];
        least = latency < least ? latency : least, most = latency > most ? latency : most;
    }
    assert_true(d.latency[write] + 8 > d.latency[miss] && most + 16 > d.latency[miss]);  // of its slice
    assert_true(least < d.latency[miss] - g.dram_latency / 2);                           // of the other one
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_READ_BYTES) - there, 128);
    driver_end(&d);
}

TEST(small_requests_to_the_host_take_turns) {
    static const MemHostRange range = {1 << 20, 2 << 20};
    GpuModel g = testing_model();
    g.host_read = 3200, g.host_write = 6400, g.host_latency = 500;
    g.host_request = 30000;  // 30 cycles at 1 GHz: 10 of them are a sector's that is read
    Driver d = driver_make(&g);
    memsys_set_host(d.memsys, &range, 1);
    for (u32 i = 0; i < 100; i++) driver_ask(&d, d.now, i % 4, i % 2 ? MEM_WRITE : MEM_READ, (1 << 20) + i * 128, 1);
    u64 begin = d.now, end = driver_play(&d, 0);
    assert_in_range(end - begin, 100 * 30, 100 * 30 + 500 + 2 * g.l2_latency);
    driver_end(&d);
}

TEST(atomics_on_a_word_of_the_host_take_turns) {
    static const MemHostRange range = {1 << 20, 2 << 20};
    GpuModel g = testing_model();
    g.host_read = 32000, g.host_write = 32000, g.host_latency = 500, g.host_atomic = 600;
    Driver d = driver_make(&g);
    memsys_set_host(d.memsys, &range, 1);
    const MemKind kinds[] = {MEM_ATOMIC, MEM_REDUCE};
    for (u32 k = 0; k < WL_COUNT(kinds); k++) {
        for (u32 i = 0; i < 8; i++) driver_ask(&d, d.now, i % 4, kinds[k], 1 << 20, 1);
        u64 begin = d.now, end = driver_play(&d, 0), last = kinds[k] == MEM_ATOMIC ? g.host_latency : g.host_atomic;
        assert_in_range(end - begin, 7 * 600 + last, 7 * 600 + last + 2 * g.l2_latency);
        d.now += 600;
        for (u32 i = 0; i < 8; i++) driver_ask(&d, d.now, i % 4, kinds[k], (1 << 20) + i * 128, 1);
        begin = d.now, end = driver_play(&d, 0);
        assert_in_range(end - begin, last, last + 2 * g.l2_latency);
    }
    driver_end(&d);
}

// --- bandwidth
// --------------------------------------------------------------------------------------------------------- `count`
// requests of whole lines as fast as the SMs can send them; cycles from the first to the last reply.
static u64 stream(Driver *d, const GpuModel *g, MemKind kind, u64 base, u64 stride, u32 count, u32 interval) {
    u64 begin = d->now;
    for (u32 i = 0; i < count; i++)
        driver_ask(d, begin + (u64)(i / g->sms) * interval, i % (u32)g->sms, kind, base + i * stride, 15);
    return driver_play(d, 0) - begin - g->l2_latency;
}

TEST(l2_hits_come_at_the_rate_of_the_slices) {
    GpuModel g = testing_model();
    Driver d = driver_make(&g);
    stream(&d, &g, MEM_READ, 0, 128, 256, 8);
    u64 cycles = stream(&d, &g, MEM_READ, 0, 128, 256, 1);  // 32 KiB of two slices of 64 bytes a cycle
    assert_in_range(cycles, 252, 256 + 16);
    assert_int_equal(SLICE_COUNT(&d, L2_READ_HIT_SECTORS) + SLICE_COUNT(&d, L2_READ_PENDING_SECTORS), 1024);
    // One SM alone: its port is the limit.
    u64 begin = d.now;
    for (u32 i = 0; i < 128; i++) driver_ask(&d, begin + i, 0, MEM_READ, i * 128, 15);
    cycles = driver_play(&d, 0) - begin - g.l2_latency;
    assert_in_range(cycles, 252, 256 + 8);  // 64 bytes a cycle
    // Writes: 32 bytes a cycle leave an SM.
    begin = d.now;
    for (u32 i = 0; i < 64; i++) driver_ask(&d, begin + i, 0, MEM_WRITE, i * 128, 15);
    cycles = driver_play(&d, 0) - begin - g.l2_latency;
    assert_in_range(cycles, 252, 256 + 8);
    driver_end(&d);
}

TEST(dram_streams_fill_the_bus) {
    GpuModel g = testing_model();
    g.l2_bytes = 16 << 10;
    Driver d = driver_make(&g);
    u64 cycles = stream(&d, &g, MEM_READ, 0, 128, 4096, 8);
    u64 bus = 4096 * 4 * g.t_burst / g.dram_channels;
    assert_in_range(cycles, bus, bus * 108 / 100);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_READ_BYTES), 4096 * 128);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_ACTIVATES), 4096 * 128 / g.dram_row);
    driver_end(&d);
}

TEST(other_rows_of_one_bank_cost_the_row_cycle) {
    GpuModel g = testing_model();
    Driver d = driver_make(&g);
    u64 begin = d.now, cycles;
    for (u32 i = 0; i < 256; i++) driver_ask(&d, begin + i, i % 4, MEM_READ, (u64)i << 14, 1);
    cycles = driver_play(&d, 0) - begin - g.l2_latency - g.dram_latency;
    u64 cycle = g.t_ras + g.t_rp;
    assert_in_range(cycles, 255 * cycle, 256 * cycle + 40);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_ACTIVATES), 256);
    driver_end(&d);
}

// Requests alternate between two rows of a bank: the out-of-order controller serves one row, then the other.
TEST(fr_fcfs_beats_fifo_on_interleaved_rows) {
    u64 took[2], activates[2];
    for (u32 fifo = 0; fifo < 2; fifo++) {
        GpuModel g = testing_model();
        g.dram_scheduler = fifo;
        Driver d = driver_make(&g);
        for (u32 i = 0; i < 512; i++) {
            u64 within = (u64)(i / 8 % 4) * 32 + (u64)(i / 32 % 4) * 512, row = (u64)(i % 2 + 2 * (i / 128)) << 14;
            driver_ask(&d, i, i % 4, MEM_READ, row + within + (u64)(i / 2 % 4) * 2048 * 4, 1u << (i / 8 % 4));
        }
        took[fifo] = driver_play(&d, 0);
        activates[fifo] = CHANNEL_COUNT(&d, DRAM_ACTIVATES);
        driver_end(&d);
    }
    assert_true(took[0] * 10 < took[1] * 8);
    assert_true(activates[0] * 2 < activates[1]);
}

TEST(writes_are_drained_together) {
    GpuModel g = testing_model();
    g.l2_bytes = 16 << 10;
    Driver d = driver_make(&g);
    u64 begin = d.now;
    for (u32 i = 0; i < 4096; i++)
        driver_ask(&d, begin + i * 5, i % 4, i % 2 ? MEM_WRITE : MEM_READ, (u64)(i % 2) << 24 | (u64)(i / 2) * 128, 15);
    u64 cycles = driver_play(&d, 0) - begin, bus = 4096 * 4 * g.t_burst / g.dram_channels;
    u64 bytes = CHANNEL_COUNT(&d, DRAM_READ_BYTES) + CHANNEL_COUNT(&d, DRAM_WRITE_BYTES);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_READ_BYTES), 2048 * 128);
    assert_in_range(bytes, 4096 * 128 - g.l2_bytes, 4096 * 128);
    assert_in_range(cycles, bus * 95 / 100, bus * 150 / 100);
    driver_end(&d);
}

// Refreshed all at once banks cost their time; group after group, the others go on.
TEST(refreshes_happen_and_cost_time) {
    static const u32 groups[] = {0, 1, 8};
    u64 took[3];
    for (u32 i = 0; i < 3; i++) {
        GpuModel g = testing_model();
        g.l2_bytes = 16 << 10;
        g.dram_queue = 64;
        if (groups[i]) g.t_refi = 1000, g.t_rfc = 200, g.dram_refresh_groups = groups[i];
        Driver d = driver_make(&g);
        took[i] = stream(&d, &g, MEM_READ, 0, 128, 4096, 8);
        u64 rounds = took[i] / 1000, refreshes = CHANNEL_COUNT(&d, DRAM_REFRESHES);
        assert_in_range(refreshes, 2 * groups[i] * (rounds - 1), 2 * groups[i] * (rounds + 1));
        driver_end(&d);
    }
    assert_in_range(took[1] * 100 / took[0], 115, 145);
    assert_in_range(took[2] * 100 / took[0], 100, took[1] * 100 / took[0] - 5);
}

// --- caches
// ------------------------------------------------------------------------------------------------------------
TEST(misses_of_one_line_are_joined) {
    GpuModel g = testing_model();
    Driver d = driver_make(&g);
    for (u32 i = 0; i < 4; i++) driver_ask(&d, i, i, MEM_READ, 0, 15);
    driver_play(&d, 0);
    assert_int_equal(SLICE_COUNT(&d, L2_READ_PENDING_SECTORS), 12);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_READS), 4);
    driver_end(&d);
}

TEST(a_miss_brings_its_neighbours) {
    GpuModel g = testing_model();
    g.l2_fetch = 64, g.dram_burst = 64;
    Driver d = driver_make(&g);
    driver_alone(&d, 0, MEM_READ, 0, 2);
    assert_int_equal(driver_alone(&d, 0, MEM_READ, 0, 1), g.l2_latency);
    assert_true(driver_alone(&d, 0, MEM_READ, 0, 4) > g.l2_latency);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_READS), 2);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_READ_BYTES), 128);
    driver_end(&d);
}

TEST(written_lines_go_to_dram_when_they_are_evicted) {
    GpuModel g = testing_model();
    g.l2_bytes = 4096;
    Driver d = driver_make(&g);
    stream(&d, &g, MEM_WRITE, 0, 128, 64, 8);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_READS), 0);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_WRITE_BYTES), 64 * 128 - 4096);
    assert_int_equal(SLICE_COUNT(&d, L2_WRITEBACK_SECTORS), 128);
    memsys_flush(d.memsys);
    assert_true(driver_alone(&d, 0, MEM_READ, 63 * 128, 1) > g.l2_latency);
    driver_end(&d);
}

TEST(copies_leave_their_lines) {
    for (u32 on = 0; on < 2; on++) {
        GpuModel g = testing_model();
        g.copy_allocates = on;
        Driver d = driver_make(&g);
        driver_alone(&d, 0, MEM_READ, 0, 1);
        memsys_touch(d.memsys, 0, 1000, true);
        assert_int_equal(driver_alone(&d, 0, MEM_READ, 0, 1) == g.l2_latency, on);
        assert_int_equal(driver_alone(&d, 0, MEM_READ, 896, 1) == g.l2_latency, on);
        assert_true(driver_alone(&d, 0, MEM_READ, 1024, 1) > g.l2_latency);
        memsys_touch(d.memsys, 0, 1ull << 40, true);  // not a walk over a terabyte
        driver_end(&d);
    }
}

TEST(without_an_l2_every_request_goes_to_dram) {
    GpuModel g = testing_model();
    g.l2_bytes = 0;
    strcpy(g.address_map, "channel = bits(6); bank = bits(11:13)");  // a line lies in two channels
    Driver d = driver_make(&g);
    u64 first = driver_alone(&d, 0, MEM_READ, 0, 15);
    assert_int_equal(first, g.l2_latency + g.dram_latency + g.t_rcd + g.t_cl + 2 * g.t_burst + 1);
    assert_int_equal(driver_alone(&d, 0, MEM_READ, 0, 15), first - g.t_rcd);
    driver_alone(&d, 0, MEM_WRITE, 0, 15);
    driver_alone(&d, 0, MEM_ATOMIC, 0, 1);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_READ_BYTES), 128 + 128 + 32);
    assert_int_equal(CHANNEL_COUNT(&d, DRAM_WRITE_BYTES), 128 + 32);
    driver_end(&d);
}

// --- everything at once
// --------------------------------------------------------------------------------------------------
static void add_random(Driver *d, u64 seed, u32 count, u32 sms, u64 span) {
    for (u32 i = 0; i < count; i++) {
        u64 r = hash_u64(seed * 1000003 + i), hot = r >> 60 & 3;
        MemKind kind = (r >> 8 & 7) < 4    ? MEM_READ
                       : (r >> 8 & 7) < 6  ? MEM_WRITE
                       : (r >> 8 & 7) == 6 ? MEM_ATOMIC
                                           : MEM_REDUCE;
        u64 address = (r >> 16) % (hot ? span : 1 << 14) & ~127ull;
        u32 tag = driver_ask(d, d->now + i / sms + (r >> 40 & 15), (u32)(r % sms), kind, address, 1 + (r >> 12) % 15);
        d->requests.data[tag].waiting = r >> 50 & 31;
    }
}

static void check_counters(const Driver *d, const GpuModel *g) {
    u64 reads = SLICE_COUNT(d, L2_READ_SECTORS), hits = SLICE_COUNT(d, L2_READ_HIT_SECTORS);
    u64 pending = SLICE_COUNT(d, L2_READ_PENDING_SECTORS);
    assert_true(reads >= hits + pending);
    u64 atomic_misses = SLICE_COUNT(d, L2_ATOMIC_SECTORS) - SLICE_COUNT(d, L2_ATOMIC_HIT_SECTORS);
    u64 fetched = CHANNEL_COUNT(d, DRAM_READ_BYTES) / 32, misses = reads - hits - pending;
    assert_in_range(fetched, misses, misses + atomic_misses);
    assert_int_equal(CHANNEL_COUNT(d, DRAM_WRITE_BYTES), SLICE_COUNT(d, L2_WRITEBACK_SECTORS) * 32);
    assert_int_equal(CHANNEL_COUNT(d, DRAM_READS), driver_count(d, MEMC_BANK_READS, MEM_SCOPE_BANK));
    assert_int_equal(CHANNEL_COUNT(d, DRAM_WRITES), driver_count(d, MEMC_BANK_WRITES, MEM_SCOPE_BANK));
    assert_int_equal(CHANNEL_COUNT(d, DRAM_ACTIVATES), driver_count(d, MEMC_BANK_ACTIVATES, MEM_SCOPE_BANK));
    u64 bursts = CHANNEL_COUNT(d, DRAM_READS) + CHANNEL_COUNT(d, DRAM_WRITES);
    assert_int_equal(CHANNEL_COUNT(d, DRAM_BUSY_CYCLES), bursts * g->t_burst * g->clock_mhz / g->dram_clock_mhz);
    assert_true(CHANNEL_COUNT(d, DRAM_PENDING_CYCLES) <= d->now * g->dram_channels);
}

// The shapes and clocks of `variant`.
static GpuModel variant_model(u32 variant) {
    GpuModel g = testing_model();
    if (variant & 1) g.dram_scheduler = 1, g.dram_queue = 3;
    if (variant & 2) g.l2_mshrs = 2, g.l2_queue = 1;
    if (variant & 4) g.l2_bytes = 2048, g.l2_ways = 2;
    if (variant & 8) g.t_refi = 700, g.t_rfc = 90, g.dram_refresh_groups = 4, g.t_ccdl = 4, g.noc_spread = 30;
    return g;
}

TEST(every_request_is_answered_once_whatever_happens) {
    for (u32 variant = 0; variant < 16; variant++) {
        GpuModel g = variant_model(variant);
        Driver d = driver_make(&g);
        for (u32 round = 0; round < 3; round++) {
            add_random(&d, variant * 10 + round, 3000, (u32)g.sms, 1 << 20);
            driver_play(&d, 0);
            check_counters(&d, &g);
        }
        assert_int_equal(memsys_next_event(d.memsys), UINT64_MAX);
        driver_end(&d);
    }
}

// The same whatever the quanta are, with clocks that have nothing in common, and in every run.
TEST(results_do_not_depend_on_the_quanta) {
    for (u32 variant = 0; variant < 16; variant++) {
        u64 sums[3];
        for (u32 run = 0; run < 3; run++) {
            GpuModel g = variant_model(variant);
            g.clock_mhz = 1980, g.noc_clock_mhz = variant & 1 ? 1607 : 2311, g.dram_clock_mhz = 1313;
            Driver d = driver_make(&g);
            add_random(&d, variant, 3000, (u32)g.sms, 1 << 20);
            u64 sum = driver_play(&d, run == 0 ? 0 : run == 1 ? 1 : 17);
            for (u32 i = 0; i < 3000; i++) sum = hash_u64(sum ^ d.latency[i]);
            for (u32 c = 0; c < MEM_COUNTER_COUNT; c++)
                if (c < MEMC_L2_READ_SECTORS)
                    sum = hash_u64(sum ^ driver_count(&d, c, MEM_SCOPE_NOC));
                else if (c < MEMC_DRAM_READS)
                    sum = hash_u64(sum ^ driver_count(&d, c, MEM_SCOPE_SLICE));
                else if (c < MEMC_BANK_READS)
                    sum = hash_u64(sum ^ driver_count(&d, c, MEM_SCOPE_CHANNEL));
            sums[run] = sum;
            driver_end(&d);
        }
        assert_int_equal(sums[0], sums[1]);
        assert_int_equal(sums[0], sums[2]);
    }
}

// One clock is no whole multiple of another: nothing drifts over a billion cycles.
TEST(other_clocks_do_not_drift) {
    GpuModel g = testing_model();
    g.clock_mhz = 1980, g.noc_clock_mhz = 1607, g.dram_clock_mhz = 1313;
    Driver d = driver_make(&g);
    u64 low = UINT64_MAX, high = 0;
    driver_alone(&d, 0, MEM_READ, 0, 1);
    for (u32 i = 0; i < 200; i++) {
        d.now += 5000011;
        u64 took = driver_alone(&d, 0, MEM_READ, 0, 1);
        low = took < low ? took : low;
        high = took > high ? took : high;
    }
    assert_in_range(low, g.l2_latency, g.l2_latency + 1);
    assert_in_range(high, low, g.l2_latency + 2);
    driver_end(&d);
}

TEST(memory_may_run_out) {
    GpuModel g = testing_model();
    g.noc = 1;
    for (u64 allowed = 0; allowed < 400; allowed++) {
        u64 left = allowed;
        MemSys *memsys;
        testing_memory_out_after(&left);
        Status status = memsys_create(&g, NULL, NULL, &memsys);
        testing_memory_back();
        assert_true(status == STATUS_NO_MEMORY || (status == STATUS_OK && memsys));
        memsys_destroy(memsys);
        if (status == STATUS_OK) break;
        assert_true(allowed < 399);
    }
}

TEST(models_that_do_not_fit_are_refused) {
    MemSys *memsys;
    GpuModel g = testing_model();
    g.l2_slices = 3;
    assert_int_equal(memsys_create(&g, NULL, NULL, &memsys), STATUS_INVALID);
    g = (GpuModel){0};
    assert_int_equal(memsys_create(&g, NULL, NULL, &memsys), STATUS_INVALID);
    assert_null(memsys);
}

// Rows of bench/hwref/h200-lookups.tsv: what the L2 of two partitions counts.
static void expect_lookups(Driver *d, u64 hits, u64 misses) {
    u64 found = driver_count(d, MEMC_L2_READ_HIT_SECTORS, MEM_SCOPE_SLICE) +
                driver_count(d, MEMC_L2_WRITE_HIT_SECTORS, MEM_SCOPE_SLICE) +
                driver_count(d, MEMC_L2_ATOMIC_HIT_SECTORS, MEM_SCOPE_SLICE);
    assert_int_equal(found, hits);
    assert_int_equal(driver_count(d, MEMC_L2_MISS_SECTORS, MEM_SCOPE_SLICE), misses);
}

TEST(partitions_keep_copies) {
    GpuModel gpu = testing_model();
    gpu.l2_partitions = 2, gpu.l2_fetch = 64;
    Driver d = driver_make(&gpu);
    driver_alone(&d, 0, MEM_READ, 0, 1);  // address 0 lies in the first partition, SM 0 too
    expect_lookups(&d, 0, 2);             // the other sector comes along
    driver_alone(&d, 1, MEM_READ, 0, 3);
    expect_lookups(&d, 2, 2);
    driver_alone(&d, 3, MEM_READ, 0, 3);  // of the second: from the first
    expect_lookups(&d, 2, 4);
    driver_alone(&d, 2, MEM_READ, 0, 3);
    expect_lookups(&d, 4, 4);
    driver_alone(&d, 0, MEM_WRITE, 0, 1);  // the copy is old
    driver_alone(&d, 3, MEM_READ, 0, 2);
    expect_lookups(&d, 6, 4);
    driver_alone(&d, 3, MEM_READ, 0, 1);
    expect_lookups(&d, 6, 6);
    driver_alone(&d, 3, MEM_WRITE, 0, 8);  // what an SM writes is there for it, and where it lies
    driver_alone(&d, 3, MEM_READ, 0, 8);
    driver_alone(&d, 0, MEM_READ, 0, 8);
    expect_lookups(&d, 9, 6);
    assert_int_equal(driver_count(&d, MEMC_DRAM_READ_BYTES, MEM_SCOPE_CHANNEL), 64);
    driver_end(&d);
}

// h200-shared-lines.tsv, after: what another side's SM has brought is farther once; it is one request all the same.
TEST(the_way_across_is_gone_once) {
    GpuModel gpu = testing_model();
    gpu.l2_partitions = 2, gpu.l2_fetch = 64;
    u64 took[2][2];
    for (u32 crosses = 0; crosses < 2; crosses++) {
        gpu.l2_crossing = crosses * 100;
        Driver d = driver_make(&gpu);
        driver_alone(&d, 0, MEM_READ, 0, 1);  // address 0 lies in the first partition, SM 0 too; SM 3 in the second
        for (u32 turn = 0; turn < 2; turn++) took[crosses][turn] = driver_alone(&d, 3, MEM_READ, 0, 1);
        assert_int_equal(driver_count(&d, MEMC_L2_REQUESTS, MEM_SCOPE_SLICE), 3);
        driver_end(&d);
    }
    assert_in_range(took[1][0], took[0][0] + 98, took[0][0] + 102);  // clocks are rounded
    assert_int_equal(took[1][1], took[0][1]);
}

TEST(lookups_of_atomics) {
    GpuModel gpu = testing_model();
    gpu.l2_fetch = 64;
    Driver d = driver_make(&gpu);
    driver_alone(&d, 0, MEM_REDUCE, 0, 15);
    expect_lookups(&d, 2, 2);
    u32 tag = driver_ask(&d, d.now, 0, MEM_REDUCE, 0, 1);
    d.requests.data[tag].waiting = 31;
    driver_play(&d, 0);
    expect_lookups(&d, 34, 2);
    driver_end(&d);
}

// A sector that is written in part is not there for a read, until all of it is written.
TEST(parts_of_sectors) {
    GpuModel gpu = testing_model();
    Driver d = driver_make(&gpu);
    for (u32 words = 7; words <= 8; words++) {
        for (u32 k = 0; k < words; k++) {
            driver_ask(&d, d.now, 0, MEM_WRITE, words * 4096, 8);
            d.requests.data[0].whole = 0, d.requests.data[0].parts = 2u << 12;
            driver_play(&d, 0);
        }
        driver_alone(&d, 0, MEM_READ, words * 4096, 8);
        assert_int_equal(driver_count(&d, MEMC_DRAM_READ_BYTES, MEM_SCOPE_CHANNEL), 32);
    }
    driver_end(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lonely_request_takes_what_the_model_says),
        cmocka_unit_test(far_slices_take_longer_and_always_the_same),
        cmocka_unit_test(atomics_on_one_word_follow_each_other),
        cmocka_unit_test(atomics_take_what_their_kind_takes),
        cmocka_unit_test(memory_of_the_host_lies_behind_the_bus),
        cmocka_unit_test(writes_wait_for_what_is_on_its_way),
        cmocka_unit_test(small_requests_to_the_host_take_turns),
        cmocka_unit_test(atomics_on_a_word_of_the_host_take_turns),
        cmocka_unit_test(l2_hits_come_at_the_rate_of_the_slices),
        cmocka_unit_test(dram_streams_fill_the_bus),
        cmocka_unit_test(other_rows_of_one_bank_cost_the_row_cycle),
        cmocka_unit_test(fr_fcfs_beats_fifo_on_interleaved_rows),
        cmocka_unit_test(writes_are_drained_together),
        cmocka_unit_test(refreshes_happen_and_cost_time),
        cmocka_unit_test(misses_of_one_line_are_joined),
        cmocka_unit_test(a_miss_brings_its_neighbours),
        cmocka_unit_test(written_lines_go_to_dram_when_they_are_evicted),
        cmocka_unit_test(copies_leave_their_lines),
        cmocka_unit_test(without_an_l2_every_request_goes_to_dram),
        cmocka_unit_test(every_request_is_answered_once_whatever_happens),
        cmocka_unit_test(results_do_not_depend_on_the_quanta),
        cmocka_unit_test(other_clocks_do_not_drift),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(models_that_do_not_fit_are_refused),
        cmocka_unit_test(partitions_keep_copies),
        cmocka_unit_test(the_way_across_is_gone_once),
        cmocka_unit_test(lookups_of_atomics),
        cmocka_unit_test(parts_of_sectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
