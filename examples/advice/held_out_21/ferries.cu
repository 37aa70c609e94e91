// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: eight blocks per SM share the passengers instead of one.
// Why: one block of 256 threads is an eighth of what an SM can hold, too few loads under way to fill the memory.
#include "../common.h"

enum { BLOCK = 256, DECKS = 4 };

// Loading lists of ferries: the weight on each deck, and its moment about the keel; a passenger has a deck, a place
// across in cm, and luggage in 1/10 kg.
__global__ void load_up(const unsigned char *decks, const short *places, const unsigned short *luggage,
                        unsigned long long *weights, long long *moments, int n) {
    int weight[DECKS] = {0}, moment[DECKS] = {0};
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        int deck = decks[i], all = 750 + luggage[i], turn = all * places[i] >> 8;
#pragma unroll
        for (int d = 0; d < DECKS; d++) {
            weight[d] += deck == d ? all : 0;
            moment[d] += deck == d ? turn : 0;
        }
    }
#pragma unroll
    for (int d = 0; d < DECKS; d++) {
        int w = __reduce_add_sync(~0u, weight[d]), m = __reduce_add_sync(~0u, moment[d]);
        if (threadIdx.x % 32 == 0) {
            atomicAdd(&weights[d], (unsigned long long)w);
            atomicAdd((unsigned long long *)&moments[d], (unsigned long long)(long long)m);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ferries");
    int n = p.small ? 40000 : 24000000, sms = p.small ? 2 : 132;
#ifdef AFTER
    int blocks = 8 * sms;
#else
    int blocks = sms;
#endif
    std::vector<unsigned char> decks(n);
    std::vector<short> places(n);
    std::vector<unsigned short> luggage(n);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        unsigned r = lcg_next(&seed, 1 << 24);
        decks[i] = r % DECKS;
        places[i] = (short)((int)(r / DECKS % 1600) - 800);
        luggage[i] = (unsigned short)(r / 8192 % 400);
    }
    unsigned char *d_decks = device_copy_of(decks.data(), n);
    short *d_places = device_copy_of(places.data(), n);
    unsigned short *d_luggage = device_copy_of(luggage.data(), n);
    unsigned long long *d_weights = device_array<unsigned long long>(DECKS);
    long long *d_moments = device_array<long long>(DECKS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_weights, 0, DECKS * sizeof *d_weights));
        CUDA_CHECK(cudaMemsetAsync(d_moments, 0, DECKS * sizeof *d_moments));
        load_up<<<blocks, BLOCK>>>(d_decks, d_places, d_luggage, d_weights, d_moments, n);
    });
    std::vector<unsigned long long> weights = host_copy_of(d_weights, DECKS);
    std::vector<long long> moments = host_copy_of(d_moments, DECKS);
    long long weight[DECKS] = {0}, moment[DECKS] = {0};
    for (int i = 0; i < n; i++) {
        int all = 750 + luggage[i];
        weight[decks[i]] += all;
        moment[decks[i]] += all * places[i] >> 8;
    }
    for (int d = 0; d < DECKS; d++) {
        pair_near(&p, "weight", d, (double)weight[d], (double)weights[d], 1e-15);
        pair_near(&p, "moment", d, (double)moment[d], (double)moments[d], 1e-15);
    }
    return pair_end(&p);
}
