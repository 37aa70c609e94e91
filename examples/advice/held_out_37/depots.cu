// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the threads of a CTA take neighbouring addresses and step on by the CTA's size, instead of a contiguous run
// of addresses each.
// Why: neighbouring lanes then load neighbouring words; before, every lane of a load or store had a sector of its own.
#include "../common.h"

// Assigns delivery addresses to depots. Addresses and depots are points on the unit sphere; the cost of a
// delivery is the chord between the two times the depot's cost a kilometre, plus its fixed handling cost. Per address
// the cheapest depot and the cost are stored, and per CTA the total cost of its addresses.
constexpr int THREADS = 128;
constexpr int PER_THREAD = 16;
constexpr int DEPOTS = 10;
constexpr float EARTH_KM = 6371.0f;

struct Depots {
    float x[DEPOTS], y[DEPOTS], z[DEPOTS];
    float per_km[DEPOTS];
    float handling[DEPOTS];
};

__constant__ Depots sites;

__global__ void __launch_bounds__(THREADS) assign_depots(const float *__restrict__ x, const float *__restrict__ y,
                                                         const float *__restrict__ z, int *__restrict__ depot_of,
                                                         float *__restrict__ cost_of, float *__restrict__ total_of,
                                                         int addresses) {
    __shared__ float totals[THREADS / 32];
#ifdef AFTER
    int first = blockIdx.x * THREADS * PER_THREAD + threadIdx.x, step = THREADS;
#else
    int first = (blockIdx.x * THREADS + threadIdx.x) * PER_THREAD, step = 1;
#endif
    float total = 0;
    for (int n = 0; n < PER_THREAD; n++) {
        int i = first + n * step;
        if (i >= addresses)
            break;
        float px = x[i], py = y[i], pz = z[i];
        float best = 1e30f;
        int best_depot = 0;
#pragma unroll
        for (int d = 0; d < DEPOTS; d++) {
            float dx = px - sites.x[d], dy = py - sites.y[d], dz = pz - sites.z[d];
            float chord = EARTH_KM * sqrtf(dx * dx + dy * dy + dz * dz);
            float cost = sites.handling[d] + sites.per_km[d] * chord;
            if (cost < best) {
                best = cost;
                best_depot = d;
            }
        }
        depot_of[i] = best_depot;
        cost_of[i] = best;
        total += best;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        total += __shfl_down_sync(~0u, total, offset);
    if (threadIdx.x % 32 == 0)
        totals[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int w = 0; w < THREADS / 32; w++)
            sum += totals[w];
        total_of[blockIdx.x] = sum;
    }
}

static void point(unsigned *seed, float *x, float *y, float *z) {
    float latitude = 0.70f + 0.25f * lcg_next(seed, 1 << 20) / (1 << 20);
    float longitude = -0.10f + 0.60f * lcg_next(seed, 1 << 20) / (1 << 20);
    *x = cosf(latitude) * cosf(longitude);
    *y = cosf(latitude) * sinf(longitude);
    *z = sinf(latitude);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "depots");
    int addresses = p.small ? 5000 : 6000000;
    unsigned seed = 71;
    Depots h;
    for (int d = 0; d < DEPOTS; d++) {
        point(&seed, &h.x[d], &h.y[d], &h.z[d]);
        h.per_km[d] = 0.4f + 0.01f * lcg_next(&seed, 40);
        h.handling[d] = 2.0f + 0.1f * lcg_next(&seed, 30);
    }
    CUDA_CHECK(cudaMemcpyToSymbol(sites, &h, sizeof h));
    std::vector<float> x(addresses), y(addresses), z(addresses);
    for (int i = 0; i < addresses; i++)
        point(&seed, &x[i], &y[i], &z[i]);
    int blocks = (addresses + THREADS * PER_THREAD - 1) / (THREADS * PER_THREAD);
    float *d_x = device_copy_of(x.data(), addresses);
    float *d_y = device_copy_of(y.data(), addresses);
    float *d_z = device_copy_of(z.data(), addresses);
    int *d_depot = device_array<int>(addresses);
    float *d_cost = device_array<float>(addresses);
    float *d_total = device_array<float>(blocks);

    pair_time(&p, [&] { assign_depots<<<blocks, THREADS>>>(d_x, d_y, d_z, d_depot, d_cost, d_total, addresses); });

    std::vector<int> depot = host_copy_of(d_depot, addresses);
    std::vector<float> cost = host_copy_of(d_cost, addresses), total = host_copy_of(d_total, blocks);
    auto cost_on_cpu = [&](int i, int d) {
        double dx = (double)x[i] - h.x[d], dy = (double)y[i] - h.y[d], dz = (double)z[i] - h.z[d];
        return h.handling[d] + h.per_km[d] * (double)EARTH_KM * sqrt(dx * dx + dy * dy + dz * dz);
    };
    for (int i = 0; i < addresses; i += p.small ? 1 : 59) {
        double best = 1e30;
        for (int d = 0; d < DEPOTS; d++)
            best = std::min(best, cost_on_cpu(i, d));
        pair_near(&p, "cost", i, best, cost[i], 1e-4);
        pair_near(&p, "depot's cost", i, best, cost_on_cpu(i, std::min(std::max(depot[i], 0), DEPOTS - 1)), 1e-4);
    }
    for (int b = 0; b < blocks; b += 7) {
        double sum = 0;
        int end = std::min(addresses, (b + 1) * THREADS * PER_THREAD);
        for (int i = b * THREADS * PER_THREAD; i < end; i++)
            sum += cost[i];
        pair_near(&p, "total", b, sum, total[b], 1e-4);
    }
    for (float *array : {d_x, d_y, d_z, d_cost, d_total})
        CUDA_CHECK(cudaFree(array));
    CUDA_CHECK(cudaFree(d_depot));
    return pair_end(&p);
}
