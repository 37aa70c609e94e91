// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: a warp takes the next list of its block when it is done with one.
// Why: each warp has eight lists of its own, and those of the last warps are many times as long as those of the first.
#include "../common.h"

enum { WARPS = 8, BLOCK = WARPS * 32, EACH = 8, LISTS = WARPS * EACH };

// Scores of the words of a text: a list of weighted places for each, words of a block by how common they are.
__global__ void postings(const int *starts, const int *places, const float *weights, const float *boosts,
                         float *scores) {
    int lane = threadIdx.x % 32;
#ifdef AFTER
    __shared__ int next;
    if (threadIdx.x == 0)
        next = 0;
    __syncthreads();
#endif
    for (int turn = 0; turn < LISTS; turn++) {
#ifdef AFTER
        int taken = 0;
        if (lane == 0)
            taken = LISTS - 1 - atomicAdd(&next, 1);
        int own = __shfl_sync(~0u, taken, 0);
        if (own < 0)
            break;
#else
        if (turn == EACH)
            break;
        int own = threadIdx.x / 32 * EACH + turn;
#endif
        int list = blockIdx.x * LISTS + own;
        float sum = 0;
        for (int k = starts[list] + lane; k < starts[list + 1]; k += 32)
            sum += weights[k] * boosts[places[k]];
        for (int step = 16; step; step /= 2)
            sum += __shfl_xor_sync(~0u, sum, step);
        if (lane == 0)
            scores[list] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "postings");
    int blocks = p.small ? 32 : 1024, lists = blocks * LISTS, texts = 1 << 16;
    std::vector<int> starts(lists + 1);
    for (int i = 0; i < lists; i++)
        starts[i + 1] = starts[i] + 16 + i % LISTS * (i % LISTS) / 6;
    int n = starts[lists];
    std::vector<int> places(n);
    unsigned seed = 1;
    for (int &place : places)
        place = (int)lcg_next(&seed, texts);
    std::vector<float> weights = random_floats(n, 0, 1, 2), boosts = random_floats(texts, 0, 1, 3);
    int *d_starts = device_copy_of(starts.data(), starts.size()), *d_places = device_copy_of(places.data(), n);
    float *d_weights = device_copy_of(weights.data(), n), *d_boosts = device_copy_of(boosts.data(), texts),
          *d_scores = device_array<float>(lists);
    pair_time(&p, [&] { postings<<<blocks, BLOCK>>>(d_starts, d_places, d_weights, d_boosts, d_scores); });
    std::vector<float> scores = host_copy_of(d_scores, lists);
    for (int list = 0; list < lists; list += 37) {
        double sum = 0;
        for (int k = starts[list]; k < starts[list + 1]; k++)
            sum += (double)weights[k] * boosts[places[k]];
        pair_near(&p, "score", list, sum, scores[list], 1e-4);
    }
    return pair_end(&p);
}
