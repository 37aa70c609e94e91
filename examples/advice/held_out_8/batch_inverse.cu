// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: rows of a matrix in shared memory are 33 words long instead of 32.
// Why: each lane has a row, and the same column of all rows lies in one bank.
#include "../common.h"

enum { WARPS = 2, SIDE = 32 };
#ifdef AFTER
enum { PITCH = SIDE + 1 };
#else
enum { PITCH = SIDE };
#endif

// Inverses of many 32 x 32 matrices by Gauss and Jordan's elimination, a warp for each.
__global__ void batch_inverse(const float *in, float *out) {
    __shared__ float all[WARPS][SIDE * PITCH];
    float *a = all[threadIdx.y];
    int lane = threadIdx.x;
    size_t first = ((size_t)blockIdx.x * WARPS + threadIdx.y) * SIDE * SIDE;
    for (int j = 0; j < SIDE; j++)
        a[j * PITCH + lane] = in[first + j * SIDE + lane];
    __syncwarp();
    for (int k = 0; k < SIDE; k++) {
        float reciprocal = 1 / a[k * PITCH + k], factor = a[lane * PITCH + k];
        __syncwarp();
        a[k * PITCH + lane] = lane == k ? reciprocal : a[k * PITCH + lane] * reciprocal;
        __syncwarp();
        if (lane != k)
            for (int j = 0; j < SIDE; j++)
                a[lane * PITCH + j] = (j == k ? 0 : a[lane * PITCH + j]) - factor * a[k * PITCH + j];
        __syncwarp();
    }
    for (int j = 0; j < SIDE; j++)
        out[first + j * SIDE + lane] = a[j * PITCH + lane];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "batch_inverse");
    int matrices = p.small ? 64 : 1 << 14;
    size_t n = (size_t)matrices * SIDE * SIDE;
    std::vector<float> in = random_floats(n, -1, 1, 1);
    for (size_t m = 0; m < n; m += SIDE * SIDE)
        for (int i = 0; i < SIDE; i++)
            in[m + i * SIDE + i] += 20;
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { batch_inverse<<<matrices / WARPS, dim3(SIDE, WARPS)>>>(d_in, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int m = 0; m < matrices; m += 37)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) {
                double sum = 0;
                for (int k = 0; k < SIDE; k++)
                    sum += (double)in[(size_t)m * SIDE * SIDE + i * SIDE + k] * out[(size_t)m * SIDE * SIDE + k * SIDE + j];
                pair_near(&p, "identity", (size_t)(m * SIDE + i) * SIDE + j, i == j, sum, 1e-4);
            }
    return pair_end(&p);
}
