// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of samples is copied into a second buffer asynchronously while the present one is worked on.
// Why: with two blocks on an SM, often nobody computes while a tile is on its way from memory.
#include "../common.h"

#include <cuda/pipeline>

constexpr int kChannels = 32;   // geophones of an array
constexpr int kTile = 64;       // samples of a tile
constexpr int kPitch = kTile + 4;
constexpr int kSide = 16;
constexpr int kThreads = kSide * kSide;
constexpr int kCopies = kChannels * kTile / 4 / kThreads;
#ifdef AFTER
constexpr int kBuffers = 2;
#else
constexpr int kBuffers = 1;
#endif

__device__ inline void accumulate(float &sum, const float4 &a, const float4 &b) {
    sum += a.x * b.x;
    sum += a.y * b.y;
    sum += a.z * b.z;
    sum += a.w * b.w;
}

// The spatial covariance of one array's traces per block, two by two entries per thread.
__global__ void __launch_bounds__(kThreads) spatial_covariance(const float *traces, float *covariance, int samples) {
    __shared__ alignas(16) float buffer[kBuffers][kChannels][kPitch];
    const float *array = traces + (size_t)blockIdx.x * kChannels * samples;
    const int tid = threadIdx.y * kSide + threadIdx.x, tiles = samples / kTile;
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0;

#ifdef AFTER
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    auto request = [&](int tile) {
        pipe.producer_acquire();
        for (int c = 0; c < kCopies; c++) {
            int e = c * kThreads + tid, row = e / (kTile / 4), column = e % (kTile / 4) * 4;
            cuda::memcpy_async(&buffer[tile & 1][row][column], &array[(size_t)row * samples + tile * kTile + column],
                               cuda::aligned_size_t<16>(16), pipe);
        }
        pipe.producer_commit();
    };
    request(0);
#endif
    for (int tile = 0; tile < tiles; tile++) {
#ifdef AFTER
        if (tile + 1 < tiles) {
            request(tile + 1);
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        } else {
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        }
#else
        for (int c = 0; c < kCopies; c++) {
            int e = c * kThreads + tid, row = e / (kTile / 4), column = e % (kTile / 4) * 4;
            *(float4 *)&buffer[0][row][column] = *(const float4 *)&array[(size_t)row * samples + tile * kTile + column];
        }
#endif
        __syncthreads();
        const auto &x = buffer[tile % kBuffers];
#pragma unroll 4
        for (int s = 0; s < kTile; s += 4) {
            float4 a0 = *(const float4 *)&x[threadIdx.y][s], a1 = *(const float4 *)&x[threadIdx.y + kSide][s];
            float4 b0 = *(const float4 *)&x[threadIdx.x][s], b1 = *(const float4 *)&x[threadIdx.x + kSide][s];
            accumulate(c00, a0, b0);
            accumulate(c01, a0, b1);
            accumulate(c10, a1, b0);
            accumulate(c11, a1, b1);
        }
        __syncthreads();
#ifdef AFTER
        pipe.consumer_release();
#endif
    }

    float *out = covariance + (size_t)blockIdx.x * kChannels * kChannels, scale = 1.0f / samples;
    out[threadIdx.y * kChannels + threadIdx.x] = c00 * scale;
    out[threadIdx.y * kChannels + threadIdx.x + kSide] = c01 * scale;
    out[(threadIdx.y + kSide) * kChannels + threadIdx.x] = c10 * scale;
    out[(threadIdx.y + kSide) * kChannels + threadIdx.x + kSide] = c11 * scale;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "geophones");
    const int arrays = p.small ? 5 : 260, samples = p.small ? 10 * kTile : 100 * kTile;
    std::vector<float> traces = random_floats((size_t)arrays * kChannels * samples, -1, 1.25f, 31);
    float *d_traces = device_copy_of(traces.data(), traces.size());
    const size_t entries = (size_t)arrays * kChannels * kChannels;
    float *d_covariance = device_array<float>(entries);
    pair_time(&p, [&] {
        spatial_covariance<<<arrays, dim3(kSide, kSide)>>>(d_traces, d_covariance, samples);
    });
    std::vector<float> covariance = host_copy_of(d_covariance, entries);
    for (size_t e = 0; e < entries; e += p.small ? 3 : 331) {
        const float *a = &traces[e / kChannels * samples];
        const float *b = &traces[(e / (kChannels * kChannels) * kChannels + e % kChannels) * samples];
        double sum = 0;
        for (int s = 0; s < samples; s++)
            sum += (double)a[s] * b[s];
        pair_near(&p, "covariance", e, sum / samples, covariance[e], 1e-4);
    }
    return pair_end(&p);
}
