// SPDX-License-Identifier: Apache-2.0
// In which order an SM's loads come back: a load A, and 40 cycles behind it B of another warp; when is each there?
// `order/A/B`: cycles from A's issue until B and until A are there, median of 15. hit: the L1 has it; l2: the L2 has
// it; dram; and behind it how many bytes lanes are apart.
// `kept/...`: cycles of each of 32 loads, one after the other, by three launches of a kernel: what each leaves.
#include <algorithm>

#include "micro.h"

enum Place { HIT, L2, DRAM };
enum { TIMES = 15, BEHIND = 40 };

__device__ static inline unsigned load(const char *at) {
    unsigned v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

__device__ static inline unsigned load_l2(const char *at) {
    unsigned v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

// Bytes of the lanes from `data` on, from `base` of each time on.
__global__ void order(const char *data, size_t a, size_t b, int pitch_a, int pitch_b, int where_a, int where_b,
                      i64 *cycles) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const char *at_a = data + a + lane * pitch_a, *at_b = data + b + lane * pitch_b;
    unsigned sum = load(data + a + (1 << 17)) + load(data + b + (1 << 17));  // addresses are translated
    if (where_a == HIT) sum += load(at_a);
    if (where_b == HIT) sum += load(at_b);
    if (where_a == L2) sum += load_l2(at_a);
    if (where_b == L2) sum += load_l2(at_b);
    if (sum == 0x12345678) return;
    __syncthreads();
    i64 begin = now(), end_a = 0, end_b = 0;
    if (warp == 0) {
        unsigned v = load(at_a);
        if (v == 0x12345678) return;
        end_a = now();
    } else {
        while (now() < begin + BEHIND) {}
        unsigned w = load(at_b);
        if (w == 0x12345678) return;
        end_b = now();
    }
    if (lane) return;
    cycles[warp] = (warp ? end_b : end_a) - begin;
}

__global__ void kept(const char *data, i64 *cycles) {
    unsigned v = 0;
    i64 t[33];
    t[0] = now();
#pragma unroll
    for (int i = 0; i < 32; i++) {
        v += load(data + i * 128 + v);
        if (v == 0x12345678) return;
        t[i + 1] = now();
    }
    for (int i = 0; i < 32; i++) cycles[i] = t[i + 1] - t[i];
}

static char *data;

int main() {
    const size_t size = 1ull << 30, step = 1 << 18;
    CHECK(cudaMalloc(&data, size));
    CHECK(cudaMemset(data, 0, size));  // the last of it is in the L2
    i64 *cycles = cycles_buffer(), got[2];
    size_t next = 0;
    static const char *const names[] = {"hit", "l2", "dram"};
    for (int pa : {0, 128, 132, 4})
        for (int wa : {HIT, L2, DRAM})
            for (int pb : {0, 128, 132, 4})
                for (int wb : {HIT, L2, DRAM}) {
                    i64 first[TIMES], second[TIMES];
                    if (next + 2 * TIMES * step > size / 2) {
                        next = 0;
                        CHECK(cudaMemset(data + size / 2, 0, size / 2));
                    }
                    for (int i = 0; i < TIMES; i++, next += 2 * step) {
                        order<<<1, 64>>>(data, next, next + step, pa, pb, wa, wb, cycles);
                        CHECK(cudaMemcpy(got, cycles, sizeof got, cudaMemcpyDeviceToHost));
                        first[i] = got[0], second[i] = got[1];
                    }
                    std::sort(first, first + TIMES), std::sort(second, second + TIMES);
                    printf("order/%s_%d/%s_%d\t%lld\tcycles\tA %lld\n", names[wa], pa, names[wb], pb, second[TIMES / 2],
                           first[TIMES / 2]);
                }
    i64 at[32];
    for (int launch = 0; launch < 3; launch++) {
        kept<<<1, 32>>>(data, cycles);
        CHECK(cudaMemcpy(at, cycles, sizeof at, cudaMemcpyDeviceToHost));
        printf("kept/launch_%d\t-\tcycles\t", launch);
        for (int i = 0; i < 32; i++) printf(" %lld", at[i]);
        printf("\n");
    }
    return 0;
}
