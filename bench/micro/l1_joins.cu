// SPDX-License-Identifier: Apache-2.0
// Which stores leave the L1 together: groups of stores to the same sectors, one right after the other, by the lines
// that an instruction touches, the time between them, and the number of warps. counters.sh measures from outside what
// the L2 is asked for (ncu); the program prints a line for each launch.
#include "micro.h"

typedef struct Form {
    const char *name;
    int stride, step;  // bytes between lanes, between the stores of a group
    bool bytes;        // of one byte each, not four
    bool together;     // all warps of a block have the same addresses, and meet before each group
    int rest, groups;  // cycles between groups
} Form;

static __device__ void wait(int cycles) {
    if (cycles <= 0) return;
    long long t = clock64();
    while (clock64() - t < cycles) {}
}

// `count` stores a group with `gap` dependent instructions (of 4 cycles) between them; groups lie 4 KiB apart.
template <int count, int gap> __global__ void join(char *data, Form f) {
    int lane = threadIdx.x % 32, warps = blockDim.x / 32,
        warp = f.together ? blockIdx.x : threadIdx.x / 32 + blockIdx.x * warps;
    size_t apart = (size_t)(f.together ? gridDim.x : gridDim.x * warps) << 12;
    char *at[count];
    unsigned v = lane;
    for (int k = 0; k < count; k++) at[k] = data + ((size_t)warp << 12) + lane * f.stride + k * f.step;
    for (int g = 0; g < f.groups; g++) {
        if (f.together) __syncthreads();
        if (f.bytes) {
#pragma unroll
            for (int k = 0; k < count; k++) {
                asm volatile("st.global.u8 [%0], %1;" ::"l"(at[k]), "r"(v) : "memory");
#pragma unroll
                for (int i = 0; i < gap; i++) asm volatile("mad.lo.u32 %0, %0, %0, 1;" : "+r"(v)::"memory");
            }
        } else {
#pragma unroll
            for (int k = 0; k < count; k++) {
                asm volatile("st.global.u32 [%0], %1;" ::"l"(at[k]), "r"(v) : "memory");
#pragma unroll
                for (int i = 0; i < gap; i++) asm volatile("mad.lo.u32 %0, %0, %0, 1;" : "+r"(v)::"memory");
            }
        }
        wait(f.rest);
        for (int k = 0; k < count; k++) at[k] += apart;
    }
}

static char *data;

template <int count, int gap> static void launch(int blocks, int warps, Form f) {
    join<count, gap><<<blocks, warps * 32>>>(data, f);
    CHECK(cudaDeviceSynchronize());
    printf("%s\t%d\t%d\t%d\t%d\t%d\t%d\n", f.name, count, gap, f.rest, blocks, warps, f.groups);
}

int main() {
    enum { REST = 2000, GROUPS = 64 };
    CHECK(cudaMalloc(&data, 1ull << 30));
    static const Form forms[] = {{"byte_of_word", 4, 1, true}, {"words_by_8", 8, 4},   {"words_by_12", 12, 4},
                                 {"words_by_16", 16, 4},       {"words_by_32", 32, 4}, {"words_by_64", 64, 4},
                                 {"words_by_128", 128, 4},     {"words_by_40", 40, 4}, {"sector_of_line", 1, 32, true},
                                 {"same_words", 4, 0}};
    for (Form f : forms) {
        f.rest = REST, f.groups = GROUPS;
        launch<2, 0>(1, 1, f), launch<4, 0>(1, 1, f);
        f.rest = 0;
        launch<4, 0>(1, 1, f), launch<4, 0>(1, 8, f), launch<4, 0>(1, 32, f);
        f.groups = 8;
        launch<3, 0>(132, 8, f), launch<4, 0>(132, 16, f), launch<4, 0>(132, 64 / 2, f);
        f.groups = 1;
        launch<4, 0>(1056, 8, f);
    }
    Form f = {"byte_of_word", 4, 1, true, false, REST, GROUPS};
    launch<2, 1>(1, 1, f), launch<2, 2>(1, 1, f), launch<2, 3>(1, 1, f), launch<2, 4>(1, 1, f), launch<2, 5>(1, 1, f),
        launch<2, 6>(1, 1, f), launch<2, 8>(1, 1, f);
    launch<2, 10>(1, 1, f), launch<2, 14>(1, 1, f), launch<4, 2>(1, 1, f), launch<4, 4>(1, 1, f), launch<4, 8>(1, 1, f),
        launch<8, 0>(1, 1, f), launch<8, 4>(1, 1, f);
    f = {"words_by_12", 12, 4, false, false, REST, GROUPS};
    launch<3, 0>(1, 1, f), launch<3, 1>(1, 1, f), launch<3, 2>(1, 1, f), launch<3, 4>(1, 1, f), launch<3, 6>(1, 1, f),
        launch<3, 8>(1, 1, f);
    f = {"words_by_64", 64, 4, false, false, REST, GROUPS};
    launch<2, 2>(1, 1, f), launch<2, 4>(1, 1, f), launch<2, 6>(1, 1, f), launch<4, 4>(1, 1, f), launch<8, 0>(1, 1, f),
        launch<8, 4>(1, 1, f);
    for (int rest : {0, (int)REST}) {
        f = {"one_line_of_all", 4, 0, false, true, rest, GROUPS};
        for (int warps : {2, 4, 8, 16, 32}) launch<1, 0>(1, warps, f);
        launch<2, 0>(1, 8, f), launch<2, 4>(1, 8, f), launch<1, 0>(132, 8, f);
    }
    return 0;
}
