// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: where the window starts is known to the compiler.
// Why: an array with indices that are known when it runs only is in local memory.
// Post: GPU Pro Tip: Fast Dynamic Indexing of Private Arrays in CUDA
#include "../common.h"

enum { BLOCK = 256, LENGTH = 24, WINDOW = 16, START = 5 };

// Each thread's own vector: its lanes lie next to each other.
__global__ void window_sums(const float *buf, float *sums, int n, int start_index) {
#ifdef AFTER
    start_index = START;
#endif
    int t = blockIdx.x * BLOCK + threadIdx.x;
    float a[LENGTH], sum = 0;
    for (int i = 0; i < LENGTH; i++)
        a[i] = buf[i * n + t];
    for (int i = 0; i < WINDOW; i++)
        sum += a[start_index + i] * a[i];
    sums[t] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dynamic_index");
    int n = p.small ? 1 << 14 : 1 << 21;
    std::vector<float> buf = random_floats((size_t)n * LENGTH, -1, 1, 1);
    float *d_buf = device_copy_of(buf.data(), buf.size()), *d_sums = device_array<float>(n);
    pair_time(&p, [&] { window_sums<<<n / BLOCK, BLOCK>>>(d_buf, d_sums, n, START); });
    std::vector<float> sums = host_copy_of(d_sums, n);
    for (int t = 0; t < n; t += 1009) {
        double sum = 0;
        for (int i = 0; i < WINDOW; i++)
            sum += (double)buf[(size_t)(START + i) * n + t] * buf[(size_t)i * n + t];
        pair_near(&p, "sums", t, sum, sums[t], 1e-4);
    }
    return pair_end(&p);
}
