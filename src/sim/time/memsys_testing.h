// SPDX-License-Identifier: Apache-2.0
// For tests of the memory system: a small GPU model, and a driver that plays requests in quanta and checks the replies.
#ifndef WL_SIM_MEMSYS_TESTING_H
#define WL_SIM_MEMSYS_TESTING_H

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/testing.h"
#include "sim/time/memsys.h"

// Four SMs, two channels with a slice each, one clock. Rows of 1 KiB; 8 banks.
static inline GpuModel testing_model(void) {
    GpuModel g = {.sms = 4, .clock_mhz = 1000, .l2_bytes = 64 << 10};
    g.noc_clock_mhz = g.dram_clock_mhz = 1000;
    g.noc_latency = 2, g.noc_flit = 32, g.noc_queue = 8, g.noc_request_bytes = 32, g.noc_reply_bytes = 64;
    g.noc_iterations = 1;
    g.l2_slices = 2, g.l2_line = 128, g.l2_sector = 32, g.l2_fetch = 32, g.l2_ways = 4, g.l2_latency = 100;
    g.l2_port = 64, g.l2_write_port = g.l2_partial_port = 64, g.l2_mshrs = 32, g.l2_queue = 16;
    g.l2_atomic_interval = 200, g.l2_atomic_latency = 10;
    g.dram_channels = 2, g.dram_banks = 8, g.dram_groups = 4, g.dram_refresh_groups = 1, g.dram_row = 1024,
    g.dram_burst = 32;
    g.dram_queue = 16, g.dram_latency = 50;
    g.t_burst = 2, g.t_ccd = 2, g.t_ccdl = 2, g.t_rcd = 10, g.t_rp = 11, g.t_ras = 25, g.t_rrd = 4, g.t_cl = 12;
    g.t_wl = 5, g.t_wr = 12, g.t_wtr = 6, g.t_rtp = 5;
    strcpy(g.address_map, "channel = bits(8); bank = bits(11:13)");
    return g;
}

typedef struct Driver {
    MemSys *memsys;
    Vec(MemRequest) requests;
    MemReplies replies;
    u64 *sent;     // by tag
    u64 *latency;  // by tag; 0 = not answered
    u64 now;
} Driver;

static inline Driver driver_make(const GpuModel *gpu) {
    Driver d = {0};
    assert_int_equal(memsys_create(gpu, NULL, NULL, &d.memsys), STATUS_OK);
    return d;
}

static inline void driver_end(Driver *d) {
    memsys_destroy(d->memsys);
    vec_free(&d->requests);
    vec_free(&d->replies);
    free(d->sent);
    free(d->latency);
    *d = (Driver){0};
}

// Adds a request; returns its tag.
static inline u32 driver_ask(Driver *d, u64 cycle, u32 sm, MemKind kind, u64 address, u32 sectors) {
    u32 tag = d->requests.len;
    MemRequest r = {.cycle = cycle,
                    .line = address & ~127ull,
                    .tag = tag,
                    .sm = (u16)sm,
                    .kind = (u8)kind,
                    .sectors = (u8)sectors,
                    .whole = (u8)sectors,
                    .lanes = 32,
                    .waiting = 0};
    assert_int_equal(vec_push(&d->requests, r), STATUS_OK);
    return tag;
}

static inline int driver_order(const void *a, const void *b) {
    const MemRequest *x = a, *y = b;
    if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
    if (x->sm != y->sm) return x->sm < y->sm ? -1 : 1;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static inline void driver_take(Driver *d, u64 until) {
    for (u32 i = 0; i < d->replies.len; i++) {
        const MemReply *r = &d->replies.data[i];
        assert_true(r->cycle >= until);
        assert_int_equal(d->latency[r->tag], 0);
        d->latency[r->tag] = r->cycle - d->sent[r->tag];
    }
    d->replies.len = 0;
}

// Plays all requests in quanta of at most `quantum` cycles until nothing is under way. Each has one reply, none in its
// quantum. Returns the cycle of the last reply.
static inline u64 driver_play(Driver *d, u64 quantum) {
    u32 count = d->requests.len;
    qsort(d->requests.data, count, sizeof *d->requests.data, driver_order);
    d->sent = realloc(d->sent, (count + 1) * sizeof *d->sent);
    d->latency = realloc(d->latency, (count + 1) * sizeof *d->latency);
    memset(d->latency, 0, (count + 1) * sizeof *d->latency);
    for (u32 i = 0; i < count; i++) d->sent[d->requests.data[i].tag] = d->requests.data[i].cycle;
    u64 step = memsys_least_latency(d->memsys);
    if (quantum && quantum < step) step = quantum;
    for (u32 at = 0, next; at < count || !memsys_idle(d->memsys); at = next) {
        u64 until = d->now + step;
        for (next = at; next < count && d->requests.data[next].cycle < until;) next++;
        assert_int_equal(memsys_step(d->memsys, d->requests.data + at, next - at, d->now, until, &d->replies),
                         STATUS_OK);
        driver_take(d, until);
        d->now = until;
    }
    u64 end = 0;
    for (u32 i = 0; i < count; i++) {
        assert_true(d->latency[i] > 0);
        if (d->sent[i] + d->latency[i] > end) end = d->sent[i] + d->latency[i];
    }
    d->requests.len = 0;
    return end;
}

// One request alone: its latency.
static inline u64 driver_alone(Driver *d, u32 sm, MemKind kind, u64 address, u32 sectors) {
    driver_ask(d, d->now, sm, kind, address, sectors);
    driver_play(d, 0);
    return d->latency[0];
}

// A counter summed over its units.
static inline u64 driver_count(const Driver *d, MemCounter counter, MemScope scope) {
    const u64 *values = memsys_counter(d->memsys, counter);
    u64 sum = 0;
    for (u32 i = 0; i < memsys_units(d->memsys, scope); i++) sum += values[i];
    return sum;
}

#endif
