// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread finds the fares of four origins by four destinations instead of one pair.
// Why: each fare loaded is used four times from a register, so that there are eight loads for sixteen pairs, not 32.
#include "../common.h"

enum { WIDE = 32, HIGH = 8 };

#ifdef AFTER
enum { ORIGINS = 4, DESTINATIONS = 4 };
#else
enum { ORIGINS = 1, DESTINATIONS = 1 };
#endif

// The cheapest fare from each origin to each destination with one change of planes, at any of the hubs.
__global__ void cheapest(const float *to_hub, const float *from_hub, float *fare, int airports, int hubs) {
    int to = blockIdx.x * WIDE * DESTINATIONS + threadIdx.x, from = blockIdx.y * HIGH * ORIGINS + threadIdx.y;
    float best[ORIGINS][DESTINATIONS];
    for (int o = 0; o < ORIGINS; o++)
        for (int d = 0; d < DESTINATIONS; d++)
            best[o][d] = 1e30f;
    for (int h = 0; h < hubs; h++) {
        float in[ORIGINS], out[DESTINATIONS];
        for (int o = 0; o < ORIGINS; o++)
            in[o] = to_hub[(from + o * HIGH) * hubs + h];
        for (int d = 0; d < DESTINATIONS; d++)
            out[d] = from_hub[h * airports + to + d * WIDE];
        for (int o = 0; o < ORIGINS; o++)
            for (int d = 0; d < DESTINATIONS; d++)
                best[o][d] = fminf(best[o][d], in[o] + out[d]);
    }
    for (int o = 0; o < ORIGINS; o++)
        for (int d = 0; d < DESTINATIONS; d++)
            fare[(from + o * HIGH) * airports + to + d * WIDE] = best[o][d];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "layovers");
    int airports = p.small ? 128 : 1920, hubs = p.small ? 12 : 210;
    std::vector<float> to_hub = random_floats((size_t)airports * hubs, 40, 900, 1);
    std::vector<float> from_hub = random_floats((size_t)hubs * airports, 40, 900, 2);
    float *d_to_hub = device_copy_of(to_hub.data(), to_hub.size());
    float *d_from_hub = device_copy_of(from_hub.data(), from_hub.size());
    float *d_fare = device_array<float>((size_t)airports * airports);
    dim3 grid(airports / (WIDE * DESTINATIONS), airports / (HIGH * ORIGINS)), block(WIDE, HIGH);
    pair_time(&p, [&] { cheapest<<<grid, block>>>(d_to_hub, d_from_hub, d_fare, airports, hubs); });
    std::vector<float> fare = host_copy_of(d_fare, (size_t)airports * airports);
    for (int i = 0; i < airports * airports; i += 391) {
        float best = 1e30f;
        for (int h = 0; h < hubs; h++)
            best = std::min(best, to_hub[i / airports * hubs + h] + from_hub[h * airports + i % airports]);
        pair_near(&p, "fare", i, best, fare[i], 0);
    }
    return pair_end(&p);
}
