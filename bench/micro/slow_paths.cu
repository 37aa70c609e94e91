// SPDX-License-Identifier: Apache-2.0
// How long a division, reciprocal or root of IEEE accuracy takes, by its operands: ordinary values have a short sequence,
// others a subroutine. One warp, all lanes the same values; the shortest of four.
//     slow_paths       rows of operation, operands, cycles; then the exponents of a/b for which a division of f32 is short
//     slow_paths each  a launch for each of these operands, for ncu --metrics smsp__inst_executed.sum: what an operation
//                      executes more than a short one does is a TURNS-th of the difference
#include <stdint.h>
#include <stdio.h>

#define TIMED(ins, constraint, type, never)                                                                        \
    uint32_t begin, end;                                                                                           \
    type q;                                                                                                        \
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin)::"memory");                                                  \
    asm volatile(ins : "=" constraint(q) : constraint(x), constraint(y));                                          \
    asm volatile("{.reg .pred p; setp.eq." never "; @p trap; mov.u32 %0, %%clock;}" : "=r"(end) : constraint(q) : "memory"); \
    if (end - begin < best) best = end - begin;
#define TIMED_F32(ins) { TIMED(ins, "f", float, "f32 p, %1, 0f7E123456") }
#define TIMED_F64(ins) { TIMED(ins, "d", double, "f64 p, %1, 0d7FE1234567812345") }

enum { DIV, RCP, SQRT, TURNS = 4 };

template <int op> __device__ uint32_t cycles_of(float x, float y) {
    uint32_t best = ~0u;
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++)
        if (op == DIV) TIMED_F32("div.rn.f32 %0, %1, %2;") else if (op == RCP) TIMED_F32("rcp.rn.f32 %0, %1; // %2") else TIMED_F32("sqrt.rn.f32 %0, %1; // %2")
    return best;
}
template <int op> __device__ uint32_t cycles_of(double x, double y) {
    uint32_t best = ~0u;
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++)
        if (op == DIV) TIMED_F64("div.rn.f64 %0, %1, %2;") else if (op == RCP) TIMED_F64("rcp.rn.f64 %0, %1; // %2") else TIMED_F64("sqrt.rn.f64 %0, %1; // %2")
    return best;
}

template <int op, typename T> __global__ void some(const T *a, const T *b, uint32_t *cycles, int count) {
    for (int i = 0; i < count; i++) cycles[i] = cycles_of<op>(a[i], b[i]);
}

__global__ void exponents(uint32_t *cycles) {
    for (uint32_t b = 0; b < 256; b++)
        cycles[blockIdx.x * 256 + b] = cycles_of<DIV>(__uint_as_float(blockIdx.x << 23 | 1 << 20), __uint_as_float(b << 23 | 1 << 20));
}

static uint32_t *cycles;
static bool each;

template <int op, typename T> static void show(const char *name, const T *a, const T *b, int count) {
    T *x;
    cudaMallocManaged(&x, 2 * count * sizeof *x);
    for (int i = 0; i < count; i++) x[i] = a[i], x[count + i] = b[i];
    for (int i = 0; i < (each ? count : 1); i++) some<op, T><<<1, 32>>>(x + i, x + count + i, cycles + i, each ? 1 : count);
    cudaDeviceSynchronize();
    for (int i = 0; i < count; i++) printf("%s\t%g\t%g\t%u\n", name, (double)a[i], (double)b[i], cycles[i]);
    cudaFree(x);
}

int main(int argc, char **) {
    static const float a[] = {1, 0, -0.f, 1e-40f, 1e-38f, 1e-30f, 1e30f, 1 / 0.f, 0 / 0.f, 1, 1, 1, 1e30f, 1e-30f, 3e38f, 2, -1};
    static const float b[] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 1e-40f, 3e38f, 1e-30f, 1e30f, 7, 1 / 0.f, 3};
    static const double c[] = {1, 0, -0., 1e-310, 1e-300, 1e-290, 1e300, 1 / 0., 0 / 0., 1, 1, 1, 1e300, 1e-200, 1e-300, 2, -1, 0};
    static const double d[] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 1e-310, 1.7e308, 1e-200, 1e200, 1e300, 1 / 0., 3, 0};
    each = argc > 1;
    cudaMallocManaged(&cycles, 65536 * sizeof *cycles);
    show<DIV>("div32", a, b, sizeof a / sizeof *a);
    show<RCP>("rcp32", a, b, sizeof a / sizeof *a);
    show<SQRT>("sqrt32", a, b, sizeof a / sizeof *a);
    show<DIV>("div64", c, d, sizeof c / sizeof *c);
    show<RCP>("rcp64", c, d, sizeof c / sizeof *c);
    show<SQRT>("sqrt64", c, d, sizeof c / sizeof *c);
    if (each) return cudaGetLastError() != cudaSuccess;
    exponents<<<256, 32>>>(cycles);
    cudaDeviceSynchronize();
    for (int y = 0; y < 256; y++) {
        int first = 256, last = -1;
        for (int x = 0; x < 256; x++)
            if (cycles[x * 256 + y] < cycles[127 * 256 + 127] + 20) first = x < first ? x : first, last = x;
        printf("div32_fast_exponents\t%d-%d\t%d\t%u\n", first, last, y, cycles[127 * 256 + 127]);
    }
    return cudaGetLastError() != cudaSuccess;
}
