// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the place in the ring buffer is wrapped by a comparison and a subtraction instead of a remainder.
// Why: a remainder by a length known only at run time is a score of instructions for every sample that is added up;
// the sum of two places is less than twice the length, so one subtraction is enough.
#include "../common.h"

// Search for pulsars: incoherent dedispersion. The newest samples of all frequency channels are in ring buffers of
// 8-bit samples; for each trial dispersion measure the channels are added up, each as late as dispersion makes it.
constexpr int kThreads = 256;

__host__ __device__ static inline int wrapped(int at, int length) {
#ifdef AFTER
    return at >= length ? at - length : at;
#else
    return at % length;
#endif
}

// ring: [channel][length]; delays: [trial][channel], each less than length; series: [trial][times]
__global__ void __launch_bounds__(kThreads)
    dedisperse(const unsigned char *__restrict__ ring, const int *__restrict__ delays, float *__restrict__ series,
               int channels, int length, int oldest, int times) {
    __shared__ float warp_sum[kThreads / 32];
    const int trial = blockIdx.y;
    const int time = blockIdx.x * kThreads + threadIdx.x;
    const int *delay = delays + (size_t)trial * channels;
    const int start = wrapped(oldest + min(time, times - 1), length);

    int sum = 0;
    for (int c = 0; c < channels; c++) {
        int at = wrapped(start + delay[c], length);
        sum += ring[(size_t)c * length + at];
    }

    // the baseline is the mean over the CTA's part of the series
    float part = time < times ? (float)sum : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2)
        part += __shfl_xor_sync(0xffffffffu, part, offset);
    if (threadIdx.x % 32 == 0)
        warp_sum[threadIdx.x / 32] = part;
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < kThreads / 32; w++)
        total += warp_sum[w];
    int here = min(kThreads, times - (int)blockIdx.x * kThreads);
    if (time < times)
        series[(size_t)trial * times + time] = (float)sum - total / here;
}

// Delays in samples, by the cold-plasma law, relative to the band's upper edge.
static std::vector<int> make_delays(int trials, int channels, double longest) {
    const double top = 1500.0, width = 300.0;  // MHz
    auto law = [&](double mhz) { return 1.0 / (mhz * mhz) - 1.0 / (top * top); };
    std::vector<int> delays((size_t)trials * channels);
    for (int d = 0; d < trials; d++)
        for (int c = 0; c < channels; c++) {
            double mhz = top - width * (c + 0.5) / channels;
            delays[(size_t)d * channels + c] = (int)(longest * d / trials * law(mhz) / law(top - width));
        }
    return delays;
}

static int sum_of(const std::vector<unsigned char> &ring, const int *delay, int channels, int length, int start) {
    int sum = 0;
    for (int c = 0; c < channels; c++)
        sum += ring[(size_t)c * length + (start + delay[c]) % length];
    return sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pulsar_folds");
    const int channels = p.small ? 24 : 512;
    const int length = p.small ? 900 : 24000;
    const int times = p.small ? 400 : 20000;  // the rest of the ring is what the longest delay needs
    const int trials = p.small ? 2 : 64;
    const int oldest = length - times / 2;

    std::vector<unsigned char> ring((size_t)channels * length);
    lcg_fill(ring.data(), ring.size(), 1967, 256);
    std::vector<int> delays = make_delays(trials, channels, length - times - 1);
    unsigned char *d_ring = device_copy_of(ring.data(), ring.size());
    int *d_delays = device_copy_of(delays.data(), delays.size());
    float *d_series = device_array<float>((size_t)trials * times);

    const dim3 grid((times + kThreads - 1) / kThreads, trials);
    pair_time(&p, [&] {
        dedisperse<<<grid, kThreads>>>(d_ring, d_delays, d_series, channels, length, oldest, times);
    });

    std::vector<float> series = host_copy_of(d_series, (size_t)trials * times);
    const int parts = (int)grid.x;
    for (int job = 0; job < trials * parts; job += p.small ? 1 : 47) {
        int trial = job / parts, first = job % parts * kThreads;
        int here = std::min(kThreads, times - first);
        std::vector<int> sums(here);
        double mean = 0;
        for (int i = 0; i < here; i++) {
            int start = (oldest + first + i) % length;
            sums[i] = sum_of(ring, &delays[(size_t)trial * channels], channels, length, start);
            mean += (double)sums[i] / here;
        }
        for (int i = 0; i < here; i++)
            if (fabs(sums[i] - mean - series[(size_t)trial * times + first + i]) > 0.1)
                pair_near(&p, "series", (size_t)trial * times + first + i, sums[i] - mean,
                          series[(size_t)trial * times + first + i], 0);
    }

    CUDA_CHECK(cudaFree(d_ring));
    CUDA_CHECK(cudaFree(d_delays));
    CUDA_CHECK(cudaFree(d_series));
    return pair_end(&p);
}
