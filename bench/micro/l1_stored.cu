// SPDX-License-Identifier: Apache-2.0
// Chains of dependent loads through memory that the SM has stored, loaded, or never seen: cycles of a load, pass by
// pass. `l1_stored/BEFORE/WIDTH/STEP/KIB`: BEFORE: loaded - each place by the same lane; stored - by the lane that
// loads, a place after the other; stored_later - the same and 20,000 cycles; by_warp - by 32 lanes at once; by_warp_16
// - 16 bytes a lane; both - loaded, then stored; by_other - by another SM's kernel. WIDTH: 8 - pointers; 4 - offsets.
// STEP: bytes between places of the chain. The note has the mean of the first pass, how many of its loads took more
// than 100 cycles, the second and the fourth pass.
#include "micro.h"

enum Before { LOADED, STORED, STORED_LATER, BY_WARP, BY_WARP_16, BOTH, BY_OTHER };
static const char *const names[] = {"loaded", "stored", "stored_later", "by_warp", "by_warp_16", "both", "by_other"};

template <typename T> __device__ static inline T load(const char *p) {
    T v;
    if (sizeof(T) == 8)
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(*(u64 *)&v) : "l"(p) : "memory");
    else
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(*(unsigned *)&v) : "l"(p) : "memory");
    return v;
}
__device__ static inline char *follow(char *, u64 v) { return (char *)v; }
__device__ static inline char *follow(char *data, unsigned v) { return data + v; }
__device__ static inline void keep(char *at, char *data, u64 next) {
    asm volatile("st.global.u64 [%0], %1;" ::"l"(at), "l"((u64)data + next) : "memory");
}
__device__ static inline void keep(char *at, char *, unsigned next) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(next) : "memory");
}

// Each place holds where the next is: the first `bytes`, `step` apart, in a ring.
template <typename T>
__device__ static void store_ring(char *data, unsigned bytes, unsigned step, unsigned first, unsigned lanes) {
    for (unsigned i = first * step; i < bytes; i += lanes * step) keep(data + i, data, (T)((i + step) % bytes));
}
template <typename T> __device__ static void store_wide(char *data, unsigned bytes, unsigned step) {
    for (unsigned i = threadIdx.x * 16; i < bytes; i += 512) {
        T v[16 / sizeof(T)];
        for (unsigned k = 0; k < 16 / sizeof(T); k++) {
            u64 next = (i + k * sizeof(T) + step) % bytes;
            v[k] = sizeof(T) == 8 ? (T)((u64)data + next) : (T)next;
        }
        *(uint4 *)(data + i) = *(uint4 *)v;
    }
}

template <typename T> __global__ void ring(char *data, unsigned bytes, unsigned step) {
    store_ring<T>(data, bytes, step, threadIdx.x, 32);
}

// What comes before the chain. True: for the one lane that goes on.
template <typename T> __device__ static inline bool prepare(char *data, unsigned bytes, unsigned step, int before) {
    unsigned lane = threadIdx.x, sum = 0;
    if (before == BY_WARP) store_ring<T>(data, bytes, step, lane, 32);
    if (before == BY_WARP_16) store_wide<T>(data, bytes, step);
    __syncwarp();
    if (lane) return false;
    if (before == LOADED || before == BOTH)
        for (unsigned i = 0; i < bytes; i += step) sum += (unsigned)load<T>(data + i);
    if (sum == 12345) return false;
    if (before == STORED || before == STORED_LATER || before == BOTH) store_ring<T>(data, bytes, step, 0, 1);
    i64 t = now();
    while (now() - t < (before == STORED_LATER ? 20000 : 2000)) {}
    return true;
}

template <typename T>
__global__ void chain(char *data, unsigned bytes, unsigned step, int before, i64 *cycles, unsigned *slow) {
    if (!prepare<T>(data, bytes, step, before)) return;
    unsigned places = bytes / step;
    char *at = data;
    for (int pass = 0; pass < 4; pass++) {
        i64 begin = now();
        for (unsigned i = 0; i < places; i += 4) {
#pragma unroll
            for (int k = 0; k < 4; k++) at = follow(data, load<T>(at));
        }
        cycles[pass] = now() - begin + (at == NULL);
    }
    *slow = 0;
}
// The first pass alone, each load's time.
template <typename T> __global__ void each(char *data, unsigned bytes, unsigned step, int before, unsigned *slow) {
    if (!prepare<T>(data, bytes, step, before)) return;
    unsigned places = bytes / step, count = 0;
    char *at = data;
    for (unsigned i = 0; i < places; i++) {
        i64 begin = now();
        at = follow(data, load<T>(at));
        if (at == NULL) return;
        count += now() - begin > 100;
    }
    *slow = count;
}

static char *data;
static unsigned *slow;
template <typename T> static void measure(int before, unsigned kib, unsigned step) {
    i64 *cycles = cycles_buffer(), pass[4];
    char text[96], note[160];
    unsigned bytes = kib << 10, many, places = bytes / step;
    ring<T><<<1, 32>>>(data, bytes, step);
    chain<T><<<1, 32>>>(data, bytes, step, before, cycles, slow);
    for (int i = 0; i < 4; i++) pass[i] = cycles_read(cycles, i);
    ring<T><<<1, 32>>>(data, bytes, step);
    each<T><<<1, 32>>>(data, bytes, step, before, slow);
    CHECK(cudaMemcpy(&many, slow, 4, cudaMemcpyDeviceToHost));
    snprintf(text, sizeof text, "l1_stored/%s/%d/%u/%u", names[before], (int)sizeof(T), step, kib);
    snprintf(note, sizeof note, "first %.1f, %u of %u slow; second %.1f, fourth %.1f", (double)pass[0] / places, many,
             places, (double)pass[1] / places, (double)pass[3] / places);
    report(text, (double)(pass[0] + pass[1] + pass[2] + pass[3]) / places / 4, "cycles/load", note);
}

int main() {
    CHECK(cudaMalloc(&data, 1 << 20));
    CHECK(cudaMalloc(&slow, 4));
    for (int before = LOADED; before <= BY_OTHER; before++)
        for (unsigned kib : {4u, 32u, 128u})
            for (unsigned step : {8u, 32u, 128u, 136u}) {
                if (step == 136 && kib != 32) continue;
                unsigned whole = step == 136 ? 34 : kib;  // the ring closes
                measure<u64>(before, whole, step);
                if (step != 136) measure<unsigned>(before, kib, step);
            }
    for (int before = LOADED; before <= BY_OTHER; before++) measure<unsigned>(before, 32, 4);
    return 0;
}
