// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the samples of a call is unrolled, not kept rolled for the sake of small code.
// Why: a turn of it does three multiply-adds; the counter, the test, the branch and the addresses of the templates are
// more instructions than that.
#include "../common.h"

enum { BLOCK = 256, LONG = 128 };

__constant__ float contact[LONG], alarm_call[LONG];

// How much the sound of an aviary from each sample on is like the two calls of a parrot, however loud it is.
__global__ void listen(const float *sound, float2 *alike) {
    __shared__ float heard[BLOCK + LONG];
    int first = blockIdx.x * BLOCK;
    for (int k = threadIdx.x; k < BLOCK + LONG; k += BLOCK)
        heard[k] = sound[first + k];
    __syncthreads();
    float near = 0, danger = 0, power = 0.01f;
#ifdef AFTER
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int k = 0; k < LONG; k++) {
        float value = heard[threadIdx.x + k];
        near += contact[k] * value;
        danger += alarm_call[k] * value;
        power += value * value;
    }
    float scale = rsqrtf(power);
    alike[first + threadIdx.x] = make_float2(near * scale, danger * scale);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "parrots");
    int n = p.small ? 16 * BLOCK : 132 * 2048 * 32;
    std::vector<float> sound = random_floats((size_t)n + LONG, -1, 1, 1), noise = random_floats(LONG, 0, 0.2f, 2);
    std::vector<float> low(LONG), high(LONG);
    for (int k = 0; k < LONG; k++) {
        float window = sinf(3.1415926f * (k + 0.5f) / LONG) * 0.125f;
        low[k] = window * sinf(0.002f * k * k + noise[k]);
        high[k] = window * cosf(0.9f * k - noise[k]);
    }
    CUDA_CHECK(cudaMemcpyToSymbol(contact, low.data(), LONG * sizeof(float)));
    CUDA_CHECK(cudaMemcpyToSymbol(alarm_call, high.data(), LONG * sizeof(float)));
    float *d_sound = device_copy_of(sound.data(), (size_t)n + LONG);
    float2 *d_alike = device_array<float2>(n);
    pair_time(&p, [&] { listen<<<n / BLOCK, BLOCK>>>(d_sound, d_alike); });
    std::vector<float2> alike = host_copy_of(d_alike, n);
    for (int i = 0; i < n; i += p.small ? 1 : 97) {
        double near = 0, danger = 0, power = 0.01;
        for (int k = 0; k < LONG; k++) {
            double value = sound[i + k];
            near += low[k] * value;
            danger += high[k] * value;
            power += value * value;
        }
        pair_near(&p, "contact", i, near / sqrt(power), alike[i].x, 1e-4);
        pair_near(&p, "alarm", i, danger / sqrt(power), alike[i].y, 1e-4);
    }
    return pair_end(&p);
}
