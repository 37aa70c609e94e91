// SPDX-License-Identifier: Apache-2.0
// One thread that goes through arrays, as first programs do: y[i] = x[i] + y[i], where each load has to wait for the
// store before it, which might be to the same word. Of the device, managed and moved ahead, managed and touched by the
// host last.
#include "micro.h"

__global__ void add(int n, const float *x, float *y, i64 *cycles) {
    i64 begin = now();
    for (int i = 0; i < n; i++) y[i] = x[i] + y[i];
    cycles[0] = now() - begin;
}
__global__ void add_rolled(int n, const float *x, float *y, i64 *cycles) {
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < n; i++) y[i] = x[i] + y[i];
    cycles[0] = now() - begin;
}
__global__ void change(int n, const float *, float *y, i64 *cycles) {
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < n; i++) y[i] = y[i] + 1;
    cycles[0] = now() - begin;
}
__global__ void sum(int n, const float *x, float *y, i64 *cycles) {
    float s = 0;
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < n; i++) s += x[i];
    y[0] = s;
    cycles[0] = now() - begin;
}
__global__ void copy(int n, const float *x, float *y, i64 *cycles) {
    i64 begin = now();
#pragma unroll 1
    for (int i = 0; i < n; i++) y[i] = x[i];
    cycles[0] = now() - begin;
}
// Each lane of a warp as the one thread.
__global__ void add_lanes(int n, const float *x, float *y, i64 *cycles) {
    i64 begin = now();
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += 32) y[i] = x[i] + y[i];
    if (threadIdx.x == 0) cycles[0] = now() - begin;
}

int main() {
    i64 *cycles = cycles_buffer();
    typedef void (*Kernel)(int, const float *, float *, i64 *);
    static const struct {
        const char *name;
        Kernel kernel;
        int threads;
    } kernels[] = {{"add", add, 1}, {"add_rolled", add_rolled, 1}, {"change", change, 1}, {"sum", sum, 1}, {"copy", copy, 1}, {"add_lanes", add_lanes, 32}};
    enum { N = 1 << 16 };
    char text[128];
    for (int kind = 0; kind < 3; kind++)
        for (auto &k : kernels)
            for (int pass = 0; pass < 2; pass++) {
                static const char *const names[] = {"device", "managed_moved", "managed_host"};
                float *x, *y;
                if (kind == 0) {
                    CHECK(cudaMalloc(&x, N * 4));
                    CHECK(cudaMalloc(&y, N * 4));
                    CHECK(cudaMemset(x, 0, N * 4));
                    CHECK(cudaMemset(y, 0, N * 4));
                } else {
                    CHECK(cudaMallocManaged(&x, N * 4));
                    CHECK(cudaMallocManaged(&y, N * 4));
                    for (int i = 0; i < N; i++) x[i] = 1, y[i] = 2;
                    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
                    if (kind == 1) {
                        CHECK(cudaMemPrefetchAsync(x, N * 4, here, 0));
                        CHECK(cudaMemPrefetchAsync(y, N * 4, here, 0));
                    }
                }
                k.kernel<<<1, k.threads>>>(pass ? N : 1024, x, y, cycles);
                CHECK(cudaDeviceSynchronize());
                k.kernel<<<1, k.threads>>>(pass ? N : 1024, x, y, cycles);
                i64 second = cycles_read(cycles, 0);
                snprintf(text, sizeof text, "one_thread/%s/%s/%d", names[kind], k.name, pass ? N : 1024);
                report(text, (double)second / (pass ? N : 1024), "cycles/element", "second launch");
                CHECK(cudaFree(x));
                CHECK(cudaFree(y));
            }
}
