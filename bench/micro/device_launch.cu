// SPDX-License-Identifier: Apache-2.0
// Kernels launched by kernels (-rdc=true -lcudadevrt). Rows:
//   stream <tab> launching threads <tab> CTAs <tab> launches of each <tab> cycles the child spins <tab> host's us of
//   the whole <tab> cycles of the first launch call <tab> of the last <tab> ns from the parent's begin to that of the
//   first child <tab> ... of the last <tab> from the last child's end to ... (children's ends, ns after the parent's
//   begin)
// With an argument each row runs once, for Nsight Compute.
#include "micro.h"

__device__ static inline u64 clock_ns() {
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}
struct Times {
    u64 parent_begin, parent_end, first_child, last_child, last_end;
    i64 call_first, call_last;
};

__global__ void child(Times *t, int spin) {
    u64 begin = clock_ns();
    for (i64 t0 = now(); now() - t0 < spin;) {}
    if (threadIdx.x == 0) {
        atomicMin(&t->first_child, begin);
        atomicMax(&t->last_child, begin);
        atomicMax(&t->last_end, clock_ns());
    }
}
enum { BLOCK, FORGET, TAIL, OWN, NONE };
static const char *const names[] = {"block", "fire_and_forget", "tail", "own_stream", "none"};
__global__ void parent(Times *t, int kind, int launches, int spin) {
    if (blockIdx.x == 0 && threadIdx.x == 0) t->parent_begin = clock_ns();
    cudaStream_t stream = 0;
    if (kind == FORGET) stream = cudaStreamFireAndForget;
    if (kind == TAIL) stream = cudaStreamTailLaunch;
    if (kind == OWN) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < launches && kind != NONE; i++) {
        i64 t0 = now();
        child<<<1, 32, 0, stream>>>(t, spin);
        i64 t1 = now();
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            if (i == 0) t->call_first = t1 - t0;
            t->call_last = t1 - t0;
        }
    }
    if (kind == OWN) cudaStreamDestroy(stream);
    atomicMax(&t->parent_end, clock_ns());
}
__global__ void nested(Times *t, int depth, int spin) {
    if (depth == 0) {
        for (i64 t0 = now(); now() - t0 < spin;) {}
        return;
    }
    if (threadIdx.x == 0) nested<<<1, 32>>>(t, depth - 1, spin);
}
static Times *t;
static cudaEvent_t from, to;
static void row(int kind, int threads, int ctas, int launches, int spin, bool show) {
    *t = (Times){};
    t->first_child = ~0ull;
    CHECK(cudaEventRecord(from));
    parent<<<ctas, threads>>>(t, kind, launches, spin);
    CHECK(cudaEventRecord(to));
    CHECK(cudaDeviceSynchronize());
    if (kind == NONE) t->first_child = t->last_child = t->last_end = t->parent_begin;
    float ms;
    CHECK(cudaEventElapsedTime(&ms, from, to));
    if (show)
        printf("%s\t%d\t%d\t%d\t%d\t%.2f\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\n", names[kind], threads, ctas, launches,
               spin, ms * 1e3, t->call_first, t->call_last, (i64)(t->first_child - t->parent_begin),
               (i64)(t->last_child - t->parent_begin), (i64)(t->last_end - t->parent_begin),
               (i64)(t->parent_end - t->parent_begin));
}
static void nest(int depth, int spin, bool show) {
    CHECK(cudaEventRecord(from));
    nested<<<1, 32>>>(t, depth, spin);
    CHECK(cudaEventRecord(to));
    CHECK(cudaDeviceSynchronize());
    float ms;
    CHECK(cudaEventElapsedTime(&ms, from, to));
    if (show) printf("nested\t1\t1\t%d\t%d\t%.2f\n", depth, spin, ms * 1e3);
}
int main(int argc, char **) {
    CHECK(cudaMallocManaged(&t, sizeof *t));
    CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 8192));
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    for (int turn = argc > 1; turn < 2; turn++) {
        row(NONE, 1, 1, 1, 0, turn);
        for (int kind : {BLOCK, FORGET, TAIL, OWN})
            for (int launches : {1, 2, 4, 16})
                for (int spin : {0, 20000}) row(kind, 1, 1, launches, spin, turn);
        for (int threads : {2, 8, 32, 64, 256})
            row(BLOCK, threads, 1, 1, 20000, turn), row(FORGET, threads, 1, 1, 20000, turn);
        for (int ctas : {2, 4, 16, 132})
            row(BLOCK, 1, ctas, 1, 20000, turn), row(BLOCK, 64, ctas > 16 ? 4 : ctas, 1, 20000, turn);
        row(BLOCK, 1, 1, 64, 0, turn);
        row(FORGET, 1, 1, 64, 0, turn);
        for (int depth : {0, 1, 2, 4, 8, 16}) nest(depth, 20000, turn), nest(depth, 0, turn);
    }
}
