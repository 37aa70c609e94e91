// SPDX-License-Identifier: Apache-2.0
// Loads of the same lines by several SMs: when the L2 is asked once for both. Two SMs load line after line at fixed times, the
// second one's drift past the first one's by STEP cycles a line, so that loads joined * STEP is how long the L2 waits for others, however
// far their clocks are apart; then all SMs load the same lines at their own pace. Counted from outside (counters.sh);
// the program prints a line for each launch. `l2_coalescer pairs` and `all` have half of them; `places` prints where blocks run, `sides` how long
// atomics of each SM take, word by word: those of one partition of the L2 are alike.
#include "micro.h"

#include <cstring>

enum { SMS = 132, LINES = 512, PERIOD = 3600, STEP = 8, WHOLE_SM = 200 * 1024 };
enum Kind { LOAD_CA, LOAD_CG, LOAD_NC, LOAD_VOLATILE, KINDS };
static const char *const kind_names[KINDS] = {"ca", "cg", "nc", "volatile"};

static __device__ unsigned sm_id() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}
static __device__ unsigned load(const unsigned *p, int kind) {
    unsigned v;
    switch (kind) {
    case LOAD_CA: asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
    case LOAD_CG: asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
    case LOAD_NC: asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
    default: asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); break;
    }
    return v;
}

typedef struct Pair {
    unsigned first, second;        // SMs
    int kind, warm;                // warm: both have read all lines before
    unsigned lanes[2], offset[2];  // 8 lanes a sector; offset: bytes into the line
} Pair;

static __device__ void meet(unsigned *arrived, unsigned goal) {
    if (!threadIdx.x) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < goal) {}
    }
    __syncwarp();
}

// One warp on each SM; those of two go on.
__global__ void pair(const unsigned *data, Pair p, unsigned *arrived, unsigned *out) {
    unsigned id = sm_id(), sum = 0;
    if (id != p.first && id != p.second) return;
    int which = id == p.second;
    const unsigned *at = data + p.offset[which] / 4 + threadIdx.x;
    if (p.warm) {
        if (which) meet(arrived, 1 + which);
        for (int i = 0; i < LINES; i++) sum += load(data + i * 32 + threadIdx.x, LOAD_CG);
        __syncwarp();
        if (!which && sum != 1) meet(arrived, 2);
        meet(arrived, 4);
    } else {
        meet(arrived, 2);
    }
    i64 begin = now();
    for (int i = 0; i < LINES; i++) {
        i64 due = begin + 3000 + (i64)i * PERIOD + (which ? (i - LINES / 2) * STEP : 0);
        while (now() < due) {}
        if (threadIdx.x < p.lanes[which]) sum += load(at + i * 32, p.kind);
    }
    if (sum == 12345) *out = sum;
}

// All blocks load the same lines; `ahead` of a warp are under way.
template <int ahead> __global__ void all(const unsigned *data, int lines, unsigned *out) {
    unsigned sum = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int i = warp * ahead; i < lines; i += warps * ahead) {
        unsigned v[ahead];
#pragma unroll
        for (int k = 0; k < ahead; k++) v[k] = load(data + (i + k) * 32 + lane, LOAD_CA);
#pragma unroll
        for (int k = 0; k < ahead; k++) sum += v[k];
    }
    if (sum == 12345) *out = sum;
}

__global__ void places(unsigned *where) {
    if (!threadIdx.x) where[blockIdx.x] = sm_id();
    i64 t = now();
    while (now() - t < 20000) {}
}

enum { WORDS = 256 };
__global__ void atomics(unsigned *data, unsigned sm, unsigned short *cycles) {
    if (sm_id() != sm || threadIdx.x) return;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < WORDS; i++) {
            i64 begin = now();
            unsigned v = atomicAdd(data + i * 1024, 2);
            if (v == 123457) return;
            cycles[i] = (unsigned short)(now() - begin);
        }
}

static unsigned *data, *out, *arrived;

static void launch_pair(Pair p) {
    CHECK(cudaMemset(arrived, 0, 4));
    pair<<<SMS, 32, WHOLE_SM>>>(data, p, arrived, out);
    CHECK(cudaDeviceSynchronize());
    printf("pair\t%u\t%u\t%s\t%d\t%u\t%u\t%u\t%u\n", p.first, p.second, kind_names[p.kind], p.warm, p.lanes[0], p.lanes[1], p.offset[0], p.offset[1]);
}

