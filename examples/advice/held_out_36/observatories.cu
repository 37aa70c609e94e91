// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next block of samples is copied into a second buffer of shared memory by cp.async while the present one
// is being correlated, instead of being loaded through registers between two barriers.
// Why: the warps no longer wait for global memory at the start of every block of samples.
#include "../common.h"

#include <cuda_pipeline.h>

// The correlator of a radio interferometer: for each frequency channel the visibility of each pair of dishes, that is
// the mean over time of the one's signal times the conjugate of the other's.
constexpr int kDishes = 64;
constexpr int kSide = 16;  // threads along each side of the matrix of visibilities
constexpr int kThreads = kSide * kSide;
constexpr int kPer = kDishes / kSide;                                           // a thread has kPer * kPer pairs
constexpr int kTimes = 16;                                                      // of a block of samples
constexpr int kPieces = kTimes * kDishes * sizeof(float2) / sizeof(float4) / kThreads;  // 16-byte pieces of a thread
#ifdef AFTER
constexpr int kBuffers = 2;
#else
constexpr int kBuffers = 1;
#endif

// signal: [channel][time][dish]; visibility: [channel][dish][dish]
__global__ void __launch_bounds__(kThreads)
    correlate(const float2 *__restrict__ signal, float2 *__restrict__ visibility, int times) {
    __shared__ alignas(16) float2 samples[kBuffers][kTimes][kDishes];
    const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
    const float4 *from = (const float4 *)(signal + (size_t)blockIdx.x * times * kDishes);
    const int blocks = times / kTimes;

    auto copy = [&](int block) {
        float4 *to = (float4 *)samples[block % kBuffers];
        for (int i = 0; i < kPieces; i++) {
            int piece = i * kThreads + threadIdx.x;
#ifdef AFTER
            __pipeline_memcpy_async(&to[piece], &from[block * kPieces * kThreads + piece], sizeof(float4));
#else
            to[piece] = from[block * kPieces * kThreads + piece];
#endif
        }
    };

    float2 sum[kPer][kPer] = {};
#ifdef AFTER
    copy(0);
    __pipeline_commit();
#endif
    for (int block = 0; block < blocks; block++) {
#ifdef AFTER
        __pipeline_wait_prior(0);
        __syncthreads();
        if (block + 1 < blocks)
            copy(block + 1);
        __pipeline_commit();
#else
        __syncthreads();
        copy(block);
        __syncthreads();
#endif
        for (int t = 0; t < kTimes; t++) {
            const float2 *now = samples[block % kBuffers][t];
            float2 a[kPer], b[kPer];
#pragma unroll
            for (int k = 0; k < kPer; k++) {
                a[k] = now[ty + k * kSide];
                b[k] = now[tx + k * kSide];
            }
#pragma unroll
            for (int i = 0; i < kPer; i++) {
#pragma unroll
                for (int j = 0; j < kPer; j++) {
                    sum[i][j].x += a[i].x * b[j].x + a[i].y * b[j].y;
                    sum[i][j].y += a[i].y * b[j].x - a[i].x * b[j].y;
                }
            }
        }
    }

    float2 *out = visibility + (size_t)blockIdx.x * kDishes * kDishes;
    const float scale = 1.0f / times;
#pragma unroll
    for (int i = 0; i < kPer; i++)
#pragma unroll
        for (int j = 0; j < kPer; j++)
            out[(ty + i * kSide) * kDishes + tx + j * kSide] =
                make_float2(sum[i][j].x * scale, sum[i][j].y * scale);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "observatories");
    const int channels = p.small ? 2 : 768;
    const int times = p.small ? 48 : 512;
    const int recorded = p.small ? 2 : 24;  // channels with a signal of their own, repeated for the others
    const size_t per_channel = (size_t)times * kDishes;

    std::vector<float> noise = random_floats(recorded * per_channel * 2, -1.0f, 1.0f, 1420);
    float2 *d_signal = device_array<float2>(channels * per_channel);
    for (int c = 0; c < channels; c++)
        CUDA_CHECK(cudaMemcpy(d_signal + c * per_channel, &noise[c % recorded * per_channel * 2],
                              per_channel * sizeof(float2), cudaMemcpyHostToDevice));
    float2 *d_visibility = device_array<float2>((size_t)channels * kDishes * kDishes);

    pair_time(&p, [&] { correlate<<<channels, kThreads>>>(d_signal, d_visibility, times); });

    std::vector<float2> visibility = host_copy_of(d_visibility, (size_t)channels * kDishes * kDishes);
    const size_t every = p.small ? 1 : 487;
    for (size_t at = 0; at < visibility.size(); at += every) {
        size_t channel = at / (kDishes * kDishes), a = at / kDishes % kDishes, b = at % kDishes;
        const float *signal = &noise[channel % recorded * per_channel * 2];
        double x = 0, y = 0;
        for (int t = 0; t < times; t++) {
            const float *sa = signal + (t * kDishes + a) * 2, *sb = signal + (t * kDishes + b) * 2;
            x += (double)sa[0] * sb[0] + (double)sa[1] * sb[1];
            y += (double)sa[1] * sb[0] - (double)sa[0] * sb[1];
        }
        pair_near(&p, "real part", at, x / times, visibility[at].x, 1e-4);
        pair_near(&p, "imaginary part", at, y / times, visibility[at].y, 1e-4);
    }

    CUDA_CHECK(cudaFree(d_signal));
    CUDA_CHECK(cudaFree(d_visibility));
    return pair_end(&p);
}
