// SPDX-License-Identifier: Apache-2.0
// Lines of one set of the L1 that are on their way at once, more than it has room for: how long until all are there,
// which of them are kept, and whether loads of others have to wait. The lines are in the L2; which share a set is known
// from h200-l1-sets.tsv (l1_sets.cu), within 2 MiB.
#include <vector>

#include "micro.h"

enum { LANES = 32, HIT = 150, SETS = 512 };  // cycles: a load that takes fewer hits the L1

__device__ static inline unsigned load_keep(const char *at) {
    unsigned v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

// Each of `count` lanes loads a line of the list; cycles until all are there. Then lane 0 looks whether line `probe`
// is.
__global__ void together(const char *data, const unsigned *list, int count, int probe, i64 *out) {
    extern __shared__ volatile unsigned there[];
    const char *at = data + (size_t)list[threadIdx.x] * 128;
    unsigned offset = list[probe];
    __syncwarp();
    i64 begin = now();
    if ((int)threadIdx.x < count) there[threadIdx.x] = load_keep(at);
    __syncwarp();
    i64 end = now();
    __nanosleep(3000);
    if (threadIdx.x) return;
    i64 from = now();
    there[0] = load_keep(data + (size_t)offset * 128 + 4);
    i64 to = now();
    out[0] = end - begin, out[1] = to - from;
}

// Warp 0 loads the lines of the list, warp 1 meanwhile one word that is there, again and again: the longest that took.
__global__ void beside(const char *data, const unsigned *list, int count, const char *own, i64 *out) {
    extern __shared__ volatile unsigned there[];
    const char *at = data + (size_t)list[threadIdx.x % LANES] * 128;
    unsigned lane = threadIdx.x % LANES;
    if (threadIdx.x >= LANES) there[threadIdx.x] = load_keep(own);
    __syncthreads();
    if (threadIdx.x < LANES) {
        __nanosleep(200);
        i64 begin = now();
        if ((int)lane < count) there[threadIdx.x] = load_keep(at);
        __syncwarp();
        out[0] = now() - begin;
        return;
    }
    i64 most = 0;
    for (int i = 0; i < 200; i++) {
        i64 begin = now();
        there[threadIdx.x] = load_keep(own);
        i64 took = now() - begin;
        if (took > most) most = took;
    }
    out[1] = most;
}

// One lane, `count` lines one after the other without waiting.
template <int count> __global__ void in_turn(const char *data, const unsigned *list, i64 *out) {
    extern __shared__ volatile unsigned there[];
    unsigned v[count], line[count], sum = 0;
    for (int i = 0; i < count; i++) line[i] = list[i];
    there[0] = line[count - 1];
    i64 begin = now();
#pragma unroll
    for (int i = 0; i < count; i++) v[i] = load_keep(data + (size_t)line[i] * 128);
#pragma unroll
    for (int i = 0; i < count; i++) sum += v[i];
    there[0] = sum;
    out[0] = now() - begin;
}

// The set of a line within 2 MiB (h200-l1-sets.tsv, l1/set_of).
static unsigned set_of(unsigned line) {
    static const unsigned short fold[32] = {0x000, 0x071, 0x01b, 0x06a, 0x176, 0x107, 0x16d, 0x11c, 0x149, 0x138, 0x152,
                                            0x123, 0x03f, 0x04e, 0x024, 0x055, 0x039, 0x048, 0x022, 0x053, 0x14f, 0x13e,
                                            0x154, 0x125, 0x170, 0x101, 0x16b, 0x11a, 0x006, 0x077, 0x01d, 0x06c};
    return (line ^ fold[line >> 9 & 31]) & (SETS - 1);
}

static char *data;
static unsigned *list;
static i64 *out;

// Lines of `sets` sets in turns.
static std::vector<unsigned> lines_of(int sets) {
    std::vector<unsigned> of[LANES], all;
    for (unsigned line = 0; line < 1 << 14; line++)
        for (int s = 0; s < sets; s++)
            if (set_of(line) == (unsigned)(s * 16 + 5)) of[s].push_back(line);
    for (int i = 0; i < LANES; i++) all.push_back(of[i % sets][i / sets]);
    return all;
}

static i64 least(i64 *a, int at) {
    i64 v[2];
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(v, a, sizeof v, cudaMemcpyDeviceToHost));
    return v[at];
}

int main() {
    CHECK(cudaMalloc(&data, 64 << 20));
    CHECK(cudaMemset(data, 0, 64 << 20));
    CHECK(cudaMalloc(&list, 4096));
    out = cycles_buffer();
    if ((size_t)data % (2 << 20)) return fprintf(stderr, "not at 2 MiB\n"), 1;
    for (int sets : {1, 2, 4, 8, 32}) {
        std::vector<unsigned> lines = lines_of(sets);
        CHECK(cudaMemcpy(list, lines.data(), lines.size() * 4, cudaMemcpyHostToDevice));
        for (int count : {1, 2, 4, 5, 6, 8, 12, 16, 24, 32}) {
            i64 best = 1 << 30, took = 0, other = 0;
            char kept[LANES + 1] = {0};
            for (int probe = 0; probe < count; probe++)
                for (int round = 0; round < 3; round++) {
                    together<<<1, LANES, 1024>>>(data, list, count, probe, out);
                    i64 t = least(out, 0);
                    if (round && t < best) best = t;
                    kept[probe] = least(out, 1) < HIT ? '1' : '0';
                }
            for (int round = 0; round < 3; round++) {
                beside<<<1, 2 * LANES, 1024>>>(data, list, count, data + (48 << 20), out);
                took = least(out, 0), other = least(out, 1);
            }
            printf("pending/%d_sets/%d_lines\t%lld\tcycles\tkept %s; beside a warp that hits %lld, its longest %lld\n",
                   sets, count, best, kept, took, other);
        }
        i64 t4, t8, t16, t32;
        for (int round = 0; round < 2; round++) {
            in_turn<4><<<1, 1, 1024>>>(data, list, out), t4 = least(out, 0);
            in_turn<8><<<1, 1, 1024>>>(data, list, out), t8 = least(out, 0);
            in_turn<16><<<1, 1, 1024>>>(data, list, out), t16 = least(out, 0);
            in_turn<32><<<1, 1, 1024>>>(data, list, out), t32 = least(out, 0);
        }
        printf(
            "pending/%d_sets/in_turn\t-\tcycles\tloads of a line each by one lane: 4: %lld 8: %lld 16: %lld 32: %lld\n",
            sets, t4, t8, t16, t32);
        fflush(stdout);
    }
    return 0;
}
