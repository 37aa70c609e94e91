// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the parts of a sum are added by a warp with shuffles, no longer by one thread.
// Why: 255 threads wait for one that adds up.
#include "../common.h"

enum { BLOCK = 256 };

// The mean of each station's 4096 measurements, and how far each is from it.
__global__ void station_means(const float *in, float *out, int count) {
    __shared__ float parts[BLOCK], mean;
    int t = threadIdx.x;
    const float *from = in + (size_t)blockIdx.x * count;
    float *to = out + (size_t)blockIdx.x * count, sum = 0;
    for (int i = t; i < count; i += BLOCK)
        sum += from[i];
    parts[t] = sum;
    __syncthreads();
#ifdef AFTER
    if (t < 32) {
        float all = 0;
        for (int k = t; k < BLOCK; k += 32)
            all += parts[k];
        for (int d = 16; d; d /= 2)
            all += __shfl_down_sync(~0u, all, d);
        if (t == 0)
            mean = all / count;
    }
#else
    if (t == 0) {
        float all = 0;
        for (int k = 0; k < BLOCK; k++)
            all += parts[k];
        mean = all / count;
    }
#endif
    __syncthreads();
    for (int i = t; i < count; i += BLOCK)
        to[i] = from[i] - mean;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "station_means");
    int stations = p.small ? 16 : 4096, count = 1024;
    std::vector<float> in = random_floats((size_t)stations * count, -1, 3, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { station_means<<<stations, BLOCK>>>(d_in, d_out, count); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int s = 0; s < stations; s += 13) {
        double mean = 0;
        for (int i = 0; i < count; i++)
            mean += in[(size_t)s * count + i] / count;
        pair_near(&p, "difference", s, in[(size_t)s * count + 7] - mean, out[(size_t)s * count + 7], 1e-4);
    }
    return pair_end(&p);
}
