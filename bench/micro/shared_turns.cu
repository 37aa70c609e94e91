// SPDX-License-Identifier: Apache-2.0
// Atomics on shared memory that the machine makes a loop around a compare-and-swap (ATOMS.CAST.SPIN): cycles by type,
// lanes on one word and warps, with sums that change the word and such that do not. And which lane's value stays where
// lanes of a store meet.
#include "micro.h"
#include <cuda_fp16.h>

enum { TIMES = 32, WORDS = 1024 };

// `meet` lanes share a word; of each warp the same words (apart = 0) or words of its own. Cycles of the slowest warp.
template <typename T> __global__ void sums(T value, int meet, int apart, long long *out) {
    __shared__ T words[WORDS];
    __shared__ long long last;
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = T{};
    if (threadIdx.x == 0) last = 0;
    __syncthreads();
    int at = (threadIdx.x % 32) / meet + apart * (threadIdx.x / 32) * (32 / meet);
    long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < TIMES; i++) {
        atomicAdd(&words[at], value);
        __syncthreads();
    }
    long long end = clock64();
    atomicMax((unsigned long long *)&last, (unsigned long long)(end - begin));
    __syncthreads();
    if (threadIdx.x == 0) *out = last;
}

static long long *cycles;

template <typename T> static void measure(const char *type, T value, const char *what) {
    for (int warps = 1; warps <= 32; warps *= warps == 1 ? 2 : 4)
        for (int meet = 1; meet <= 32; meet *= meet == 1 ? 2 : 4)
            for (int apart = 0; apart <= (warps > 1 && 32 / meet * warps <= WORDS); apart++) {
                char name[96];
                long long took;
                for (int again = 0; again < 2; again++) sums<T><<<1, 32 * warps>>>(value, meet, apart, cycles);
                CHECK(cudaMemcpy(&took, cycles, sizeof took, cudaMemcpyDeviceToHost));
                snprintf(name, sizeof name, "turns/%s/%s/%d_lanes/%d_warps%s", type, what, meet, warps, apart ? "_apart" : "");
                report(name, (double)took / TIMES, "cycles/round", "");
            }
}

// A lane of each warp's conflicting store stays.
template <typename T> __global__ void meet_shared(unsigned mask, int *out) {
    __shared__ T word[2];
    if (mask >> threadIdx.x & 1) *(volatile T *)&word[0] = (T)(threadIdx.x + 1);
    __syncwarp();
    if (threadIdx.x == 0) *out = (int)word[0] - 1;
}
template <typename T> __global__ void meet_global(unsigned mask, T *word, int *out) {
    if (mask >> threadIdx.x & 1) *(volatile T *)word = (T)(threadIdx.x + 1);
    __threadfence();
    __syncwarp();
    if (threadIdx.x == 0) *out = (int)*(volatile T *)word - 1;
}
// Vectors that overlap by halves.
__global__ void meet_vectors(int *out) {
    __shared__ __align__(16) int words[160];
    int4 v = {(int)threadIdx.x, (int)threadIdx.x, (int)threadIdx.x, (int)threadIdx.x};
    *(int4 *)&words[threadIdx.x / 4 * 4] = v;
    __syncwarp();
    for (int i = threadIdx.x; i < 32; i += 32) out[i] = words[i];
}
__global__ void order_exch(int global, int *word, int *out) {
    __shared__ int near;
    near = -1;
    __syncwarp();
    if (global) *word = -1;
    __threadfence();
    __syncwarp();
    out[threadIdx.x] = global ? atomicExch(word, threadIdx.x) : atomicExch(&near, threadIdx.x);
}

template <typename T> static void meet(const char *type) {
    const unsigned masks[] = {0xffffffffu, 0x3ffu, 0xfffffc00u, 0x80000001u, 0x00ff0100u, 0x55555555u};
    static int *out;
    static T *word;
    CHECK(cudaMalloc(&out, 256));
    CHECK(cudaMalloc(&word, 256));
    for (unsigned mask : masks) {
        int shared, global;
        meet_shared<T><<<1, 32>>>(mask, out);
        CHECK(cudaMemcpy(&shared, out, 4, cudaMemcpyDeviceToHost));
        meet_global<T><<<1, 32>>>(mask, word, out);
        CHECK(cudaMemcpy(&global, out, 4, cudaMemcpyDeviceToHost));
        printf("stays/%s/%08x\tshared %d\tglobal %d\n", type, mask, shared, global);
    }
}

int main() {
    CHECK(cudaMalloc(&cycles, 8));
    measure<float>("f32", 1.0f, "changes");
    measure<float>("f32", 0.0f, "stays");
    measure<double>("f64", 1.0, "changes");
    measure<double>("f64", 0.0, "stays");
    measure<unsigned long long>("u64", 1ull, "changes");
    measure<__half2>("f16x2", __half2half2(__float2half(0.25f)), "changes");
    meet<unsigned char>("u8");
    meet<short>("u16");
    meet<int>("u32");
    meet<long long>("u64");
    int *out, host[32];
    CHECK(cudaMalloc(&out, 1024));
    meet_vectors<<<1, 32>>>(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    printf("stays/v4\t");
    for (int i = 0; i < 32; i += 4) printf("%d,%d,%d,%d ", host[i], host[i + 1], host[i + 2], host[i + 3]);
    for (int global = 0; global < 2; global++) {
        order_exch<<<1, 32>>>(global, out + 64, out);
        CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        printf("\norder/exch/%s\t", global ? "global" : "shared");
        for (int i = 0; i < 32; i++) printf("%d ", host[i]);
    }
    printf("\n");
    return 0;
}
