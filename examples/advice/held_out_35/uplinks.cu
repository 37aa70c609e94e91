// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each block counts in shared memory and adds its counts to the router's once, at its end.
// Why: all packets of the interval meet at the counters of a few dozen uplinks, most of them at those of the busiest
// three, and the L2 adds to one address one at a time.
#include "../common.h"

enum { UPLINKS = 48, BLOCK = 256 };

struct Packet {
    unsigned destination;
    unsigned short bytes;
    unsigned char ttl, protocol;
};

struct Counter {
    unsigned packets, bytes;
};

// Accounting of the packets that a router forwards: finds the route of each destination and counts the packet on its
// uplink. Routes are ranges of addresses, sorted; via: the uplink of each.
__global__ void uplinks(const Packet *__restrict__ packets, int count, const unsigned *__restrict__ first_address,
                        const unsigned char *__restrict__ via, int routes, Counter *counters, unsigned *expired) {
#ifdef AFTER
    __shared__ Counter mine[UPLINKS];
    if (threadIdx.x < UPLINKS)
        mine[threadIdx.x] = {0, 0};
    __syncthreads();
#else
    Counter *mine = counters;
#endif
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        const Packet packet = packets[i];
        if (packet.ttl <= 1) {
            atomicAdd(expired, 1);
            continue;
        }
        int low = 0, high = routes;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (first_address[middle] <= packet.destination)
                low = middle;
            else
                high = middle;
        }
        Counter *counter = &mine[via[low]];
        atomicAdd(&counter->packets, 1);
        atomicAdd(&counter->bytes, packet.bytes);
    }
#ifdef AFTER
    __syncthreads();
    if (threadIdx.x < UPLINKS && mine[threadIdx.x].packets) {
        atomicAdd(&counters[threadIdx.x].packets, mine[threadIdx.x].packets);
        atomicAdd(&counters[threadIdx.x].bytes, mine[threadIdx.x].bytes);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "uplinks");
    const int count = p.small ? 6000 : 6000000, routes = p.small ? 40 : 900;

    // A few transit providers carry most of the routes.
    unsigned seed = 179;
    std::vector<unsigned> first_address(routes);
    std::vector<unsigned char> via(routes);
    for (int r = 0; r < routes; r++) {
        first_address[r] = r == 0 ? 0 : lcg_next(&seed, 1 << 24) << 8;
        const float rank = lcg_next(&seed, 10000) / 10000.0f;
        via[r] = (unsigned char)(UPLINKS * rank * rank * rank);
    }
    std::sort(first_address.begin(), first_address.end());
    std::vector<Packet> packets(count);
    for (Packet &packet : packets) {
        const unsigned kind = lcg_next(&seed, 100);
        packet.destination = lcg_next(&seed, 1 << 16) << 16 | lcg_next(&seed, 1 << 16);
        packet.bytes = (unsigned short)(kind < 45 ? 40 + kind : kind < 90 ? 1500 : 100 + 14 * lcg_next(&seed, 90));
        packet.ttl = (unsigned char)(lcg_next(&seed, 500) == 0 ? 1 : 40 + lcg_next(&seed, 200));
        packet.protocol = lcg_next(&seed, 10) < 8 ? 6 : 17;
    }

    Packet *d_packets = device_copy_of(packets.data(), count);
    unsigned *d_first = device_copy_of(first_address.data(), routes), *d_expired = device_array<unsigned>(1);
    unsigned char *d_via = device_copy_of(via.data(), routes);
    Counter *d_counters = device_array<Counter>(UPLINKS);
    const int blocks = p.small ? 6 : 132 * 8;
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_counters, 0, UPLINKS * sizeof(Counter)));
        CUDA_CHECK(cudaMemsetAsync(d_expired, 0, sizeof(unsigned)));
        uplinks<<<blocks, BLOCK>>>(d_packets, count, d_first, d_via, routes, d_counters, d_expired);
    });

    std::vector<Counter> counters = host_copy_of(d_counters, UPLINKS), expected(UPLINKS, Counter{0, 0});
    unsigned expected_expired = 0;
    for (const Packet &packet : packets) {
        if (packet.ttl <= 1) {
            expected_expired++;
            continue;
        }
        size_t r = std::upper_bound(first_address.begin(), first_address.end(), packet.destination) -
                   first_address.begin() - 1;
        expected[via[r]].packets++;
        expected[via[r]].bytes += packet.bytes;
    }
    for (int u = 0; u < UPLINKS; u++) {
        pair_near(&p, "packets", u, expected[u].packets, counters[u].packets, 0);
        pair_near(&p, "bytes", u, expected[u].bytes, counters[u].bytes, 0);
    }
    pair_near(&p, "expired", 0, expected_expired, host_copy_of(d_expired, 1)[0], 0);
    return pair_end(&p);
}
