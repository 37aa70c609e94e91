// SPDX-License-Identifier: Apache-2.0
//
// AerialVision, section III-B, figure 8: Monte Carlo paths of the LIBOR market model after Giles and Xiaoke, one per
// thread. The forward rates of a path lie in local memory: every step of a path reads and writes all rates that
// are still open, so the interconnect is what the SMs compete for.
enum { RATES = 40, STEPS = 20, SWAPTIONS = 15 };  // half of the SDK's rates and steps

#define TEN(v) v, v, v, v, v, v, v, v, v, v
__constant__ float volatility[RATES] = {TEN(0.2f), TEN(0.2f), TEN(0.2f), TEN(0.2f)};
__constant__ int maturity[SWAPTIONS] = {2, 2, 2, 4, 4, 4, 10, 10, 10, 14, 14, 14, 20, 20, 20};
__constant__ float swap_rate[SWAPTIONS] = {.045f, .05f, .055f, .045f, .05f, .055f, .045f, .05f,
                                           .055f, .045f, .05f, .055f, .045f, .05f, .055f};

__device__ void evolve(float *rate, const float *shock, float delta) {
#pragma unroll 1
    for (int n = 0; n < STEPS; n++) {
        float root = sqrtf(delta) * shock[n], drift = 0;
#pragma unroll 1
        for (int i = n + 1; i < RATES; i++) {
            float v = volatility[i - n - 1], part = delta * v;
            drift += __fdividef(part * rate[i], 1 + delta * rate[i]);
            rate[i] *= __expf(part * drift + v * (root - .5f * part));
        }
    }
}

__device__ float value(const float *rate, float delta) {
    float discount[RATES - STEPS], swaps[RATES - STEPS], bond = 1, annuity = 0, sum = 0;
#pragma unroll 1
    for (int n = STEPS; n < RATES; n++) {
        bond = __fdividef(bond, 1 + delta * rate[n]);
        annuity += delta * bond;
        discount[n - STEPS] = bond;
        swaps[n - STEPS] = annuity;
    }
#pragma unroll 1
    for (int i = 0; i < SWAPTIONS; i++) {
        int m = maturity[i] - 1;
        float swap = discount[m] + swap_rate[i] * swaps[m] - 1;
        if (swap < 0)
            sum += -100 * swap;
    }
#pragma unroll 1
    for (int n = 0; n < STEPS; n++)
        sum = __fdividef(sum, 1 + delta * rate[n]);
    return sum;
}

__global__ void libor(float *values, int paths, float delta) {
    float rate[RATES], shock[STEPS];
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int path = thread; path < paths; path += blockDim.x * gridDim.x) {
#pragma unroll 1
        for (int i = 0; i < STEPS; i++)
            shock[i] = .3f;
#pragma unroll 1
        for (int i = 0; i < RATES; i++)
            rate[i] = .051f;
        evolve(rate, shock, delta);
        values[path] = value(rate, delta);
    }
}
