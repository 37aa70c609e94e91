// SPDX-License-Identifier: Apache-2.0
// Loads of parts of the same lines by several SMs: which the L2 is asked for once. Two SMs of a GPC issue a sequence of loads each
// for every group of lines, at fixed times; the second one's drift past the first one's by STEP cycles a group (as in l2_coalescer.cu), so that
// coalesced sectors / sectors of a group * STEP is how many cycles the two may be apart. Then tables that the warps of all
// SMs read, a sector or more each. Counted from outside (counters.sh); a line for each launch.
#include "micro.h"

enum { SMS = 132, GROUPS = 512, GROUP = 1024, PERIOD = 3600, STEP = 8, WHOLE_SM = 200 * 1024, MOST = 4 };

typedef struct Load {
    short lanes, offset;  // lanes 0: none; bytes into the group
} Load;
typedef struct Pair {
    const char *name;
    Load loads[2][MOST];
    int gap;  // cycles between loads
} Pair;

static __device__ unsigned sm_id() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}
static __device__ unsigned load(const char *p) {
    unsigned v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

__global__ void pair(const char *data, unsigned second, Pair p, unsigned *arrived, unsigned *out) {
    unsigned id = sm_id(), sum = 0, lane = threadIdx.x;
    if (id != 0 && id != second) return;
    int which = id != 0;
    if (!lane) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < 2) {}
    }
    __syncwarp();
    i64 begin = now();
    for (int i = 0; i < GROUPS; i++) {
        i64 due = begin + 3000 + (i64)i * PERIOD + (which ? (i - GROUPS / 2) * STEP : 0);
        unsigned v[MOST];
#pragma unroll
        for (int k = 0; k < MOST; k++) {
            Load l = p.loads[which][k];
            v[k] = 0;
            while (now() < due + k * p.gap) {}
            if ((int)lane < l.lanes) v[k] = load(data + (size_t)i * GROUP + l.offset + lane * 4);
        }
#pragma unroll
        for (int k = 0; k < MOST; k++) sum += v[k];
    }
    if (sum == 12345) *out = sum;
}

// SMs of a GPC load at given times behind a common one.
typedef struct Timed {
    short at, lanes, offset;  // lanes 0: none
} Timed;
typedef struct Plan {
    const char *name;
    int sms;
    Timed loads[8][3];
} Plan;
__global__ void timed(const char *data, Plan p, unsigned *arrived, unsigned *out) {
    static const unsigned char of_gpc[8] = {0, 1, 16, 17, 32, 33, 48, 49};
    unsigned id = sm_id(), sum = 0, lane = threadIdx.x, which = 0;
    while (which < 8 && of_gpc[which] != id) which++;
    if ((int)which >= p.sms) return;
    u64 t, begin;
    if (!lane) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < p.sms) {}
    }
    __syncwarp();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    begin = (t / 16384 + 2) * 16384;
    while (t < begin) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    i64 first = now();
    for (int i = 0; i < GROUPS; i++) {
        i64 due = first + 3000 + (i64)i * PERIOD;
        unsigned v[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            Timed l = p.loads[which][k];
            v[k] = 0;
            while (now() < due + l.at) {}
            if ((int)lane < l.lanes) v[k] = load(data + (size_t)i * GROUP + l.offset + lane * 4);
        }
        sum += v[0] + v[1] + v[2];
    }
    if (sum == 12345) *out = sum;
}
// Warp w loads the sector `w` of a line, w * apart cycles later: how many requests are these.
__global__ void pieces(const char *data, int warps, int apart, int lanes, unsigned *out) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = 0;
    i64 first = now();
    __syncthreads();
    if ((int)warp < warps)
        for (int i = 0; i < GROUPS; i++) {
            i64 due = first + 20000 + (i64)i * PERIOD + warp * apart;
            while (now() < due) {}
            if ((int)lane < lanes) sum += load(data + (size_t)i * GROUP + warp * 32 + lane * 4);
        }
    if (sum == 12345) *out = sum;
}
// Warp w of each block reads `lanes` words at w * stride, `more` times, `step` bytes on each time.
__global__ void table(const char *data, int lanes, int stride, int more, int step, unsigned *out) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = 0;
    const char *at = data + warp * stride + lane * 4;
    for (int k = 0; k < more; k++)
        if ((int)lane < lanes) sum += load(at + k * step);
    if (sum == 12345) *out = sum;
}
// The same with all loads of a warp under way together.
__global__ void table_ahead(const char *data, int lanes, int stride, int step, unsigned *out) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = 0, v[4];
    const char *at = data + warp * stride + lane * 4;
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = (int)lane < lanes ? load(at + k * step) : 0;
#pragma unroll
    for (int k = 0; k < 4; k++) sum += v[k];
    if (sum == 12345) *out = sum;
}
// Rows of a matrix and their neighbours: block b loads row b, and those above and below, and words beside.
__global__ void rows(const unsigned *data, int wide, int sides, int neighbours, unsigned *out) {
    int x = threadIdx.x % wide, y = blockIdx.x * (blockDim.x / wide) + threadIdx.x / wide, high = gridDim.x * (blockDim.x / wide);
    unsigned sum = data[y * wide + x];
    if (sides) sum += data[y * wide + (x + 1) % wide] + data[y * wide + (x + wide - 1) % wide];
    if (neighbours) sum += data[(y + 1) % high * wide + x] + data[(y + high - 1) % high * wide + x];
    if (sum == 12345) *out = sum;
}