template <int ahead> static void launch_all(int blocks, int warps, int lines) {
    all<ahead><<<blocks, warps * 32, WHOLE_SM>>>(data, lines, out);
    CHECK(cudaDeviceSynchronize());
    printf("all\t%d\t%d\t%d\t%d\n", blocks, warps, ahead, lines);
}

static void print_places(int blocks, int threads, int shared) {
    unsigned *where, host[4096];
    CHECK(cudaMalloc(&where, sizeof host));
    places<<<blocks, threads, shared>>>(where);
    CHECK(cudaMemcpy(host, where, sizeof host, cudaMemcpyDeviceToHost));
    printf("places\t%d\t%d\t%d\t", blocks, threads, shared);
    for (int i = 0; i < blocks; i++) printf("%u ", host[i]);
    printf("\n");
    CHECK(cudaFree(where));
}

static void print_sides() {
    unsigned short *cycles, host[WORDS];
    CHECK(cudaMalloc(&cycles, sizeof host));
    CHECK(cudaFuncSetAttribute(atomics, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    for (unsigned sm = 0; sm < SMS; sm++) {
        atomics<<<SMS, 32, WHOLE_SM>>>(data, sm, cycles);
        CHECK(cudaMemcpy(host, cycles, sizeof host, cudaMemcpyDeviceToHost));
        printf("side\t%u\t", sm);
        for (unsigned short c : host) printf("%u ", c);
        printf("\n");
    }
    CHECK(cudaFree(cycles));
}

int main(int argc, char **argv) {
    CHECK(cudaMalloc(&data, 64 << 20));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMalloc(&arrived, 4));
    CHECK(cudaMemset(data, 0, 64 << 20));
    CHECK(cudaFuncSetAttribute(pair, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    CHECK(cudaFuncSetAttribute(places, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    CHECK(cudaFuncSetAttribute(all<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    CHECK(cudaFuncSetAttribute(all<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    CHECK(cudaFuncSetAttribute(all<16>, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    if (argc > 1 && !strcmp(argv[1], "places")) {
        for (int blocks : {16, 64, 132, 264}) print_places(blocks, 32, WHOLE_SM);
        for (int blocks : {16, 64, 132, 264, 1056}) print_places(blocks, 256, 0);
        print_places(528, 1024, 0);
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "sides")) return print_sides(), 0;
    bool pairs = argc == 1 || !strcmp(argv[1], "pairs"), all = argc == 1 || !strcmp(argv[1], "all");
    for (unsigned sm = 1; sm < SMS && pairs; sm++) launch_pair({0, sm, LOAD_CA, 0, {32, 32}, {0, 0}});
    for (unsigned sm : {1, 2, 3, 14, 16, 17, 30, 64, 66, 100, 131}) {
        if (!pairs) break;
        launch_pair({0, sm, LOAD_CA, 1, {32, 32}, {0, 0}});
        for (int kind = LOAD_CG; kind < KINDS; kind++) launch_pair({0, sm, kind, 0, {32, 32}, {0, 0}});
        launch_pair({0, sm, LOAD_CA, 0, {8, 8}, {0, 0}});
        launch_pair({0, sm, LOAD_CA, 0, {8, 8}, {0, 32}});
        launch_pair({0, sm, LOAD_CA, 0, {8, 8}, {0, 64}});
        launch_pair({0, sm, LOAD_CA, 0, {32, 8}, {0, 64}});
        launch_pair({0, sm, LOAD_CA, 0, {8, 32}, {64, 0}});
    }
    for (int blocks : {2, 4, 8, 16, 32, 66, 99, 132}) {
        if (!all) break;
        launch_all<1>(blocks, 1, 2048), launch_all<4>(blocks, 1, 2048), launch_all<16>(blocks, 1, 2048);
        launch_all<1>(blocks, 8, 2048), launch_all<4>(blocks, 8, 2048), launch_all<16>(blocks, 8, 2048), launch_all<1>(blocks, 32, 4096);
    }
    return 0;
}
