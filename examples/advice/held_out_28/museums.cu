// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps take a museum's exhibits in turn (every eighth one) instead of twelve neighbours each.
// Why: exhibits are sorted by their visits, so the first warp had most of the work and seven others waited for it.
#include "../common.h"

enum { BLOCK = 256, WARPS = BLOCK / 32, EXHIBITS = 96, SHARE = EXHIBITS / WARPS };

struct Visit {
    float seconds;  // in front of the exhibit
    float days_ago;
};

// One CTA for each museum: every exhibit's share of the attention that the museum got. first[] has where the visits of
// an exhibit begin; a museum's exhibits come with the most visited one first.
__global__ void __launch_bounds__(BLOCK) museums(const Visit *visits, const int *first, float fading, float *shares) {
    __shared__ float attention[EXHIBITS];
    __shared__ float total;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int *own = first + blockIdx.x * EXHIBITS;
    for (int k = 0; k < SHARE; k++) {
#ifdef AFTER
        int exhibit = k * WARPS + warp;
#else
        int exhibit = warp * SHARE + k;
#endif
        int end = own[exhibit + 1];
        float sum = 0;
        for (int v = own[exhibit] + lane; v < end; v += 32) {
            Visit visit = visits[v];
            sum += visit.seconds * __expf(-fading * visit.days_ago);
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            attention[exhibit] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        float sum = 0;
        for (int e = lane; e < EXHIBITS; e += 32)
            sum += attention[e];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            total = sum;
    }
    __syncthreads();
    if (threadIdx.x < EXHIBITS)
        shares[blockIdx.x * EXHIBITS + threadIdx.x] = attention[threadIdx.x] / total;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "museums");
    int count = p.small ? 12 : 5200;
    const float fading = 0.01f;
    std::vector<int> first(1, 0);
    unsigned seed = 11;
    for (int m = 0; m < count; m++)
        for (int e = 0; e < EXHIBITS; e++)
            first.push_back(first.back() + 1 + 1200 / (e + 4) + (int)lcg_next(&seed, 3));
    std::vector<Visit> visits(first.back());
    for (Visit &v : visits) {
        v.seconds = 5 + (float)lcg_next(&seed, 300);
        v.days_ago = (float)lcg_next(&seed, 365);
    }
    Visit *d_visits = device_copy_of(visits.data(), visits.size());
    int *d_first = device_copy_of(first.data(), first.size());
    float *d_shares = device_array<float>((size_t)count * EXHIBITS);
    pair_time(&p, [&] { museums<<<count, BLOCK>>>(d_visits, d_first, fading, d_shares); });
    std::vector<float> shares = host_copy_of(d_shares, (size_t)count * EXHIBITS);
    for (int m = 0; m < count; m += 1 + count / 50) {
        double attention[EXHIBITS], total = 0;
        for (int e = 0; e < EXHIBITS; e++) {
            attention[e] = 0;
            for (int v = first[m * EXHIBITS + e]; v < first[m * EXHIBITS + e + 1]; v++)
                attention[e] += visits[v].seconds * exp(-fading * visits[v].days_ago);
            total += attention[e];
        }
        for (int e = 0; e < EXHIBITS; e++)
            pair_near(&p, "share", m * EXHIBITS + e, attention[e] / total, shares[m * EXHIBITS + e], 1e-4);
    }
    return pair_end(&p);
}