static char *data;
static unsigned *out, *arrived;

static void launch_pair(unsigned second, Pair p) {
    CHECK(cudaMemset(arrived, 0, 4));
    pair<<<SMS, 32, WHOLE_SM>>>(data, second, p, arrived, out);
    CHECK(cudaDeviceSynchronize());
    printf("pair\t%s\t%u\t%d\t0\n", p.name, second, p.gap);
}
static void launch_timed(Plan p) {
    CHECK(cudaMemset(arrived, 0, 4));
    timed<<<SMS, 32, WHOLE_SM>>>(data, p, arrived, out);
    CHECK(cudaDeviceSynchronize());
    printf("timed\t%s\t%d\t0\t0\n", p.name, p.sms);
}
static void launch_pieces(int warps, int apart, int lanes) {
    pieces<<<1, 128>>>(data, warps, apart, lanes, out);
    CHECK(cudaDeviceSynchronize());
    printf("pieces\t%d\t%d\t%d\t0\n", warps, apart, lanes);
}
static void launch_table(int blocks, int warps, int lanes, int stride, int more, int step) {
    table<<<blocks, warps * 32, WHOLE_SM>>>(data, lanes, stride, more, step, out);
    CHECK(cudaDeviceSynchronize());
    printf("table\t%d:%d\t%d\t%d\t%d:%d\n", blocks, warps, lanes, stride, more, step);
}
static void launch_ahead(int blocks, int warps, int lanes, int stride, int step) {
    table_ahead<<<blocks, warps * 32, WHOLE_SM>>>(data, lanes, stride, step, out);
    CHECK(cudaDeviceSynchronize());
    printf("table_ahead\t%d:%d\t%d\t%d\t%d\n", blocks, warps, lanes, stride, step);
}
static void launch_rows(int blocks, int threads, int wide, int sides, int neighbours) {
    rows<<<blocks, threads>>>((const unsigned *)data, wide, sides, neighbours, out);
    CHECK(cudaDeviceSynchronize());
    printf("rows\t%d:%d\t%d\t%d\t%d\n", blocks, threads, wide, sides, neighbours);
}

