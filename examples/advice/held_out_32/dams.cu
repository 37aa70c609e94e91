// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the readings of a gauge is unrolled four times, with the old loop for the rest.
// Why: its step is known at run time only, so the compiler leaves it alone, and a thread has the loads of one reading
// under way at a time; unrolled, it has those of four.
#include "../common.h"

enum { TERMS = 4, SUMS = TERMS * (TERMS + 1) / 2 + TERMS, WARP = 32, BLOCK = 64, WARPS = BLOCK / WARP, UNROLL = 4 };

// What all gauges of the dam have in common, for every hour.
struct Conditions {
    const float *level, *warmth;  // of the lake, about their means
};

// The normal equations of a gauge: the triangle of the matrix, then the right side.
struct Normal {
    float sum[SUMS];
};

// Pore pressure as the hydrostatic part (1, level, level squared) and the season's; a reading below 0 is missing.
static __device__ void add_reading(Normal *normal, float level, float warmth, float pressure) {
    float valid = pressure >= 0 ? 1.0f : 0.0f;
    float term[TERMS] = {valid, valid * level, valid * level * level, valid * warmth};
    int s = 0;
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; j <= i; j++)
            normal->sum[s++] += term[i] * term[j];
    for (int i = 0; i < TERMS; i++)
        normal->sum[s++] += term[i] * pressure;
}

// Gauss without pivots: the matrix is positive definite.
template <typename T> static __host__ __device__ void solve(const T *sum, T *x) {
    T a[TERMS][TERMS + 1];
    int s = 0;
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; j <= i; j++)
            a[i][j] = a[j][i] = sum[s++];
    for (int i = 0; i < TERMS; i++)
        a[i][TERMS] = sum[s++];
    for (int k = 0; k < TERMS; k++)
        for (int i = k + 1; i < TERMS; i++) {
            T factor = a[i][k] / a[k][k];
            for (int j = k; j <= TERMS; j++)
                a[i][j] -= factor * a[k][j];
        }
    for (int i = TERMS - 1; i >= 0; i--) {
        x[i] = a[i][TERMS];
        for (int j = i + 1; j < TERMS; j++)
            x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
}

// A block fits the readings of one gauge.
__global__ void fit_gauges(const float *__restrict__ pressure, const Conditions conditions, float *__restrict__ fitted,
                           int hours) {
    __shared__ float partial[SUMS][WARPS];
    const float *__restrict__ level = conditions.level, *__restrict__ warmth = conditions.warmth;
    const float *__restrict__ mine = pressure + (size_t)blockIdx.x * hours;
    Normal normal = {{0}};
    int hour = threadIdx.x, step = blockDim.x;
#ifdef AFTER
    for (; hour + (UNROLL - 1) * step < hours; hour += UNROLL * step) {
        float lake[UNROLL], season[UNROLL], reading[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            lake[u] = level[hour + u * step];
            season[u] = warmth[hour + u * step];
            reading[u] = mine[hour + u * step];
        }
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            add_reading(&normal, lake[u], season[u], reading[u]);
    }
#endif
    for (; hour < hours; hour += step)
        add_reading(&normal, level[hour], warmth[hour], mine[hour]);
    for (int s = 0; s < SUMS; s++) {
        float sum = normal.sum[s];
        for (int apart = WARP / 2; apart > 0; apart /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, apart);
        if (threadIdx.x % WARP == 0)
            partial[s][threadIdx.x / WARP] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float x[TERMS];
        for (int s = 0; s < SUMS; s++) {
            normal.sum[s] = 0;
            for (int w = 0; w < WARPS; w++)
                normal.sum[s] += partial[s][w];
        }
        solve(normal.sum, x);
        for (int i = 0; i < TERMS; i++)
            fitted[blockIdx.x * TERMS + i] = x[i];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dams");
    int gauges = p.small ? 132 * 4 : 132 * 16, hours = p.small ? 1000 : 8760;
    std::vector<float> level(hours), warmth(hours), pressure((size_t)gauges * hours);
    for (int h = 0; h < hours; h++) {
        level[h] = sinf(0.0191f * h) + 0.4f * cosf(0.0047f * h);
        warmth[h] = cosf(0.0077f * h + 1) + 0.3f * sinf(0.26f * h);
    }
    unsigned seed = 7;
    for (int g = 0; g < gauges; g++)
        for (int h = 0; h < hours; h++) {
            float noise = lcg_next(&seed, 1 << 12) / 4096.0f, lake = level[h];
            pressure[(size_t)g * hours + h] =
                noise < 0.02f ? -1 : 3 + 0.001f * g + (0.5f + 0.1f * lake) * lake - 0.3f * warmth[h] + 0.2f * noise;
        }
    float *d_level = device_copy_of(level.data(), hours), *d_warmth = device_copy_of(warmth.data(), hours),
          *d_pressure = device_copy_of(pressure.data(), pressure.size()),
          *d_fitted = device_array<float>(gauges * TERMS);
    Conditions conditions = {d_level, d_warmth};
    pair_time(&p, [&] { fit_gauges<<<gauges, BLOCK>>>(d_pressure, conditions, d_fitted, hours); });
    std::vector<float> fitted = host_copy_of(d_fitted, gauges * TERMS);
    for (int g = 0; g < gauges; g += 37) {
        double sum[SUMS] = {0}, x[TERMS];
        for (int h = 0; h < hours; h++) {
            double lake = level[h], term[TERMS] = {1, lake, lake * lake, warmth[h]};
            float reading = pressure[(size_t)g * hours + h];
            if (reading < 0)
                continue;
            int s = 0;
            for (int i = 0; i < TERMS; i++)
                for (int j = 0; j <= i; j++)
                    sum[s++] += term[i] * term[j];
            for (int i = 0; i < TERMS; i++)
                sum[s++] += term[i] * reading;
        }
        solve(sum, x);
        for (int i = 0; i < TERMS; i++)
            pair_near(&p, "fitted", g * TERMS + i, x[i], fitted[g * TERMS + i], 1e-3);
    }
    return pair_end(&p);
}
