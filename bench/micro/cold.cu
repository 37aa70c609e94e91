// SPDX-License-Identifier: Apache-2.0
// What comes first in a kernel: code that no cache holds, lines and pages touched for the first time. Under Nsight
// Compute (`ncu --cache-control all`) the same program tells how cold its flush leaves the GPU.
#include "micro.h"

#define F1 asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(a)); asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(b)); \
    asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(c)); asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(d));
#define F4 F1 F1 F1 F1
#define F16 F4 F4 F4 F4
#define F64 F16 F16 F16 F16
#define F256 F64 F64 F64 F64

// Four passes over four pieces of straight code, 1 to 64 KiB behind each other: pass 0 is the first to touch them.
__global__ void code(i64 *times, float *out) {
    float a = 1, b = 2, c = 3, d = 4;
#pragma unroll 1
    for (int pass = 0; pass < 4; pass++) {
        i64 t0 = now();
        F16
        i64 t1 = now();
        F64
        i64 t2 = now();
        F256
        i64 t3 = now();
        F256 F256 F256 F256
        i64 t4 = now();
        if (threadIdx.x == 0) times[4 * pass] = t1 - t0, times[4 * pass + 1] = t2 - t1, times[4 * pass + 2] = t3 - t2, times[4 * pass + 3] = t4 - t3;
    }
    out[threadIdx.x] = a + b + c + d;
}

__global__ void other_code(float *out) {
    float a = 1, b = 2, c = 3, d = 4;
    F256 F256 F256 F256 F256 F256 F256 F256
    out[threadIdx.x] = a + b + c + d;
}

__device__ static u64 load(const u64 *p) {
    u64 v;
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

// Each load waits for the one before it: the data are zero.
enum { STEPS = 8 };
__global__ void first_loads(const char *data, i64 *times) {
    static const long long offsets[STEPS] = {0, 0, 32, 128, 4096, 65536, 2 << 20, 64 << 20};
    i64 t[STEPS + 1];
    u64 v = 0;
    t[0] = now();
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
        v = load((const u64 *)(data + offsets[i] + v));
        asm volatile("" ::"l"(v) : "memory");
        v = v * 3;
        asm volatile("mov.u64 %0, %%clock64; add.u64 %0, %0, %1;" : "=l"(t[i + 1]) : "l"(v) : "memory");
    }
    for (int i = 0; i <= STEPS; i++) times[i] = t[i];
}

static void show_code(const char *what, i64 *times, float *out) {
    i64 host[16];
    char text[128];
    for (int warps = 1; warps <= 16; warps *= 4) {
        for (int i = 0; i < 4; i++) other_code<<<132, 32>>>(out);
        CHECK(cudaMemset(out + 4096, 0, 256 << 20));
        code<<<1, 32 * warps>>>(times, out);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(host, times, sizeof host, cudaMemcpyDeviceToHost));
        static const int counts[] = {64, 256, 1024, 4096};
        for (int pass = 0; pass < 4; pass += 3)
            for (int k = 0; k < 4; k++) {
                snprintf(text, sizeof text, "cold/code/%s/%d_warps/pass_%d/%d", what, warps, pass, counts[k]);
                report(text, (double)host[4 * pass + k] / counts[k], "cycles/instruction", "straight code, 16 bytes each");
            }
    }
}

static void show_loads(const char *what, char *data, i64 *times) {
    static const char *const names[STEPS] = {"first", "again", "next_sector", "next_line", "4_KiB", "64_KiB", "2_MiB", "64_MiB"};
    i64 host[STEPS + 1];
    char text[128];
    first_loads<<<1, 1>>>(data, times);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, times, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < STEPS; i++) {
        snprintf(text, sizeof text, "cold/load/%s/%s", what, names[i]);
        report(text, (double)(host[i + 1] - host[i]), "cycles", "one after the other in one kernel");
    }
}

int main() {
    char *data;
    i64 *times = cycles_buffer();
    float *out;
    CHECK(cudaMalloc(&data, 1ull << 30));
    CHECK(cudaMalloc(&out, 512 << 20));
    CHECK(cudaMemset(data, 0, 1ull << 30));
    show_code("flushed", times, out);
    for (int i = 0; i < 3; i++) {
        CHECK(cudaMemset(out, 0, 512 << 20));
        char what[32];
        snprintf(what, sizeof what, "flushed_%d", i);
        show_loads(what, data, times);
    }
    show_loads("again", data, times);
    return 0;
}
