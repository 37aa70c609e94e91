// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: the grid has as many blocks as the SMs hold at once, instead of one for every twenty strips.
// Why: 270 blocks on 264 places leave six for a second wave, which lasts nearly as long as the first.
#include "../common.h"

enum { BLOCK = 1024, STEPS = 96, ON_SM = 2 };

struct Step {
    float at, weight;
};

// How worn each cell of a museum's carpets is after the steps on its strip; a cell is as thin as its worst moment.
__global__ __launch_bounds__(BLOCK, ON_SM) void wear(const Step *steps, const float *piles, float *left, float *worst,
                                                     int strips) {
    __shared__ Step own[STEPS];
    for (int strip = blockIdx.x; strip < strips; strip += gridDim.x) {
        if (threadIdx.x < STEPS)
            own[threadIdx.x] = steps[strip * STEPS + threadIdx.x];
        __syncthreads();
        float pile = piles[strip * BLOCK + threadIdx.x], most = 0;
        for (int s = 0; s < STEPS; s++) {
            float d = own[s].at - (float)threadIdx.x, near = fmaxf(1.0f - d * d * (1.0f / 6400.0f), 0.0f);
            float pressed = own[s].weight * near * near;
            pile -= pile * pressed;
            most = fmaxf(most, pressed);
        }
        left[strip * BLOCK + threadIdx.x] = pile;
        worst[strip * BLOCK + threadIdx.x] = most;
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "carpet_wear");
    int strips = p.small ? 20 : 5400;
#ifdef AFTER
    int sms = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    int blocks = std::min(strips, ON_SM * sms);
#else
    int blocks = p.small ? 3 : strips / 20;
#endif
    size_t n = (size_t)strips * BLOCK, count = (size_t)strips * STEPS;
    std::vector<float> at = random_floats(count, 0, BLOCK, 1), weight = random_floats(count, 0.001f, 0.05f, 2),
                       piles = random_floats(n, 6, 12, 3);
    std::vector<Step> steps(count);
    for (size_t i = 0; i < count; i++)
        steps[i] = {at[i], weight[i]};
    Step *d_steps = device_copy_of(steps.data(), count);
    float *d_piles = device_copy_of(piles.data(), n), *d_left = device_array<float>(n),
          *d_worst = device_array<float>(n);
    pair_time(&p, [&] { wear<<<blocks, BLOCK>>>(d_steps, d_piles, d_left, d_worst, strips); });
    std::vector<float> left = host_copy_of(d_left, n), worst = host_copy_of(d_worst, n);
    for (size_t i = 0; i < n; i += p.small ? 7 : 211) {
        double pile = piles[i], most = 0;
        for (int s = 0; s < STEPS; s++) {
            const Step &step = steps[i / BLOCK * STEPS + s];
            double d = step.at - (double)(i % BLOCK), near = std::max(1 - d * d / 6400, 0.0);
            pile -= pile * step.weight * near * near;
            most = std::max(most, step.weight * near * near);
        }
        pair_near(&p, "left", i, pile, left[i], 1e-4);
        pair_near(&p, "worst", i, most, worst[i], 1e-4);
    }
    return pair_end(&p);
}
