// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the fencers are dealt out to the warps in turn; a warp no longer gets as many that follow each other.
// Why: the first ones still have to meet all the others, the last ones nobody; the block waits for its first warp.
#include "../common.h"

enum { BLOCK = 1024, WARPS = BLOCK / 32, MOST = 512 };

struct Fencer {
    float skill, style;
};

// How thrilling a duel is: the more open it is and the more alike the styles are, the more.
static __device__ float thrill(Fencer a, Fencer b) {
    float wins = __fdividef(1.0f, 1.0f + __expf(b.skill - a.skill));
    return __fdividef(wins * (1 - wins), 1.0f + fabsf(a.style - b.style));
}

// One tournament per block; each pair of fencers counts once, for the one who comes first in the list.
__global__ void __launch_bounds__(BLOCK)
    rate_tournaments(const Fencer *fencers, float *seasons, float *best, int in_each) {
    __shared__ Fencer list[MOST];
    __shared__ float season[MOST], warp_best[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int k = threadIdx.x; k < in_each; k += BLOCK)
        list[k] = fencers[(size_t)blockIdx.x * in_each + k];
    __syncthreads();
#ifdef AFTER
    int first = warp, end = in_each, step = WARPS;
#else
    int share = (in_each + WARPS - 1) / WARPS;
    int first = warp * share, end = min(in_each, first + share), step = 1;
#endif
    for (int i = first; i < end; i += step) {
        float sum = 0;
        Fencer me = list[i];
        for (int j = i + 1 + lane; j < in_each; j += 32)
            sum += thrill(me, list[j]);
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0)
            season[i] = sum;
    }
    __syncthreads();
    float top = 0;
    for (int k = threadIdx.x; k < in_each; k += BLOCK) {
        float mean = season[k] / fmaxf(1.0f, in_each - 1.0f - k);
        seasons[(size_t)blockIdx.x * in_each + k] = season[k];
        top = fmaxf(top, mean);
    }
    for (int d = 16; d > 0; d /= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
    if (lane == 0)
        warp_best[warp] = top;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++)
            top = fmaxf(top, warp_best[w]);
        best[blockIdx.x] = top;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "duels");
    int tournaments = p.small ? 3 : 132 * 8, in_each = p.small ? 150 : MOST;
    size_t count = (size_t)tournaments * in_each;
    std::vector<float> skills = random_floats(count, 0, 4, 1), styles = random_floats(count, 0, 3, 2);
    std::vector<Fencer> fencers(count);
    for (size_t i = 0; i < count; i++)
        fencers[i] = {skills[i], styles[i]};
    Fencer *d_fencers = device_copy_of(fencers.data(), count);
    float *d_seasons = device_array<float>(count), *d_best = device_array<float>(tournaments);
    pair_time(&p, [&] { rate_tournaments<<<tournaments, BLOCK>>>(d_fencers, d_seasons, d_best, in_each); });
    std::vector<float> seasons = host_copy_of(d_seasons, count), best = host_copy_of(d_best, tournaments);
    for (int t = 0; t < tournaments; t += p.small ? 1 : 150) {
        double top = 0;
        for (int i = 0; i < in_each; i++) {
            const Fencer *list = &fencers[(size_t)t * in_each];
            double sum = 0;
            for (int j = i + 1; j < in_each; j++) {
                double wins = 1 / (1 + exp((double)list[j].skill - list[i].skill));
                sum += wins * (1 - wins) / (1 + fabs((double)list[i].style - list[j].style));
            }
            top = std::max(top, sum / std::max(1, in_each - 1 - i));
            pair_near(&p, "seasons", (size_t)t * in_each + i, sum, seasons[(size_t)t * in_each + i], 1e-4);
        }
        pair_near(&p, "best", t, top, best[t], 1e-4);
    }
    return pair_end(&p);
}
