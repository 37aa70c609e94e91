// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: blocks of 256 threads instead of 1024.
// Why: with 1024 threads a thread has 64 registers at most, but its sums alone are 65: many of them are spilled.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 1024 };
#endif

enum { TERMS = 10, SUMS = TERMS * (TERMS + 1) / 2 };

template <typename T> static __host__ __device__ void terms_at(T x, T y, T z, T *f) {
    f[0] = 1, f[1] = x, f[2] = y, f[3] = z, f[4] = x * x, f[5] = y * y, f[6] = z * z, f[7] = x * y, f[8] = x * z,
    f[9] = y * z;
}

static __host__ __device__ constexpr int at(int row, int column) { return row * (row + 1) / 2 + column; }

// Solves A x = b in place; A is symmetric, its lower half is given.
template <typename T> static __host__ __device__ void solve(T *a, T *b) {
#pragma unroll
    for (int j = 0; j < TERMS; j++) {
#pragma unroll
        for (int k = 0; k < j; k++)
            b[j] -= a[at(j, k)] * b[k];
        T scale = 1 / sqrt(a[at(j, j)]);
        a[at(j, j)] = scale;
        b[j] *= scale;
#pragma unroll
        for (int i = j + 1; i < TERMS; i++) {
            a[at(i, j)] *= scale;
#pragma unroll
            for (int k = j + 1; k <= i; k++)
                a[at(i, k)] -= a[at(i, j)] * a[at(k, j)];
        }
    }
#pragma unroll
    for (int j = TERMS - 1; j >= 0; j--) {
#pragma unroll
        for (int k = j + 1; k < TERMS; k++)
            b[j] -= a[at(k, j)] * b[k];
        b[j] *= a[at(j, j)];
    }
}

// A probe measured the sugar at some places (x, y, z) in each peach: fit a quadratic model of it, one peach per thread.
__global__ void __launch_bounds__(BLOCK)
    fit_sugar(const float4 *__restrict__ probes, float *__restrict__ models, int peaches, int places, float ridge) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= peaches)
        return;
    float a[SUMS] = {}, b[TERMS] = {};
    for (int k = 0; k < places; k++) {
        float4 probe = probes[(size_t)k * peaches + i];
        float f[TERMS];
        terms_at(probe.x, probe.y, probe.z, f);
#pragma unroll
        for (int r = 0; r < TERMS; r++) {
            b[r] += f[r] * probe.w;
#pragma unroll
            for (int c = 0; c <= r; c++)
                a[at(r, c)] += f[r] * f[c];
        }
    }
#pragma unroll
    for (int r = 0; r < TERMS; r++)
        a[at(r, r)] += ridge;
    solve(a, b);
#pragma unroll
    for (int r = 0; r < TERMS; r++)
        models[(size_t)r * peaches + i] = b[r];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "peaches");
    int peaches = p.small ? 600 : 132 * 2048, places = p.small ? 12 : 24;
    float ridge = 0.5f;
    size_t count = (size_t)peaches * places;
    std::vector<float> values = random_floats(4 * count, -1, 1, 3);
    float4 *d_probes = (float4 *)device_copy_of(values.data(), values.size());
    float *d_models = device_array<float>((size_t)TERMS * peaches);
    pair_time(&p, [&] {
        fit_sugar<<<(peaches + BLOCK - 1) / BLOCK, BLOCK>>>(d_probes, d_models, peaches, places, ridge);
    });
    std::vector<float> models = host_copy_of(d_models, (size_t)TERMS * peaches);
    for (int i = 0; i < peaches; i += p.small ? 1 : 61) {
        double a[SUMS] = {}, b[TERMS] = {}, f[TERMS];
        for (int k = 0; k < places; k++) {
            const float *probe = &values[4 * ((size_t)k * peaches + i)];
            terms_at<double>(probe[0], probe[1], probe[2], f);
            for (int r = 0; r < TERMS; r++) {
                b[r] += f[r] * probe[3];
                for (int c = 0; c <= r; c++)
                    a[at(r, c)] += f[r] * f[c];
            }
        }
        for (int r = 0; r < TERMS; r++)
            a[at(r, r)] += ridge;
        solve(a, b);
        for (int r = 0; r < TERMS; r++)
            pair_near(&p, "models", (size_t)r * peaches + i, b[r], models[(size_t)r * peaches + i], 2e-3);
    }
    return pair_end(&p);
}
