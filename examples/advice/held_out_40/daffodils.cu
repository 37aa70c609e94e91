// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: a block has 128 threads instead of 1024.
// Why: with 1024 threads the compiler may give each 64 registers at most, and the six slopes of 14 proteins are more;
//      they were spilled to local memory in every step, with 128 threads they all stay in registers.
#include "../common.h"

#ifdef __CUDA_ARCH__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

enum { PROTEINS = 14, STAGES = 6 };
#ifdef AFTER
enum { BLOCK = 128 };
#else
enum { BLOCK = 1024 };
#endif

// How fast a protein is made active by the one before it, and how fast it falls back.
__constant__ float2 rates[PROTEINS];

// Cash and Karp's method: what goes into each stage, the result and its error.
__host__ __device__ constexpr float weight(int stage, int k) {
    constexpr float table[STAGES + 2][STAGES] = {
        {0, 0, 0, 0, 0, 0},
        {1 / 5.f, 0, 0, 0, 0, 0},
        {3 / 40.f, 9 / 40.f, 0, 0, 0, 0},
        {3 / 10.f, -9 / 10.f, 6 / 5.f, 0, 0, 0},
        {-11 / 54.f, 5 / 2.f, -70 / 27.f, 35 / 27.f, 0, 0},
        {1631 / 55296.f, 175 / 512.f, 575 / 13824.f, 44275 / 110592.f, 253 / 4096.f, 0},
        {37 / 378.f, 0, 250 / 621.f, 125 / 594.f, 0, 512 / 1771.f},
        {37 / 378.f - 2825 / 27648.f, 0, 250 / 621.f - 18575 / 48384.f, 125 / 594.f - 13525 / 55296.f, -277 / 14336.f,
         512 / 1771.f - 1 / 4.f}};
    return table[stage][k];
}

// The share of each protein that is active; the first is driven by light, and held back by the last.
template <typename T>
__host__ __device__ static inline void slope(const T *active, T *change, T light, const float2 *rate) {
    UNROLL
    for (int i = 0; i < PROTEINS; i++) {
        T drive = i ? active[i - 1] : light * (1 - active[PROTEINS - 1]);
        change[i] = rate[i].x * drive * (1 - active[i]) - rate[i].y * active[i];
    }
}

// One step of length h; returns the largest estimate of the error.
template <typename T> __host__ __device__ static inline T advance(T *active, T light, T h, const float2 *rate) {
    T k[STAGES][PROTEINS], at[PROTEINS], worst = 0;
    UNROLL
    for (int s = 0; s < STAGES; s++) {
        UNROLL
        for (int i = 0; i < PROTEINS; i++) {
            T sum = 0;
            UNROLL
            for (int e = 0; e < s; e++)
                sum += weight(s, e) * k[e][i];
            at[i] = active[i] + h * sum;
        }
        slope(at, k[s], light, rate);
    }
    UNROLL
    for (int i = 0; i < PROTEINS; i++) {
        T sum = 0, error = 0;
        UNROLL
        for (int s = 0; s < STAGES; s++) {
            if (weight(STAGES, s) != 0)
                sum += weight(STAGES, s) * k[s][i];
            if (weight(STAGES + 1, s) != 0)
                error += weight(STAGES + 1, s) * k[s][i];
        }
        active[i] += h * sum;
        error = h * (error < 0 ? -error : error);
        worst = error > worst ? error : worst;
    }
    return worst;
}

// Follows the signal of light through the cells of a bud, whose levels of light differ.
__global__ void __launch_bounds__(BLOCK)
    follow(const float *light, float *last, float *mean, float *errors, int cells, int steps, float h) {
    int cell = blockIdx.x * BLOCK + threadIdx.x;
    if (cell >= cells)
        return;
    float active[PROTEINS] = {0}, error = 0, sum = 0, mine = light[cell];
    for (int s = 0; s < steps; s++) {
        error = fmaxf(error, advance(active, mine, h, rates));
        sum += active[PROTEINS - 1];
    }
    last[cell] = active[PROTEINS - 1];
    mean[cell] = sum / steps;
    errors[cell] = error;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "daffodils");
    int cells = p.small ? 2000 : 132 * 2048, steps = p.small ? 8 : 64;
    float h = p.small ? 0.5f : 0.25f;
    std::vector<float2> rate(PROTEINS);
    UNROLL
    for (int i = 0; i < PROTEINS; i++)
        rate[i] = make_float2(1.6f + 0.1f * (i * 5 % 7), 0.25f + 0.05f * (i * 3 % 5));
    CUDA_CHECK(cudaMemcpyToSymbol(rates, rate.data(), PROTEINS * sizeof(float2)));
    std::vector<float> light = random_floats(cells, 0.2f, 1.5f, 3);
    float *d_light = device_copy_of(light.data(), cells), *d_last = device_array<float>(cells);
    float *d_mean = device_array<float>(cells), *d_errors = device_array<float>(cells);
    int blocks = (cells + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { follow<<<blocks, BLOCK>>>(d_light, d_last, d_mean, d_errors, cells, steps, h); });
    std::vector<float> last = host_copy_of(d_last, cells), mean = host_copy_of(d_mean, cells);
    std::vector<float> errors = host_copy_of(d_errors, cells);
    for (int c = 0; c < cells; c += p.small ? 3 : 271) {
        double active[PROTEINS] = {0}, error = 0, sum = 0;
        for (int s = 0; s < steps; s++) {
            error = std::max(error, advance<double>(active, light[c], h, rate.data()));
            sum += active[PROTEINS - 1];
        }
        pair_near(&p, "last", c, active[PROTEINS - 1], last[c], 1e-4);
        pair_near(&p, "mean", c, sum / steps, mean[c], 1e-4);
        pair_near(&p, "error", c, error, errors[c], 1e-4);
    }
    return pair_end(&p);
}