int main(int argc, char **) {
    CHECK(cudaMalloc(&data, 64 << 20));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMalloc(&arrived, 4));
    CHECK(cudaMemset(data, 0, 64 << 20));
    CHECK(cudaFuncSetAttribute(pair, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    CHECK(cudaFuncSetAttribute(table, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    CHECK(cudaFuncSetAttribute(table_ahead, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
    static const Pair pairs[] = {
        {"0|0", {{{8, 0}}, {{8, 0}}}, 0},
        {"0,1|0,1", {{{8, 0}, {8, 32}}, {{8, 0}, {8, 32}}}, 0},
        {"0,1|0,1", {{{8, 0}, {8, 32}}, {{8, 0}, {8, 32}}}, 40},
        {"0,1|0,1", {{{8, 0}, {8, 32}}, {{8, 0}, {8, 32}}}, 160},
        {"0,1|0,1", {{{8, 0}, {8, 32}}, {{8, 0}, {8, 32}}}, 400},
        {"0,1|0", {{{8, 0}, {8, 32}}, {{8, 0}}}, 0},
        {"0,1|0", {{{8, 0}, {8, 32}}, {{8, 0}}}, 160},
        {"0,1|1", {{{8, 0}, {8, 32}}, {{8, 32}}}, 0},
        {"0,1|1", {{{8, 0}, {8, 32}}, {{8, 32}}}, 160},
        {"0,1|1,0", {{{8, 0}, {8, 32}}, {{8, 32}, {8, 0}}}, 0},
        {"0,2|0,2", {{{8, 0}, {8, 64}}, {{8, 0}, {8, 64}}}, 0},
        {"0,4|0,4", {{{8, 0}, {8, 128}}, {{8, 0}, {8, 128}}}, 0},
        {"0,8|0,8", {{{8, 0}, {8, 256}}, {{8, 0}, {8, 256}}}, 0},
        {"0,1,2,3|0,1,2,3", {{{8, 0}, {8, 32}, {8, 64}, {8, 96}}, {{8, 0}, {8, 32}, {8, 64}, {8, 96}}}, 0},
        {"0,1,2,3|3,2,1,0", {{{8, 0}, {8, 32}, {8, 64}, {8, 96}}, {{8, 96}, {8, 64}, {8, 32}, {8, 0}}}, 0},
        {"0,4,8,12|0,4,8,12", {{{8, 0}, {8, 128}, {8, 256}, {8, 384}}, {{8, 0}, {8, 128}, {8, 256}, {8, 384}}}, 0},
        {"0-3,4|0-3,4", {{{32, 0}, {8, 128}}, {{32, 0}, {8, 128}}}, 0},
        {"0,1-3|0,1-3", {{{8, 0}, {24, 32}}, {{8, 0}, {24, 32}}}, 0},
        {"0-1,2-3|0-1,2-3", {{{16, 0}, {16, 64}}, {{16, 0}, {16, 64}}}, 0},
        {"0-1|0-1", {{{16, 0}}, {{16, 0}}}, 0},
        {"1-2|1-2", {{{16, 32}}, {{16, 32}}}, 0},
        {"2-5|2-5", {{{32, 64}}, {{32, 64}}}, 0},
        {"1-4|1-4", {{{32, 32}}, {{32, 32}}}, 0},
        {"word1-|word1-", {{{32, 4}}, {{32, 4}}}, 0},
        {"0-3,word1-|0-3,word1-", {{{32, 0}, {32, 4}}, {{32, 0}, {32, 4}}}, 0},
        {"0-3|0", {{{32, 0}}, {{8, 0}}}, 0},
        {"0|0-3", {{{8, 0}}, {{32, 0}}}, 0},
        {"0-3|0-3", {{{32, 0}}, {{32, 0}}}, 0},
        {"0,1-3|0-3", {{{8, 0}, {24, 32}}, {{32, 0}}}, 0},
        {"1lane|1lane", {{{1, 0}}, {{1, 0}}}, 0},
        {"0|0 one word each", {{{1, 0}}, {{8, 0}}}, 0},
    };
    CHECK(cudaFuncSetAttribute(timed, cudaFuncAttributeMaxDynamicSharedMemorySize, WHOLE_SM));
#define S0(t) {t, 8, 0}
#define S1(t) {t, 8, 32}
#define S2(t) {t, 8, 64}
#define S01(t) {t, 16, 0}
#define L(t) {t, 32, 0}
    static const Plan plans[] = {
        {"A0 B0 C0", 3, {{S0(0)}, {S0(100)}, {S0(200)}}},
        {"A0 B1 C0", 3, {{S0(0)}, {S1(100)}, {S0(200)}}},
        {"A0 B1 C1 D0", 4, {{S0(0)}, {S1(80)}, {S1(160)}, {S0(240)}}},
        {"A0 B1 C2 D2", 4, {{S0(0)}, {S1(80)}, {S2(160)}, {S2(240)}}},
        {"A0 A1 B1 C0 C1", 3, {{S0(0), S1(60)}, {S1(120)}, {S0(180), S1(240)}}},
        {"A0 A1 B0 B1 C1 C0 D0 D1", 4, {{S0(0), S1(40)}, {S0(80), S1(120)}, {S1(160), S0(200)}, {S0(240), S1(280)}}},
        {"A0 B0 A1 C1", 3, {{S0(0), S1(120)}, {S0(60)}, {S1(200)}}},
        {"A0 A1 B0 C0 D0", 4, {{S0(0), S1(60)}, {S0(120)}, {S0(180)}, {S0(240)}}},
        {"A01 B0 C01 D01", 4, {{S01(0)}, {S0(80)}, {S01(160)}, {S01(240)}}},
        {"A01 C01 B0 D01", 4, {{S01(0)}, {S0(160)}, {S01(80)}, {S01(240)}}},
        {"A C B0 D whole lines", 4, {{L(0)}, {S0(160)}, {L(80)}, {L(240)}}},
        {"eight of 0, then of 1", 8, {{S0(0), S1(160)}, {S0(20), S1(180)}, {S0(40), S1(200)}, {S0(60), S1(220)}, {S0(80), S1(240)}, {S0(100), S1(260)}, {S0(120), S1(280)}, {S0(140), S1(300)}}},
        {"eight of 0 and 1, each", 8, {{S0(0), S1(20)}, {S0(40), S1(60)}, {S0(80), S1(100)}, {S0(120), S1(140)}, {S0(160), S1(180)}, {S0(200), S1(220)}, {S0(240), S1(260)}, {S0(280), S1(300)}}},
        {"eight, pairs of sectors", 8, {{S0(0)}, {S0(20)}, {S1(40)}, {S1(60)}, {S2(80)}, {S2(100)}, {{120, 8, 96}}, {{140, 8, 96}}}},
        {"eight, in turns", 8, {{S0(0)}, {S1(20)}, {S0(40)}, {S1(60)}, {S0(80)}, {S1(100)}, {S0(120)}, {S1(140)}}},
        {"A0 A4 B4 B0", 2, {{S0(0), {60, 8, 128}}, {{120, 8, 128}, S0(180)}}},
        {"lines x y, y x", 2, {{L(0), {60, 32, 128}}, {{120, 32, 128}, L(180)}}},
        {"lines x y, y x far", 2, {{L(0), {60, 32, 512}}, {{120, 32, 512}, L(180)}}},
    };
    bool more = argc > 1;
    for (const Plan &p : plans)
        if (more) launch_timed(p);
    for (int warps : {2, 4})
        for (int lanes : {1, 8})
            for (int apart : {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64})
                if (more) launch_pieces(warps, apart, lanes);
    if (more) return 0;
    for (unsigned second : {1u, 16u})
        for (const Pair &p : pairs) launch_pair(second, p);
    for (int warps : {1, 4, 8, 32})
        for (int lanes : {1, 8, 16, 32})
            for (int stride : {32, 64, 128, 256, 4096}) {
                if (warps == 1 && stride != 32) continue;
                launch_table(132, warps, lanes, stride, 1, 0);
            }
    for (int warps : {1, 8, 32})
        for (int step : {32, 128, 4096}) launch_table(132, warps, 8, 4 * step, 4, step), launch_ahead(132, warps, 8, 4 * step, step), launch_ahead(132, warps, 32, 4 * step, step);
    for (int blocks : {132, 264, 1056})
        for (int threads : {128, 256})
            for (int sides : {0, 1})
                for (int neighbours : {0, 1}) launch_rows(blocks, threads, threads, sides, neighbours), launch_rows(blocks, threads, 32, sides, neighbours);
    return 0;
}
