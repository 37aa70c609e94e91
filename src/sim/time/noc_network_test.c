// SPDX-License-Identifier: Apache-2.0
// Networks that are stepped: distances, every arbitration under random load, fairness and its lack.
#include "sim/time/memsys_testing.h"

enum { CROSSBAR, RING, MESH };
enum { ROUND_ROBIN, PIM, ISLIP, HOLD_GRANT };

static GpuModel network_model(u64 topology, u64 arbitration) {
    GpuModel g = testing_model();
    g.sms = 8, g.l2_slices = g.dram_channels = 4;
    g.noc = topology, g.noc_arbitration = arbitration;
    g.noc_header = 8, g.l2_port = 64;
    strcpy(g.address_map, "channel = bits(8:9); bank = bits(11:13)");
    return g;
}

TEST(the_nearest_slice_takes_the_l2_latency_and_hops_the_rest) {
    for (u64 topology = CROSSBAR; topology <= MESH; topology++) {
        GpuModel g = network_model(topology, ISLIP);
        g.noc_latency = 3, g.noc_header = 0;
        Driver d = driver_make(&g);
        u64 low = UINT64_MAX, high = 0;
        for (u32 slice = 0; slice < 4; slice++) driver_alone(&d, 0, MEM_READ, slice * 256, 1);
        for (u32 sm = 0; sm < 8; sm++)
            for (u32 slice = 0; slice < 4; slice++) {
                u64 took = driver_alone(&d, sm, MEM_READ, slice * 256, 1);
                assert_int_equal((took - g.l2_latency) % (2 * g.noc_latency), 0);  // hops there and back
                low = took < low ? took : low;
                high = took > high ? took : high;
            }
        assert_int_equal(low, g.l2_latency);
        // Twelve nodes. A ring: six links to the far side, one of them for the nearest. A mesh of 4 x 3: five, and one.
        u64 further = topology == CROSSBAR ? 0 : topology == RING ? 5 : 4;
        assert_in_range(high, g.l2_latency + (further ? further - 1 : 0) * 6, g.l2_latency + further * 6);
        driver_end(&d);
    }
}

static void add_random(Driver *d, u64 seed, u32 count, u32 sms) {
    for (u32 i = 0; i < count; i++) {
        u64 r = hash_u64(seed * 1000003 + i);
        MemKind kind = r >> 8 & 1 ? MEM_READ : r >> 9 & 1 ? MEM_WRITE : MEM_ATOMIC;
        driver_ask(d, d->now + i / sms, (u32)(r % sms), kind, (r >> 16) % (1 << 18) & ~127ull, 1 + (r >> 12) % 15);
    }
}

TEST(every_packet_arrives_once_in_every_network) {
    for (u64 topology = CROSSBAR; topology <= MESH; topology++)
        for (u64 arbitration = ROUND_ROBIN; arbitration <= HOLD_GRANT; arbitration++) {
            u64 sums[2];
            for (u32 run = 0; run < 2; run++) {
                GpuModel g = network_model(topology, arbitration);
                g.noc_iterations = 1 + arbitration % 3, g.noc_hold_timeout = 20, g.l2_queue = 2, g.noc_queue = 1;
                g.noc_clock_mhz = 777;
                Driver d = driver_make(&g);
                add_random(&d, topology * 4 + arbitration, 3000, 8);
                u64 sum = driver_play(&d, run ? 7 : 0);
                for (u32 i = 0; i < 3000; i++) sum = hash_u64(sum ^ d.latency[i]);
                sums[run] = sum ^ driver_count(&d, MEMC_NOC_REPLY_WAIT, MEM_SCOPE_NOC);
                driver_end(&d);
            }
            assert_int_equal(sums[0], sums[1]);
        }
}

// SMs that send as fast as they can, all to one slice: cycles until the last reply of each SM, least and greatest.
static void race(u64 arbitration, u64 timeout, u64 *first, u64 *last, u64 *worst) {
    GpuModel g = network_model(RING, arbitration);
    enum { EACH = 150 };
    g.noc_hold_timeout = timeout, g.noc_request_bytes = 32;
    Driver d = driver_make(&g);
    for (u32 i = 0; i < EACH; i++)
        for (u32 sm = 0; sm < 8; sm++) driver_ask(&d, i * 2, sm, MEM_WRITE, (u64)(i * 8 + sm) * 1024 % 8192, 15);
    driver_play(&d, 0);
    u64 end[8] = {0};
    *worst = 0;
    for (u32 tag = 0; tag < EACH * 8; tag++) {
        u64 at = d.sent[tag] + d.latency[tag];
        if (at > end[tag % 8]) end[tag % 8] = at;
        if (d.latency[tag] > *worst) *worst = d.latency[tag];
    }
    *first = UINT64_MAX, *last = 0;
    for (u32 sm = 0; sm < 8; sm++) {
        if (end[sm] < *first) *first = end[sm];
        if (end[sm] > *last) *last = end[sm];
    }
    driver_end(&d);
}

// AerialVision, section III-B: on a ring hold-grant lets one SM starve, which a time-out cures.
TEST(hold_grant_starves_on_a_ring_and_a_timeout_cures_it) {
    u64 first[3], last[3], worst[3];
    race(PIM, 0, &first[0], &last[0], &worst[0]);
    race(HOLD_GRANT, 0, &first[1], &last[1], &worst[1]);
    race(HOLD_GRANT, 30, &first[2], &last[2], &worst[2]);
    print_message("pim %llu..%llu, hold-grant %llu..%llu, with time-out %llu..%llu\n", (unsigned long long)first[0],
                  (unsigned long long)last[0], (unsigned long long)first[1], (unsigned long long)last[1],
                  (unsigned long long)first[2], (unsigned long long)last[2]);
    assert_true(first[1] * 2 < last[1]);  // the one that holds is done before the other has begun
    assert_true(first[1] * 10 < first[0] * 9);
    assert_true(first[2] > first[1] * 2);
}

// A crossbar's outputs are shared evenly by all that ask for them.
TEST(arbitration_of_a_crossbar_is_fair) {
    for (u64 arbitration = ROUND_ROBIN; arbitration <= ISLIP; arbitration++) {
        GpuModel g = network_model(CROSSBAR, arbitration);
        Driver d = driver_make(&g);
        for (u32 i = 0; i < 100; i++)
            for (u32 sm = 0; sm < 8; sm++) driver_ask(&d, i, sm, MEM_WRITE, (u64)(i % 8) * 1024, 15);
        driver_play(&d, 0);
        u64 end[8] = {0}, low = UINT64_MAX, high = 0;
        for (u32 tag = 0; tag < 800; tag++)
            if (d.sent[tag] + d.latency[tag] > end[tag % 8]) end[tag % 8] = d.sent[tag] + d.latency[tag];
        for (u32 sm = 0; sm < 8; sm++) {
            low = end[sm] < low ? end[sm] : low;
            high = end[sm] > high ? end[sm] : high;
        }
        assert_true((high - low) * 8 < high);
        driver_end(&d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_slice_takes_the_l2_latency_and_hops_the_rest),
        cmocka_unit_test(every_packet_arrives_once_in_every_network),
        cmocka_unit_test(hold_grant_starves_on_a_ring_and_a_timeout_cures_it),
        cmocka_unit_test(arbitration_of_a_crossbar_is_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
