// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread takes eight weights by one load of 16 bytes per array instead of one weight of two bytes.
// Why: with four bytes on their way per thread the memory isn't busy, and there are eight times as many instructions.
#include <cuda_bf16.h>

#include "../common.h"

template <int N> struct alignas(N * sizeof(__nv_bfloat16)) Pack {
    __nv_bfloat16 weight[N];
};

// Self-distillation: the teacher's weights follow the student's slowly, next = keep * teacher + (1 - keep) * student.
template <int N>
__global__ void follow(const Pack<N> *teacher, const Pack<N> *student, Pack<N> *next, float keep, size_t packs) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= packs)
        return;
    Pack<N> old = teacher[i], pupil = student[i], out;
#pragma unroll
    for (int k = 0; k < N; k++) {
        float from = __bfloat162float(old.weight[k]), to = __bfloat162float(pupil.weight[k]);
        out.weight[k] = __float2bfloat16(from + (1.0f - keep) * (to - from));
    }
    next[i] = out;
}

static std::vector<__nv_bfloat16> some_weights(size_t count, unsigned seed) {
    std::vector<__nv_bfloat16> out(count);
    for (__nv_bfloat16 &w : out)
        w = __float2bfloat16(((int)lcg_next(&seed, 2001) - 1000) * 1e-4f);
    return out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "teachers");
#ifdef AFTER
    constexpr int width = 8;
#else
    constexpr int width = 1;
#endif
    const size_t count = p.small ? 40960 : 7168ull * 7168;
    const float keep = 0.96f;
    std::vector<__nv_bfloat16> teacher = some_weights(count, 71), student = some_weights(count, 72);
    __nv_bfloat16 *d_teacher = device_copy_of(teacher.data(), count);
    __nv_bfloat16 *d_student = device_copy_of(student.data(), count), *d_next = device_array<__nv_bfloat16>(count);

    const size_t packs = count / width;
    const int threads = 256, blocks = (int)((packs + threads - 1) / threads);
    pair_time(&p, [&] {
        follow<width><<<blocks, threads>>>((const Pack<width> *)d_teacher, (const Pack<width> *)d_student,
                                           (Pack<width> *)d_next, keep, packs);
    });

    std::vector<__nv_bfloat16> next = host_copy_of(d_next, count);
    for (size_t i = 0; i < count; i += p.small ? 3 : 997) {
        double from = __bfloat162float(teacher[i]), to = __bfloat162float(student[i]);
        pair_near(&p, "weight", i, from + (1.0 - keep) * (to - from), __bfloat162float(next[i]), 4e-4);
    }
    return pair_end(&p);
}
