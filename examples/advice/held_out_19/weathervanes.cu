// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the shared memory of a block is as large as the window asked for, not as the longest window allowed.
// Why: with the space for the longest window only two blocks fit on a multiprocessor, too few to wait for memory.
#include "../common.h"

enum { BLOCK = 128, LONGEST = 96 };

// Running means of the wind at many weather vanes (a vector over `window` readings): the strongest there was (squared),
// and how far round it went.
__global__ void veer(const float2 *winds, float *strongest, float *turned, int vanes, int readings, int window) {
    extern __shared__ float2 recent[];  // [window][BLOCK]
    int vane = blockIdx.x * BLOCK + threadIdx.x;
    for (int s = 0; s < window; s++)
        recent[s * BLOCK + threadIdx.x] = make_float2(0, 0);
    float2 before = make_float2(0, 0);
    float most = 0, turn = 0, scale = 1.0f / window;
    int slot = 0;
    for (int r = 0; r < readings; r++) {
        float2 wind = winds[(size_t)r * vanes + vane], old = recent[slot * BLOCK + threadIdx.x];
        recent[slot * BLOCK + threadIdx.x] = wind;
        slot = slot + 1 == window ? 0 : slot + 1;
        float2 mean = make_float2(before.x + scale * (wind.x - old.x), before.y + scale * (wind.y - old.y));
        turn += before.x * mean.y - before.y * mean.x;
        most = fmaxf(most, mean.x * mean.x + mean.y * mean.y);
        before = mean;
    }
    strongest[vane] = most;
    turned[vane] = turn;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "weathervanes");
    int blocks = p.small ? 2 : 132 * 16, vanes = blocks * BLOCK, readings = p.small ? 24 : 96, window = 6;
    size_t n = (size_t)vanes * readings;
    std::vector<float> parts = random_floats(2 * n, -3, 9, 1);
    float2 *d_winds = device_copy_of((const float2 *)parts.data(), n);
    float *d_strongest = device_array<float>(vanes), *d_turned = device_array<float>(vanes);
#ifdef AFTER
    size_t shared = window * BLOCK * sizeof(float2);
#else
    size_t shared = LONGEST * BLOCK * sizeof(float2);
#endif
    CUDA_CHECK(cudaFuncSetAttribute(veer, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    LONGEST * BLOCK * sizeof(float2)));
    pair_time(&p, [&] { veer<<<blocks, BLOCK, shared>>>(d_winds, d_strongest, d_turned, vanes, readings, window); });
    std::vector<float> strongest = host_copy_of(d_strongest, vanes), turned = host_copy_of(d_turned, vanes);
    for (int vane = 0; vane < vanes; vane += p.small ? 3 : 151) {
        double most = 0, turn = 0, x = 0, y = 0;
        for (int r = 0; r < readings; r++) {
            double nx = 0, ny = 0;
            for (int s = std::max(0, r - window + 1); s <= r; s++) {
                nx += parts[2 * ((size_t)s * vanes + vane)] / (double)window;
                ny += parts[2 * ((size_t)s * vanes + vane) + 1] / (double)window;
            }
            turn += x * ny - y * nx;
            most = std::max(most, nx * nx + ny * ny);
            x = nx;
            y = ny;
        }
        pair_near(&p, "strongest", vane, most, strongest[vane], 1e-4);
        pair_near(&p, "turned", vane, turn, turned[vane], 2e-3);
    }
    return pair_end(&p);
}
