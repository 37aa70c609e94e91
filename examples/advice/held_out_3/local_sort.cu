// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: the values of a thread are BLOCK words apart in shared memory, not next to each other.
// Why: sixteen values lie from one lane to the next, so that all lanes are in two banks.
#include "../common.h"

enum { BLOCK = 128, OWN = 16 };

__global__ void local_sort(const float *in, float *out, int n) {
    __shared__ float values[BLOCK * OWN];
#ifdef AFTER
    const int first = threadIdx.x, stride = BLOCK;
#else
    const int first = threadIdx.x * OWN, stride = 1;
#endif
    int i = blockIdx.x * BLOCK + threadIdx.x;
    for (int k = 0; k < OWN; k++)
        values[first + k * stride] = in[k * n + i];
    for (int k = 1; k < OWN; k++) {
        float value = values[first + k * stride];
        int j = k;
        for (; j > 0 && values[first + (j - 1) * stride] > value; j--)
            values[first + j * stride] = values[first + (j - 1) * stride];
        values[first + j * stride] = value;
    }
    for (int k = 0; k < OWN; k++)
        out[k * n + i] = values[first + k * stride];
}

// Sorts sixteen values of each thread.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "local_sort");
    int n = p.small ? 1 << 12 : 1 << 19;
    std::vector<float> in = random_floats((size_t)OWN * n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { local_sort<<<n / BLOCK, BLOCK>>>(d_in, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int i = 0; i < n; i += 127) {
        float sorted[OWN];
        for (int k = 0; k < OWN; k++)
            sorted[k] = in[(size_t)k * n + i];
        std::sort(sorted, sorted + OWN);
        for (int k = 0; k < OWN; k++)
            pair_near(&p, "out", (size_t)k * n + i, sorted[k], out[(size_t)k * n + i], 0);
    }
    return pair_end(&p);
}
