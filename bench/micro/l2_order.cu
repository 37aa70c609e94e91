// SPDX-License-Identifier: Apache-2.0
// Which lines the L2 gives up first: kernels of several phases, each writes or reads a part of a footprint. counters.sh measures the
// bytes of DRAM of each launch (ncu, one pass); the program prints a line for each launch: w0:16 writes MiB 0 to 16 of the
// first array, r0:16 reads them, o0:40 reads of another, b0:20+o0:16 does both side by side, t200 waits 200 us; O and W: four
// accesses of a thread at once; o0:40/500: 500 cycles from one access of a thread to its next.
#include "micro.h"

#include <cstring>

enum { BLOCKS = 264, THREADS = 512, LANES = BLOCKS * THREADS, MOST = 12 };
typedef struct Phase {
    char what, other;     // b: both
    int from, mb;         // MiB
    int pace;             // cycles
    int other_from, other_mb;
} Phase;
typedef struct Plan {
    int count;
    Phase phases[MOST];
} Plan;

static __device__ unsigned arrived;
static __device__ void everybody(unsigned round) {  // all blocks are resident
    __syncthreads();
    if (!threadIdx.x) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived < round * gridDim.x) __nanosleep(200);
    }
    __syncthreads();
}
__global__ void reset() { arrived = 0; }

static __device__ size_t units(int mb) { return (size_t)mb << 16; }

static __device__ unsigned four(uint4 *p, size_t count, bool writes, int value, int pace) {
    unsigned sum = 0;
    i64 begin = now();
    int turn = 0;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < count; i += 4 * LANES) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * LANES < count) {
                if (writes)
                    p[i + k * LANES] = make_uint4(value, i, value, i);
                else
                    v[k] = __ldcg(p + i + k * LANES);
            }
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (!writes && i + k * LANES < count) sum += v[k].x ^ v[k].y;
        if (pace)
            for (turn++; now() - begin < (i64)turn * pace;) {}
    }
    return sum;
}

__global__ void phases(uint4 *data, uint4 *other, Plan plan, unsigned *out) {
    unsigned sum = 0;
    size_t first = threadIdx.x + (size_t)blockIdx.x * THREADS;
    for (int k = 0; k < plan.count; k++) {
        Phase p = plan.phases[k];
        if (k) everybody(k);
        if (p.what == 't') {
            i64 t = now();
            while (now() - t < p.mb * 1800ll) {}
            continue;
        }
        uint4 *at = (p.what == 'o' || p.what == 'O' ? other : data) + units(p.from), *beside = other + units(p.other_from);
        if (p.what == 'O' || p.what == 'W') {
            sum += four(at, units(p.mb), p.what == 'W', k, p.pace);
            continue;
        }
        i64 begin = now();
        int turn = 0;
        for (size_t i = first; i < units(p.mb) || i < units(p.other_mb); i += LANES) {
            if (i < units(p.mb)) {
                if (p.what == 'w' || p.what == 'b') {
                    at[i] = make_uint4(k, i, k, i);
                } else {
                    uint4 v = __ldcg(at + i);
                    sum += v.x ^ v.y;
                }
            }
            if (i < units(p.other_mb)) {
                uint4 v = __ldcg(beside + i);
                sum += v.x ^ v.y;
            }
            if (p.pace)
                for (turn++; now() - begin < (i64)turn * p.pace;) {}
        }
    }
    if (sum == 12345) *out = sum;
}

static uint4 *data, *other;
static unsigned *out;

static void launch(const char *text) {
    Plan plan = {0};
    char copy[256];
    strcpy(copy, text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        Phase *p = &plan.phases[plan.count++];
        p->what = *word;
        if (p->what == 't')
            p->mb = atoi(word + 1);
        else if (sscanf(word + 1, "%d:%d+%c%d:%d", &p->from, &p->mb, &p->other, &p->other_from, &p->other_mb) < 2)
            exit(2);
        if (strchr(word, '/')) p->pace = atoi(strchr(word, '/') + 1);
    }
    reset<<<1, 1>>>();
    phases<<<BLOCKS, THREADS>>>(data, other, plan, out);
    CHECK(cudaDeviceSynchronize());
    printf("phases\t%s\n", text);
}

