// SPDX-License-Identifier: Apache-2.0
// Loads that all hit the L2, by SMs chosen one by one: what an SM, the two of a TPC, a GPC and the L2 itself deliver.
// `l2_bandwidth/PATTERN/KIND/BYTES/SMS`: bytes a cycle of the SMs together; the least and the most of one SM.
// PATTERN: own - each SM its own 128 KiB again and again; shift - the warps of all SMs one after the other, each in its
// turn where its neighbour was the turn before (each line for 32 warps of an SM within a few turns); same - all SMs the
// same lines at the same time; rotate4, rotate16 - all the same 4 or 16 MiB, each SM from another place. BYTES: of a
// lane; sector: four of them, a sector for each lane. KIND: cg, or ca where the L1 cannot have them.
// `l2_bandwidth counted`: some of them once, for Nsight Compute.
#include <cstring>

#include "micro.h"

enum { SMS = 132, THREADS = 1024, WARPS = 32, TURNS = 128, AHEAD = 4, WHOLE_SM = 200 * 1024, MOST = 160 };
enum Pattern { OWN, SHIFT, SAME, ROTATE4, ROTATE16 };
static const char *const pattern_names[] = {"own", "shift", "same", "rotate4", "rotate16"};

typedef struct Set {
    unsigned bit[5];  // by %smid
    int count;
} Set;

template <int BYTES, bool CA> __device__ static inline unsigned load(const char *p) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (BYTES == 16 && CA) asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
    if (BYTES == 16 && !CA) asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
    if (BYTES == 8) asm volatile("ld.global.cg.v2.u32 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "l"(p));
    if (BYTES != 16 && BYTES != 8 && CA) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(p));
    if (BYTES != 16 && BYTES != 8 && !CA) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(p));
    return a ^ b ^ c ^ d;
}

// Where a warp loads in its turn `i`: base + (start + i * step & mask).
typedef struct Walk {
    size_t base;
    unsigned start, step, mask;
} Walk;
template <int BYTES> __device__ static inline Walk walk_of(int pattern, unsigned number, unsigned warp) {
    const unsigned per = BYTES * 32, own = 128u << 10, mib = 1u << 20;
    switch (pattern) {
    case OWN: return Walk{(size_t)number * own, warp * per, WARPS * per, own - 1};
    case SHIFT: return Walk{0, (number * WARPS + warp) * per, per, ~0u};
    case SAME: return Walk{0, warp * per, WARPS * per, 4 * mib - 1};
    case ROTATE4: return Walk{0, number * (4 * mib / SMS) / 1024 * 1024 + warp * per, WARPS * per, 4 * mib - 1};
    default: return Walk{0, number * (16 * mib / SMS) / 1024 * 1024 + warp * per, WARPS * per, 16 * mib - 1};
    }
}

template <int BYTES, bool CA>
__global__ void __launch_bounds__(THREADS) loads(const char *data, int pattern, Set set, unsigned *arrived, i64 *cycles, unsigned *out) {
    unsigned id, lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = 0, number = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    if (!(set.bit[id / 32] >> id % 32 & 1)) {  // stays until all that load are there, so that no SM gets two blocks
        while (!threadIdx.x && *(volatile unsigned *)arrived < (unsigned)set.count) __nanosleep(200);
        return;
    }
    for (unsigned i = 0; i < id; i++) number += set.bit[i / 32] >> i % 32 & 1;
    Walk w = walk_of<BYTES>(pattern, number, warp);
    const char *at = data + w.base + lane * BYTES;
    for (unsigned i = 0; i < TURNS; i++) sum += load<BYTES, CA>(at + (w.start + i * w.step & w.mask));
    __syncthreads();
    if (!threadIdx.x) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < (unsigned)set.count) {}
    }
    __syncthreads();
    i64 begin = now();
    for (unsigned i = 0; i < TURNS; i += AHEAD) {
        unsigned v[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) v[k] = load<BYTES, CA>(at + (w.start + (i + k) * w.step & w.mask));
#pragma unroll
        for (int k = 0; k < AHEAD; k++) sum += v[k];
    }
    __syncthreads();
    i64 end = now();
    if (sum == 12345) *out = sum;
    if (!threadIdx.x) cycles[number] = end - begin;
}

static char *data;
static unsigned *out, *arrived;
static bool counted;

static Set set_of(const int *sms, int count) {
    Set s = {{0}, count};
    for (int i = 0; i < count; i++) s.bit[sms[i] / 32] |= 1u << sms[i] % 32;
    return s;
}

