// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads walk WORDS neighbouring words of one or three arrays each, as loops that were dealt out in
// stretches do, on full SMs: what of it the L1 and the L2 keep until the next word is wanted.
// `lanes_apart/ARRAYS/WORDS/WORK/STORES`: nanoseconds of a launch of two full waves of CTAs of 128 threads. WORDS: of a
// thread in each array, so that lanes are 4 * WORDS bytes apart; WORK: multiply-adds in a chain for each word; STORES:
// arrays that a word is stored to in each turn. `lanes_apart counted`: each once, for Nsight Compute and the simulator;
// `lanes_apart counted ARRAYS STORES WORDS`: only those.
#include <cstring>

#include "micro.h"

constexpr int THREADS = 128, CTAS = 132 * 16 * 2;

template <int arrays, int stores>
__global__ void __launch_bounds__(THREADS)
    walk(const float *__restrict__ in, float *__restrict__ out, int apart, int words, int work) {
    size_t at = ((size_t)blockIdx.x * THREADS + threadIdx.x) * words;
#pragma unroll 1
    for (int n = 0; n < words; n++) {
        float sum = 0;
#pragma unroll
        for (int a = 0; a < arrays; a++) sum += in[(size_t)a * apart + at + n];
#pragma unroll 1
        for (int i = 0; i < work; i += 10) {
#pragma unroll
            for (int k = 0; k < 10; k++) sum = sum * 0.999f + 0.5f;
        }
        if (stores == 0 && sum != 1e30f) continue;
#pragma unroll
        for (int a = 0; a < (stores ? stores : 1); a++) out[(size_t)a * apart + at + n] = sum;
    }
}

struct Choice {
    bool counted;
    int arrays, stores, words;  // 0 words: all
};

template <int arrays, int stores> static void measure(const float *in, float *out, int apart, Choice choice) {
    bool all = choice.words == 0;
    if (!all && (choice.arrays != arrays || choice.stores != stores)) return;
    for (int words : {4, 8, 16, 32, 64}) {
        if (!all && choice.words != words) continue;
        for (int work : {0, 200}) {
            auto launch = [&] { walk<arrays, stores><<<CTAS, THREADS>>>(in, out, apart, words, work); };
            char name[96];
            snprintf(name, sizeof name, "lanes_apart/%d/%d/%d/%d", arrays, words, work, stores);
            if (choice.counted)
                launch();
            else
                report(name, ns_of(launch, 5), "ns", "");
        }
    }
}

int main(int argc, char **argv) {
    Choice choice = {argc > 1 && !strcmp(argv[1], "counted"), 0, 0, 0};
    if (argc > 4) choice = {choice.counted, atoi(argv[2]), atoi(argv[3]), atoi(argv[4])};
    int apart = CTAS * THREADS * 64 + 4096;  // words of an array
    float *in, *out;
    CHECK(cudaMalloc(&in, (size_t)apart * 3 * sizeof(float)));
    CHECK(cudaMalloc(&out, (size_t)apart * 2 * sizeof(float)));
    CHECK(cudaMemset(in, 0, (size_t)apart * 3 * sizeof(float)));
    measure<1, 0>(in, out, apart, choice);
    measure<3, 0>(in, out, apart, choice);
    measure<3, 2>(in, out, apart, choice);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
