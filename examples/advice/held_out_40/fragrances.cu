// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: spills
// Change: a thread compares 8 by 8 samples, whose sums its 128 registers hold, instead of 16 by 8.
// Why: 128 sums and the samples' values are more than two blocks on a multiprocessor leave for each thread; part of
//      the sums was fetched from local memory and put back for every peak of the chromatograms.
#include "../common.h"

enum { THREADS = 16, BLOCK = THREADS * THREADS, DEEP = 8, COLS = 8, ACROSS = THREADS * COLS };
#ifdef AFTER
enum { ROWS = 8 };
#else
enum { ROWS = 16 };
#endif
enum { DOWN = THREADS * ROWS };

// Brings DEEP peaks of WIDE samples that lie next to each other.
template <int WIDE>
__device__ static inline void stage(float (*tile)[WIDE], const float *peaks, int samples, int first, int from) {
    for (int i = threadIdx.x; i < DEEP * WIDE; i += BLOCK)
        tile[i / WIDE][i % WIDE] = peaks[(size_t)(from + i / WIDE) * samples + first + i % WIDE];
}

// The Manhattan distance of the chromatograms of all perfumes from each other. peaks: all samples of a peak together.
__global__ void __launch_bounds__(BLOCK, 2)
    manhattan(const float *peaks, float *distance, int samples, int peak_count) {
    __shared__ float left[DEEP][DOWN], right[DEEP][ACROSS];
    int x = threadIdx.x % THREADS, y = threadIdx.x / THREADS;
    int row = blockIdx.y * DOWN, column = blockIdx.x * ACROSS;
    float sum[ROWS][COLS] = {{0}};
    for (int from = 0; from < peak_count; from += DEEP) {
        stage(left, peaks, samples, row, from);
        stage(right, peaks, samples, column, from);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEEP; k++) {
            float a[ROWS], b[COLS];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                a[i] = left[k][y * ROWS + i];
#pragma unroll
            for (int j = 0; j < COLS; j++)
                b[j] = right[k][x + j * THREADS];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int j = 0; j < COLS; j++)
                    sum[i][j] += fabsf(a[i] - b[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++)
            distance[(size_t)(row + y * ROWS + i) * samples + column + x + j * THREADS] = sum[i][j];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fragrances");
    int samples = p.small ? 256 : 6144, peak_count = p.small ? 16 : 192;
    std::vector<float> peaks = random_floats((size_t)samples * peak_count, 0.f, 1.f, 12);
    for (float &peak : peaks)
        peak *= peak * peak;
    float *d_peaks = device_copy_of(peaks.data(), peaks.size());
    float *d_distance = device_array<float>((size_t)samples * samples);
    dim3 grid(samples / ACROSS, samples / DOWN);
    pair_time(&p, [&] { manhattan<<<grid, BLOCK>>>(d_peaks, d_distance, samples, peak_count); });
    std::vector<float> distance = host_copy_of(d_distance, (size_t)samples * samples);
    for (size_t at = 0; at < distance.size(); at += p.small ? 7 : 1009) {
        const float *a = &peaks[at / samples], *b = &peaks[at % samples];
        double sum = 0;
        for (int k = 0; k < peak_count; k++)
            sum += fabs(a[(size_t)k * samples] - b[(size_t)k * samples]);
        pair_near(&p, "distance", at, sum, distance[at], 1e-4);
    }
    return pair_end(&p);
}