template <int BYTES, bool CA> static void measure(const char *name, int pattern, Set set) {
    i64 *cycles = cycles_buffer(), copy[MOST];
    char text[128], note[96];
    auto kernel = loads<BYTES, CA>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    for (int round = 0; round < (counted ? 1 : 2); round++) {
        CHECK(cudaMemset(arrived, 0, 4));
        kernel<<<SMS, THREADS, WHOLE_SM>>>(data, pattern, set, arrived, cycles, out);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(copy, cycles, sizeof copy, cudaMemcpyDeviceToHost));
    double bytes = (double)THREADS * TURNS * (BYTES > 16 ? 32 : BYTES), sum = 0, low = 1e9, high = 0;
    for (int i = 0; i < set.count; i++) {
        double rate = bytes / (double)copy[i];
        sum += rate;
        low = rate < low ? rate : low;
        high = rate > high ? rate : high;
    }
    snprintf(text, sizeof text, "l2_bandwidth/%s/%s/%s/%s", pattern_names[pattern], CA ? "ca" : "cg",
             BYTES == 32 ? "sector" : BYTES == 16 ? "16" : BYTES == 8 ? "8" : "4", name);
    snprintf(note, sizeof note, "%d SMs, %.1f to %.1f each", set.count, low, high);
    report(text, sum, "bytes/cycle", note);
}

static Set every(int step, int count) {
    Set s = {{0}, 0};
    for (int i = 0; i < SMS && s.count < count; i += step) s.bit[i / 32] |= 1u << i % 32, s.count++;
    return s;
}

// SMs of a GPC that has 16 of them, TPC by TPC (bench/hwref/h200-places.tsv).
static const int gpc[16] = {2, 3, 18, 19, 34, 35, 50, 51, 64, 65, 78, 79, 92, 93, 106, 107};
static const struct {
    const char *name;
    int count, sms[16];
} sets[] = {
    {"one", 1, {2}},
    {"tpc", 2, {2, 3}},
    {"two_tpcs_a", 2, {2, 18}},
    {"two_tpcs_b", 2, {2, 34}},
    {"two_tpcs_c", 2, {2, 50}},
    {"two_tpcs_d", 2, {2, 64}},
    {"two_tpcs_e", 2, {2, 106}},
    {"two_gpcs", 2, {2, 4}},
    {"three_tpcs", 3, {2, 18, 34}},
    {"four_tpcs", 4, {2, 18, 34, 50}},
    {"eight_tpcs", 8, {2, 18, 34, 50, 64, 78, 92, 106}},
    {"both_of_2_tpcs", 4, {2, 3, 18, 19}},
    {"both_of_3_tpcs", 6, {2, 3, 18, 19, 34, 35}},
    {"both_of_4_tpcs", 8, {2, 3, 18, 19, 34, 35, 50, 51}},
    {"gpc", 16, {2, 3, 18, 19, 34, 35, 50, 51, 64, 65, 78, 79, 92, 93, 106, 107}},
    {"seven_gpcs", 7, {2, 4, 6, 8, 10, 12, 14}},
    {"tpc_of_4_gpcs", 8, {2, 3, 4, 5, 6, 7, 8, 9}},
};

template <int BYTES, bool CA> static void all_sets(int pattern) {
    for (auto &s : sets) measure<BYTES, CA>(s.name, pattern, set_of(s.sms, s.count));
    int gpcs[48], n = 0;
    for (int k = 0; k < 16; k++) gpcs[n++] = gpc[k];
    static const int next[16] = {4, 5, 20, 21, 36, 37, 52, 53, 66, 67, 80, 81, 94, 95, 108, 109};
    for (int k = 0; k < 16; k++) gpcs[n++] = next[k];
    measure<BYTES, CA>("two_whole_gpcs", pattern, set_of(gpcs, 32));
    for (int count : {16, 33, 48, 66}) {
        char name[32];
        snprintf(name, sizeof name, "one_of_%d_tpcs", count);
        measure<BYTES, CA>(name, pattern, every(2, count));
    }
    for (int count : {32, 64, 80, 96, 112, 132}) {
        char name[32];
        snprintf(name, sizeof name, "first_%d", count);
        measure<BYTES, CA>(name, pattern, every(1, count));
    }
}

template <int BYTES, bool CA> static void some_sets(int pattern) {
    measure<BYTES, CA>("one", pattern, set_of(gpc, 1));
    measure<BYTES, CA>("tpc", pattern, set_of(gpc, 2));
    measure<BYTES, CA>("gpc", pattern, set_of(gpc, 16));
    if (!counted) measure<BYTES, CA>("one_of_66_tpcs", pattern, every(2, 66));
    if (!counted) measure<BYTES, CA>("first_80", pattern, every(1, 80));
    measure<BYTES, CA>("first_132", pattern, every(1, 132));
}

int main(int argc, char **argv) {
    counted = argc > 1 && !strcmp(argv[1], "counted");
    CHECK(cudaMalloc(&data, 64 << 20));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMalloc(&arrived, 4));
    CHECK(cudaMemset(data, 0, 64 << 20));
    if (!counted) all_sets<16, false>(OWN), all_sets<32, false>(OWN);
    for (int pattern : {OWN, SHIFT, SAME, ROTATE4, ROTATE16}) {
        some_sets<16, false>(pattern), some_sets<4, false>(pattern);
        if (!counted) some_sets<32, false>(pattern), some_sets<8, false>(pattern);
        if (pattern != OWN) some_sets<16, true>(pattern), some_sets<4, true>(pattern);
    }
    return 0;
}
