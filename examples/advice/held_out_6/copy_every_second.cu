// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: neighbouring threads load neighbouring words instead of every second.
// Why: half of each sector is not used.
// Post: Unlock GPU Performance: Global Memory Access in CUDA
#include "../common.h"

enum { BLOCK = 256 };

__global__ void copy_data(const float *in, float *out, int n) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < n) {
#ifdef AFTER
        out[index] = in[index];
#else
        out[index] = in[(index * 2) % n];
#endif
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "copy_every_second");
    int n = p.small ? 1 << 16 : 1 << 25;
    std::vector<float> in = random_floats(n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { copy_data<<<n / BLOCK, BLOCK>>>(d_in, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
#ifdef AFTER
        pair_near(&p, "out", i, in[i], out[i], 0);
#else
        pair_near(&p, "out", i, in[(i * 2) % n], out[i], 0);
#endif
    return pair_end(&p);
}
