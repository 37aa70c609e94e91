// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps take the rows of the triangle in turn instead of 16 neighbouring rows each.
// Why: the first rows are the longest; the warps with the last ones wait at the barrier for the first warp.
#include "../common.h"

enum { PLOTS = 128, SPECIES = 16, BLOCK = 256, WARPS = BLOCK / 32, ROWS = PLOTS / WARPS };

// How unlike the plots of a site are (Bray and Curtis), from how much of each species grows on them: the most alike
// other plot of each plot, survey by survey; one block per site.
__global__ void unlike(const float *surveys, float *nearest, float *means, int count, int species) {
    __shared__ float cover[SPECIES][PLOTS];
    __shared__ float totals[PLOTS];
    __shared__ unsigned best[PLOTS];  // bits of floats that are never negative
    __shared__ float warp_sums[WARPS];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    for (int s = 0; s < count; s++) {
        size_t survey = (size_t)blockIdx.x * count + s;
        const float *from = surveys + survey * species * PLOTS;
        for (int i = t; i < species * PLOTS; i += BLOCK)
            cover[i / PLOTS][i % PLOTS] = from[i];
        __syncthreads();
        if (t < PLOTS) {
            float total = 0;
            for (int k = 0; k < species; k++)
                total += cover[k][t];
            totals[t] = total;
            best[t] = __float_as_uint(2.0f);
        }
        __syncthreads();
        float sum = 0;
        for (int r = 0; r < ROWS; r++) {
#ifdef AFTER
            int i = r * WARPS + warp;
#else
            int i = warp * ROWS + r;
#endif
            float own = totals[i];
            unsigned own_best = __float_as_uint(2.0f);
            for (int j = i + 1 + lane; j < PLOTS; j += 32) {
                float apart = 0;
                for (int k = 0; k < species; k++)
                    apart += fabsf(cover[k][i] - cover[k][j]);
                apart = __fdividef(apart, own + totals[j]);
                sum += apart;
                atomicMin(&best[j], __float_as_uint(apart));
                own_best = min(own_best, __float_as_uint(apart));
            }
            own_best = __reduce_min_sync(~0u, own_best);
            if (lane == 0)
                atomicMin(&best[i], own_best);
        }
        for (int gap = 16; gap; gap >>= 1)
            sum += __shfl_xor_sync(~0u, sum, gap);
        if (lane == 0)
            warp_sums[warp] = sum;
        __syncthreads();
        if (t < PLOTS)
            nearest[survey * PLOTS + t] = __uint_as_float(best[t]);
        if (t == 0) {
            for (int w = 1; w < WARPS; w++)
                sum += warp_sums[w];
            means[survey] = sum / (PLOTS * (PLOTS - 1) / 2);
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lichens");
    int sites = p.small ? 1 : 264, count = p.small ? 1 : 12, species = p.small ? 2 : SPECIES;
    size_t surveys = (size_t)sites * count, per_survey = (size_t)species * PLOTS;
    std::vector<float> covers = random_floats(surveys * per_survey, 0.02f, 1, 1);
    float *d_covers = device_copy_of(covers.data(), covers.size()),
          *d_nearest = device_array<float>(surveys * PLOTS), *d_means = device_array<float>(surveys);
    pair_time(&p, [&] { unlike<<<sites, BLOCK>>>(d_covers, d_nearest, d_means, count, species); });
    std::vector<float> nearest = host_copy_of(d_nearest, surveys * PLOTS), means = host_copy_of(d_means, surveys);
    for (size_t s = 0; s < surveys; s += p.small ? 1 : 17) {
        const float *cover = &covers[s * per_survey];
        std::vector<double> totals(PLOTS, 0.0), best(PLOTS, 2.0);
        for (size_t i = 0; i < per_survey; i++)
            totals[i % PLOTS] += cover[i];
        double sum = 0;
        for (int i = 0; i < PLOTS; i++)
            for (int j = i + 1; j < PLOTS; j++) {
                double apart = 0;
                for (int k = 0; k < species; k++)
                    apart += fabs((double)cover[k * PLOTS + i] - cover[k * PLOTS + j]);
                apart /= totals[i] + totals[j];
                sum += apart;
                best[i] = std::min(best[i], apart);
                best[j] = std::min(best[j], apart);
            }
        for (int i = 0; i < PLOTS; i++)
            pair_near(&p, "nearest", s * PLOTS + i, best[i], nearest[s * PLOTS + i], 1e-4);
        pair_near(&p, "mean", s, sum / (PLOTS * (PLOTS - 1) / 2), means[s], 1e-4);
    }
    return pair_end(&p);
}
