// SPDX-License-Identifier: Apache-2.0
// Microbenchmarks of a GPU: what the timing model of the simulator is calibrated with. Each program prints lines
//   name <tab> value <tab> unit <tab> note
// All times are SM cycles (%clock64) unless the unit says otherwise. Build and run: run.sh.
#ifndef WL_BENCH_MICRO_H
#define WL_BENCH_MICRO_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                    \
    do {                                                                                               \
        cudaError_t error_ = (call);                                                                   \
        if (error_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

typedef long long i64;
typedef unsigned long long u64;

static inline void report(const char *name, double value, const char *unit, const char *note) {
    printf("%s\t%.6g\t%s\t%s\n", name, value, unit, note);
    fflush(stdout);
}

__device__ static inline i64 now() {
    i64 t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

// The end of a kernel that times eight chains in all threads of a block: thread 0 tells the cycles since `start`, and
// what the chains came to is stored, so that they are computed.
template <typename T> __device__ static inline void end_chains(const T (&chains)[8], i64 start, i64 *cycles, T *out) {
    __syncthreads();
    i64 end = now();
    T sum = chains[0];
    for (int i = 1; i < 8; i++) sum += chains[i];
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) cycles[0] = end - start;
}

// Results of a kernel: cycles, per block or as the benchmark says. Managed by the host side below.
static inline i64 *cycles_buffer() {
    static i64 *buffer;
    if (!buffer) CHECK(cudaMalloc(&buffer, 1 << 20));
    CHECK(cudaMemset(buffer, 0, 1 << 20));
    return buffer;
}

static inline i64 cycles_read(const i64 *buffer, int index) {
    i64 value;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&value, buffer + index, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// The least and the greatest of `count` entries.
static inline void cycles_range(const i64 *buffer, int count, i64 *low, i64 *high) {
    i64 *copy = (i64 *)malloc(sizeof(i64) * count);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(copy, buffer, sizeof(i64) * count, cudaMemcpyDeviceToHost));
    *low = *high = copy[0];
    for (int i = 1; i < count; i++) {
        if (copy[i] < *low) *low = copy[i];
        if (copy[i] > *high) *high = copy[i];
    }
    free(copy);
}

// Nanoseconds that `launch` takes the GPU, between two events: the least of `runs`.
template <typename F> static double ns_of(F launch, int runs = 3) {
    cudaEvent_t begin, end;
    float best = 1e30f, ms;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < runs; i++) {
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (ms < best) best = ms;
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return best * 1e6;
}

#endif
