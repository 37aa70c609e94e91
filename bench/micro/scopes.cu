// SPDX-License-Identifier: Apache-2.0
// Atomics of every thread on one word, by operation, scope and kind of memory: what an SM cycle of the GPU does.
#include "micro.h"

enum { BLOCKS = 64, THREADS = 256, TIMES = 50 };
enum Op { ADD, ADD_USED, EXCH, MAX, INC, DEC, AND, XOR, CAS, LOAD };

template <int op, bool system> __global__ void same_word(int *p, int times, int *sink) {
    int sum = 0;
    unsigned *u = (unsigned *)p;
    for (int i = 0; i < times; i++) {
        int tid = threadIdx.x + blockIdx.x * blockDim.x;
#define DO(f, ...) (system ? f##_system(__VA_ARGS__) : f(__VA_ARGS__))
        if (op == ADD) DO(atomicAdd, p, 10);
        if (op == ADD_USED) sum += DO(atomicAdd, p, 10);
        if (op == EXCH) DO(atomicExch, p, tid);
        if (op == MAX) DO(atomicMax, p, tid);
        if (op == INC) DO(atomicInc, u, 17);
        if (op == DEC) DO(atomicDec, u, 137);
        if (op == AND) DO(atomicAnd, p, 2 * tid + 7);
        if (op == XOR) DO(atomicXor, p, tid);
        if (op == CAS) {
            int before = *(volatile int *)p, assumed;
            do {
                assumed = before;
                before = DO(atomicCAS, p, assumed, assumed + 1);
                sum++;
            } while (assumed != before);
        }
        if (op == LOAD) sum += *(volatile int *)p;
    }
    if (op == CAS)
        atomicAdd(sink, sum);
    else if (sum == 12345678)
        *sink = sum;
}

static int *sink;

template <int op, bool system> static void measure(const char *name, const char *where, int *p) {
    cudaEvent_t a, b;
    float ms;
    int zero = 0, done, times = op == CAS ? 2 : TIMES;
    char text[128], note[64];
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    same_word<op, system><<<BLOCKS, THREADS>>>(p, 1, sink);
    CHECK(cudaMemcpy(sink, &zero, sizeof zero, cudaMemcpyHostToDevice));
    CHECK(cudaEventRecord(a));
    same_word<op, system><<<BLOCKS, THREADS>>>(p, times, sink);
    CHECK(cudaEventRecord(b));
    CHECK(cudaEventSynchronize(b));
    CHECK(cudaEventElapsedTime(&ms, a, b));
    CHECK(cudaMemcpy(&done, sink, sizeof done, cudaMemcpyDeviceToHost));
    snprintf(text, sizeof text, "scope/%s/%s/%s", name, system ? "sys" : "gpu", where);
    snprintf(note, sizeof note, "%d blocks of %d, %d each", BLOCKS, THREADS, times);
    report(text, ms * 1e6 / ((double)BLOCKS * THREADS * times), "ns/thread", note);
    if (op == CAS) snprintf(text, sizeof text, "scope/%s/%s/%s/tries", name, system ? "sys" : "gpu", where), report(text, (double)done / ((double)BLOCKS * THREADS * times), "per change", "");
}

template <bool system> static void all(const char *where, int *p) {
    measure<ADD, system>("add", where, p);
    measure<ADD_USED, system>("add_used", where, p);
    measure<EXCH, system>("exch", where, p);
    measure<MAX, system>("max", where, p);
    measure<INC, system>("inc", where, p);
    measure<DEC, system>("dec", where, p);
    measure<AND, system>("and", where, p);
    measure<XOR, system>("xor", where, p);
    measure<CAS, system>("cas", where, p);
    measure<LOAD, system>("load_volatile", where, p);
}

int main() {
    int *device, *managed;
    CHECK(cudaMalloc(&device, 4096));
    CHECK(cudaMallocManaged(&managed, 4096));
    CHECK(cudaMalloc(&sink, 4));
    CHECK(cudaMemset(device, 0, 4096));
    for (int i = 0; i < 1024; i++) managed[i] = 0;
    all<false>("device", device), all<true>("device", device);
    all<false>("managed", managed), all<true>("managed", managed);
    return 0;
}
