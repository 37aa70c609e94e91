// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: a launch asks for the shared memory that is used.
// Why: it asks for many times as much, so that two blocks fit on an SM.
#include "../common.h"

enum { BLOCK = 128, LENGTHS = 32, STEPS = 64 };

#ifdef AFTER
enum { BYTES = LENGTHS * (BLOCK / 32) * 4 };
#else
enum { BYTES = 96 << 10 };
#endif

// How long the words are that each chain of links comes by: a histogram for each warp.
__global__ void word_lengths(const int *links, const unsigned char *lengths, unsigned *out) {
    extern __shared__ unsigned own[];
    unsigned *mine = own + threadIdx.x / 32 * LENGTHS;
    mine[threadIdx.x % 32] = 0;
    __syncwarp();
    int first = blockIdx.x * BLOCK + threadIdx.x, at = first;
    for (int s = 0; s < STEPS; s++) {
        atomicAdd(&mine[lengths[at]], 1);
        at = links[at];
    }
    __syncwarp();
    out[first] = mine[threadIdx.x % 32];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "word_lengths");
    int n = p.small ? 1 << 12 : 1 << 19;
    std::vector<int> links(n);
    std::vector<unsigned char> lengths(n);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        links[i] = (int)((i * 40503u + 12345u) % (unsigned)n);
        lengths[i] = (unsigned char)(lcg_next(&seed, 12) + lcg_next(&seed, 12));
    }
    int *d_links = device_copy_of(links.data(), n);
    unsigned char *d_lengths = device_copy_of(lengths.data(), n);
    unsigned *d_out = device_array<unsigned>(n);
    CUDA_CHECK(cudaFuncSetAttribute(word_lengths, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
    pair_time(&p, [&] { word_lengths<<<n / BLOCK, BLOCK, BYTES>>>(d_links, d_lengths, d_out); });
    std::vector<unsigned> out = host_copy_of(d_out, n);
    for (int warp = 0; warp < n / 32; warp += 17) {
        unsigned want[LENGTHS] = {0};
        for (int lane = 0; lane < 32; lane++)
            for (int s = 0, at = warp * 32 + lane; s < STEPS; s++, at = links[at])
                want[lengths[at]]++;
        for (int k = 0; k < LENGTHS; k++)
            pair_near(&p, "count", warp * 32 + k, want[k], out[warp * 32 + k], 0);
    }
    return pair_end(&p);
}