int main(int argc, char **argv) {
    CHECK(cudaMalloc(&data, 512 << 20));
    CHECK(cudaMalloc(&other, 512 << 20));
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMemset(data, 0, 512 << 20));
    CHECK(cudaMemset(other, 0, 512 << 20));
    static const char *const plans[] = {
        // which of two written parts goes first; does writing or reading again make younger
        "w0:8 w8:8 o0:24", "w0:8 w8:8 o0:32", "w0:8 w8:8 o0:32 r0:8", "w0:8 w8:8 o0:32 r8:8", "w0:8 w8:8 o0:48 r0:8", "w0:8 w8:8 o0:48 r8:8",
        "w0:8 w8:8 w0:8 o0:32", "w0:8 w8:8 w0:8 o0:32 r0:8", "w0:8 w8:8 w0:8 o0:32 r8:8", "w0:8 w8:8 r0:8 o0:32", "w0:8 w8:8 r0:8 o0:32 r0:8",
        "w0:8 w8:8 r0:8 o0:32 r8:8", "w0:8 w8:8 w0:8 w0:8 w0:8 o0:32 r0:8", "w0:8 w8:8 r0:8 r0:8 r0:8 o0:32 r0:8",
        "w0:4 w4:4 w8:4 w12:4 o0:40 r0:4", "w0:4 w4:4 w8:4 w12:4 o0:40 r4:4", "w0:4 w4:4 w8:4 w12:4 o0:40 r8:4", "w0:4 w4:4 w8:4 w12:4 o0:40 r12:4",
        // the same of what is read only
        "o0:12 o12:12 o24:24", "o0:12 o12:12 o24:24 o0:12", "o0:12 o12:12 o24:24 o12:12", "o0:12 o12:12 o0:12 o24:24 o0:12", "o0:12 o12:12 o0:12 o24:24 o12:12",
        "o0:16 o16:16 o32:16 o0:16", "o0:16 o16:16 o32:16 o16:16", "o0:8 o8:8 o16:8 o24:8 o32:16 o0:8", "o0:8 o8:8 o16:8 o24:8 o32:16 o8:8", "o0:8 o8:8 o16:8 o24:8 o32:16 o16:8",
        "o0:8 o8:8 o16:8 o24:8 o32:16 o24:8",
        // read first, then written: which go
        "o0:24 w0:16", "o0:24 w0:16 o0:24", "o0:32 w0:16 o0:32", "o0:32 w0:8 o0:32", "o0:16 w0:16 o16:16", "o0:16 w0:16 o16:16 o0:16", "o0:16 w0:16 o16:16 o16:16", "o0:16 w0:16 o16:16 r0:16",
        "o0:24 w0:16 o24:24", "o0:24 w0:16 o24:24 r0:16",
        // read, then changed
        "r0:16 w0:16 o0:32", "r0:16 w0:16 o0:40", "r0:24 w0:24 o0:32",
        // written again and again
        "w0:20 w0:20", "w0:24 w0:24", "w0:26 w0:26", "w0:28 w0:28", "w0:30 w0:30", "w0:28 w0:28 w0:28", "w0:28 w0:28 w0:28 w0:28", "w0:24 w0:24 w0:24 w0:24", "w0:32 w0:32 w0:32", "w0:36 w0:36",
        // beside reads
        "b0:20+o0:16", "b0:20+o0:16 b0:20+o16:16", "b0:20+o0:16 b0:20+o16:16 b0:20+o32:16", "b0:20+o0:16 b0:20+o16:16 b0:20+o32:16 b0:20+o48:16",
        "b0:20+o0:16 b0:20+o16:16 b0:20+o32:16 b0:20+o48:16 b0:20+o64:16", "b0:20+o0:16 b0:20+o16:16 b0:20+o32:16 b0:20+o48:16 b0:20+o64:16 b0:20+o80:16 b0:20+o96:16 b0:20+o112:16",
        "b0:8+o0:24", "b0:8+o0:24 b0:8+o24:24", "b0:8+o0:24 b0:8+o24:24 b0:8+o48:24", "b0:8+o0:24 b0:8+o24:24 b0:8+o48:24 b0:8+o72:24",
        "b0:8+o0:32 b0:8+o32:32 b0:8+o64:32 b0:8+o96:32", "b0:4+o0:32 b0:4+o32:32 b0:4+o64:32 b0:4+o96:32", "b0:4+o0:48 b0:4+o48:48 b0:4+o96:48 b0:4+o144:48",
        "w0:20 o0:16 w0:20 o16:16 w0:20 o32:16 w0:20 o48:16", "w0:16 o0:16 w0:16 o16:16 w0:16 o32:16 w0:16 o48:16", "w0:8 o0:24 w0:8 o24:24 w0:8 o48:24 w0:8 o72:24",
        "w0:16 o0:16 w0:16", "w0:16 o0:24 w0:16", "w0:16 o0:32 w0:16", "w0:16 o0:32 r0:16", "w0:16 o0:16 w0:16 o16:16", "w0:16 o0:16 w0:16 o16:24", "w0:16 o0:16 o16:16", "w0:16 o0:16 r0:16 o16:16",
        "w0:16 o0:16 r0:16 o16:24",
        // time alone
        "w0:16 t500", "w0:24 t500", "w0:16 t500 o0:40", "w0:16 o0:40 t500", "w0:24 t500 o0:24", "w0:24 o0:24",
        // the same others read again and again
        "w0:16 o0:16 o0:16 o0:16 o0:16", "w0:16 o0:20 o0:20 o0:20 o0:20", "w0:24 o0:16 o0:16 o0:16 o0:16", "w0:20 o0:16 o0:16 o0:16 o0:16", "w0:16 o0:24 o0:24 o0:24 o0:24",
    };
    static const char *const paced[] = {
        "w0:16 o0:40", "W0:16 o0:40", "w0:16 O0:40", "W0:16 O0:40", "w0:16 o0:40/1000", "w0:16 o0:40/2000", "w0:16 o0:40/4000", "w0:16 o0:40/8000", "w0:16 o0:40/16000",
        "w0:16/8000 o0:40/8000", "w0:16 O0:40/4000", "w0:16 O0:40/8000", "w0:16 O0:40/16000", "w0:16 O0:40/32000",
        "w0:16 o0:16/8000", "w0:16 o0:24/8000", "w0:16 o0:32/8000", "w0:16 o0:48/8000", "w0:16 o0:64/8000", "w0:24 o0:8/8000", "w0:24 o0:16/8000", "w0:24 o0:24/8000", "w0:24 o0:40/8000",
        "w0:8 o0:32/8000", "w0:8 o0:40/8000", "w0:8 o0:48/8000", "w0:16 O0:24", "w0:16 O0:32", "w0:16 O0:48", "w0:16 O0:64", "w0:24 O0:16", "w0:24 O0:24", "w0:24 O0:40",
        "w0:8 w8:8 o0:32/8000 r0:8", "w0:8 w8:8 o0:32/8000 r8:8", "w0:8 w8:8 r0:8 o0:32/8000 r0:8", "w0:8 w8:8 r0:8 o0:32/8000 r8:8", "w0:8 w8:8 O0:32 r0:8", "w0:8 w8:8 O0:32 r8:8",
        "w0:64/4000", "w0:64/8000", "W0:64", "w0:32/8000", "w0:28/8000 w0:28/8000", "w0:32/8000 w0:32/8000", "w0:48/8000 w0:48/8000",
        "b0:20+o0:16/8000 b0:20+o16:16/8000 b0:20+o32:16/8000 b0:20+o48:16/8000", "b0:8+o0:24/8000 b0:8+o24:24/8000 b0:8+o48:24/8000 b0:8+o72:24/8000", "b0:16+o0:16/8000 b0:16+o16:16/8000 b0:16+o32:16/8000 b0:16+o48:16/8000",
        "b0:32+o0:32", "b0:32+o0:32/4000", "b0:32+o0:32/8000", "b0:64+o0:64", "b0:64+o0:64/4000", "b0:64+o0:64/8000", "b0:32+o0:64", "b0:32+o0:64/8000", "b0:24+o0:24/8000",
        "o0:36 o0:36", "o0:40 o0:40", "o0:40/8000 o0:40/8000", "o0:44/8000 o0:44/8000", "o0:48/8000 o0:48/8000", "O0:40 O0:40", "O0:44 O0:44", "O0:48 O0:48",
    };
    bool all = argc == 1;
    if (all || !strcmp(argv[1], "order"))
        for (const char *plan : plans) launch(plan);
    if (all || !strcmp(argv[1], "paced"))
        for (const char *plan : paced) launch(plan);
    return 0;
}
