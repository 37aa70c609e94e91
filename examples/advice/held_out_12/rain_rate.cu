// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: correction, rain rate and the sum over the hour are computed by one kernel instead of three.
// Why: reflectivities and rates are stored by one kernel only to be loaded by the next one.
#include "../common.h"

enum { BLOCK = 256, GATES = 1024 };

// Weather radar, each gate of each ray: echoes weaken on their way, clutter is no rain, and Z = 200 R^1.6.
static __host__ __device__ inline float corrected(float dbz, float clutter, int gate) {
    return dbz + 0.004f * (float)gate - (clutter > 0.5f ? 60.0f * (clutter - 0.5f) : 0.0f);
}
static __host__ __device__ inline float rate_of(float dbz) {
    return dbz < 10.0f ? 0.0f : fminf(exp2f((0.1f * dbz - 2.30103f) * (3.3219281f / 1.6f)), 150.0f);
}
static __host__ __device__ inline float total_of(float rate, float total) { return total + rate * (1.0f / 12); }

#ifdef AFTER
__global__ void rain_rate(const float *dbz, const float *clutter, const float *total, float *next_total) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    next_total[i] = total_of(rate_of(corrected(dbz[i], clutter[i], i % GATES)), total[i]);
}
#else
__global__ void rain_correct(const float *dbz, const float *clutter, float *clean) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    clean[i] = corrected(dbz[i], clutter[i], i % GATES);
}

__global__ void rain_rate(const float *clean, float *rate) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    rate[i] = rate_of(clean[i]);
}

__global__ void rain_total(const float *rate, const float *total, float *next_total) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    next_total[i] = total_of(rate[i], total[i]);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rain_rate");
    int n = p.small ? 1 << 13 : 1 << 23;
    std::vector<float> dbz = random_floats(n, 0, 60, 1), clutter = random_floats(n, 0, 1, 2),
                       total = random_floats(n, 0, 20, 3);
    float *d_dbz = device_copy_of(dbz.data(), n), *d_clutter = device_copy_of(clutter.data(), n),
          *d_total = device_copy_of(total.data(), n), *d_next = device_array<float>(n);
#ifdef AFTER
    pair_time(&p, [&] { rain_rate<<<n / BLOCK, BLOCK>>>(d_dbz, d_clutter, d_total, d_next); });
#else
    float *d_clean = device_array<float>(n), *d_rate = device_array<float>(n);
    pair_time(&p, [&] {
        rain_correct<<<n / BLOCK, BLOCK>>>(d_dbz, d_clutter, d_clean);
        rain_rate<<<n / BLOCK, BLOCK>>>(d_clean, d_rate);
        rain_total<<<n / BLOCK, BLOCK>>>(d_rate, d_total, d_next);
    });
#endif
    std::vector<float> next = host_copy_of(d_next, n);
    for (int i = 0; i < n; i += 499) {
        float clean = corrected(dbz[i], clutter[i], i % GATES);
        if (fabsf(clean - 10.0f) > 1e-4f)  // else rounding decides whether it rains
            pair_near(&p, "total", i, total_of(rate_of(clean), total[i]), next[i], 1e-4);
    }
    return pair_end(&p);
}
