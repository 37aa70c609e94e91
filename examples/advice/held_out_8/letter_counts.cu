// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each CTA counts in shared memory and adds its counts to the result at its end.
// Why: all threads count 26 letters, some of which are frequent, in the same words of global memory.
#include "../common.h"

enum { BLOCK = 256, LETTERS = 26, EACH = 16 };

// How often each letter occurs in a text of lower case letters.
__global__ void letter_counts(const char *text, unsigned *counts, int stride) {
#ifdef AFTER
    __shared__ unsigned own[LETTERS];
    if (threadIdx.x < LETTERS)
        own[threadIdx.x] = 0;
    __syncthreads();
#else
    unsigned *own = counts;
#endif
    for (int k = 0; k < EACH; k++)
        atomicAdd(&own[text[k * stride + blockIdx.x * BLOCK + threadIdx.x] - 'a'], 1);
#ifdef AFTER
    __syncthreads();
    if (threadIdx.x < LETTERS)
        atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "letter_counts");
    int n = p.small ? 1 << 16 : 1 << 23;
    const char usual[] = "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddlllluucmwfgypbvkjxqz";
    std::vector<char> text(n);
    unsigned seed = 1, expected[LETTERS] = {0};
    for (char &c : text) {
        c = usual[lcg_next(&seed, sizeof usual - 1)];
        expected[c - 'a']++;
    }
    char *d_text = device_copy_of(text.data(), n);
    unsigned *d_counts = device_array<unsigned>(LETTERS);
    CUDA_CHECK(cudaMemset(d_counts, 0, LETTERS * sizeof(unsigned)));
    pair_time(&p, [&] { letter_counts<<<n / EACH / BLOCK, BLOCK>>>(d_text, d_counts, n / EACH); });
    std::vector<unsigned> counts = host_copy_of(d_counts, LETTERS);
    for (int c = 0; c < LETTERS; c++)
        pair_near(&p, "count", c, expected[c] * (unsigned)p.launches, counts[c], 0);
    return pair_end(&p);
}
