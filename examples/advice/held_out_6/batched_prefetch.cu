// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Also: loop-unrolling
// Change: four turns' loads start together, ahead of their use.
// Why: each turn waits for its own load.
// Post: Boosting Application Performance with GPU Memory Prefetching
#include "../common.h"

enum { BLOCKDIMX = 128, CTAS = 264 };

__device__ double lots_of_instructions(double x) {
    double y = 0.1;
#pragma unroll
    for (int k = 0; k < 16; k++)
        y = y * x + 0.01 * k;
    return y;
}

__global__ void evaluate(const double *all, double *out, int imax) {
    const double *arr = all + (size_t)blockIdx.x * imax;
    double sum = 0;
#ifdef AFTER
    double v0 = 0, v1 = 0, v2 = 0, v3 = 0, locvar = 0;
#pragma unroll 1
    for (int i = threadIdx.x, ctr = 0; i < imax; i += BLOCKDIMX, ctr++) {
        int ctr_mod = ctr % 4;
        if (ctr_mod == 0) {
            v0 = arr[i + 0 * BLOCKDIMX];
            v1 = arr[i + 1 * BLOCKDIMX];
            v2 = arr[i + 2 * BLOCKDIMX];
            v3 = arr[i + 3 * BLOCKDIMX];
        }
        switch (ctr_mod) {
        case 0: locvar = v0; break;
        case 1: locvar = v1; break;
        case 2: locvar = v2; break;
        case 3: locvar = v3; break;
        }
        sum += lots_of_instructions(locvar);
    }
#else
#pragma unroll 1
    for (int i = threadIdx.x; i < imax; i += BLOCKDIMX) {
        double locvar = arr[i];
        sum += lots_of_instructions(locvar);
    }
#endif
    out[blockIdx.x * BLOCKDIMX + threadIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "batched_prefetch");
    int imax = p.small ? 2048 : 65536;
    std::vector<float> source = random_floats((size_t)imax * CTAS, -0.9f, 0.9f, 1);
    std::vector<double> all(source.begin(), source.end());
    double *d_all = device_copy_of(all.data(), all.size()), *d_out = device_array<double>(CTAS * BLOCKDIMX);
    pair_time(&p, [&] { evaluate<<<CTAS, BLOCKDIMX>>>(d_all, d_out, imax); });
    std::vector<double> out = host_copy_of(d_out, CTAS * BLOCKDIMX);
    for (int t = 0; t < CTAS * BLOCKDIMX; t += 1009) {
        double sum = 0;
        for (int i = t % BLOCKDIMX; i < imax; i += BLOCKDIMX) {
            double x = all[(size_t)(t / BLOCKDIMX) * imax + i], y = 0.1;
            for (int k = 0; k < 16; k++)
                y = y * x + 0.01 * k;
            sum += y;
        }
        pair_near(&p, "out", t, sum, out[t], 1e-8);
    }
    return pair_end(&p);
}
