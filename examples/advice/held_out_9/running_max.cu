// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the run of each thread is 17 words long in shared memory instead of 16.
// Why: lanes that are 16 words apart use two banks.
#include "../common.h"

enum { BLOCK = 128, RUN = 16 };
#ifdef AFTER
enum { PITCH = RUN + 1 };
#else
enum { PITCH = RUN };
#endif

// The largest value up to each place, within blocks of 2048.
__global__ void running_max(const float *in, float *out) {
    __shared__ float runs[BLOCK * PITCH], most[BLOCK];
    int t = threadIdx.x;
    const float *from = in + blockIdx.x * BLOCK * RUN;
    float *to = out + blockIdx.x * BLOCK * RUN;
    for (int i = t; i < BLOCK * RUN; i += BLOCK)
        runs[i / RUN * PITCH + i % RUN] = from[i];
    __syncthreads();
    float *own = &runs[t * PITCH];
    for (int k = 1; k < RUN; k++)
        own[k] = fmaxf(own[k], own[k - 1]);
    most[t] = own[RUN - 1];
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        float before = t >= step ? most[t - step] : -INFINITY;
        __syncthreads();
        most[t] = fmaxf(most[t], before);
        __syncthreads();
    }
    float before = t ? most[t - 1] : -INFINITY;
    for (int k = 0; k < RUN; k++)
        own[k] = fmaxf(own[k], before);
    __syncthreads();
    for (int i = t; i < BLOCK * RUN; i += BLOCK)
        to[i] = runs[i / RUN * PITCH + i % RUN];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "running_max");
    int n = p.small ? 1 << 15 : 1 << 23, each = BLOCK * RUN;
    std::vector<float> in = random_floats(n, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { running_max<<<n / each, BLOCK>>>(d_in, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n;) {
        float most = -INFINITY;
        for (int k = 0; k < each; k++, i++) {
            most = std::max(most, in[i]);
            pair_near(&p, "most", i, most, out[i], 0);
        }
    }
    return pair_end(&p);
}
