// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the next link of a tooth is wrapped round by a comparison and a subtraction instead of by a remainder.
// Why: the number of links is known only at run time, so that a remainder by it is a whole sequence of instructions.
#include "../common.h"

enum { BLOCK = 64, MOST_LINKS = 128 };

struct Bicycle {
    unsigned links, teeth;  // of the chain and of the chainring; fewer teeth than links
    unsigned first_turn, turns;
};

static __device__ inline unsigned next_link(unsigned link, unsigned teeth, unsigned links) {
#ifdef AFTER
    link += teeth;
    return link >= links ? link - links : link;
#else
    return (link + teeth) % links;
#endif
}

// How each tooth of the chainring wears while the links of the chain come round; one block per bicycle.
__global__ void wear(const Bicycle *bicycles, const float *roughness, const float *efforts, float *worn) {
    __shared__ float rough[MOST_LINKS];
    const Bicycle bike = bicycles[blockIdx.x];
    for (unsigned i = threadIdx.x; i < bike.links; i += BLOCK)
        rough[i] = roughness[blockIdx.x * MOST_LINKS + i];
    __syncthreads();
    if (threadIdx.x >= bike.teeth)
        return;
    const float *effort = efforts + bike.first_turn;
    unsigned link = threadIdx.x;
    float sum = 0;
    for (unsigned turn = 0; turn < bike.turns; turn++) {
        sum += rough[link] * effort[turn];
        link = next_link(link, bike.teeth, bike.links);
    }
    worn[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bicycles");
    int count = p.small ? 6 : 132 * 64;
    std::vector<Bicycle> bicycles(count);
    unsigned seed = 11, turns = 0;
    for (Bicycle &b : bicycles) {
        b.links = 96 + 2 * lcg_next(&seed, 16);
        b.teeth = 34 + lcg_next(&seed, 20);
        b.first_turn = turns;
        b.turns = p.small ? 40 + lcg_next(&seed, 30) : 300 + lcg_next(&seed, 400);
        turns += b.turns;
    }
    std::vector<float> roughness = random_floats((size_t)count * MOST_LINKS, 0.5f, 1.5f, 1);
    std::vector<float> efforts = random_floats(turns, 0, 0.01f, 2);
    Bicycle *d_bicycles = device_copy_of(bicycles.data(), count);
    float *d_roughness = device_copy_of(roughness.data(), roughness.size()),
          *d_efforts = device_copy_of(efforts.data(), efforts.size()),
          *d_worn = device_array<float>((size_t)count * BLOCK);
    CUDA_CHECK(cudaMemset(d_worn, 0, sizeof(float) * count * BLOCK));
    pair_time(&p, [&] { wear<<<count, BLOCK>>>(d_bicycles, d_roughness, d_efforts, d_worn); });
    std::vector<float> worn = host_copy_of(d_worn, (size_t)count * BLOCK);
    for (int c = 0; c < count; c += p.small ? 1 : 17) {
        const Bicycle &b = bicycles[c];
        for (unsigned tooth = 0; tooth < BLOCK; tooth++) {
            double sum = 0;
            for (unsigned turn = 0; tooth < b.teeth && turn < b.turns; turn++)
                sum += (double)roughness[c * MOST_LINKS + (tooth + turn * b.teeth) % b.links] *
                       efforts[b.first_turn + turn];
            pair_near(&p, "worn", c * BLOCK + tooth, sum, worn[c * BLOCK + tooth], 1e-4);
        }
    }
    return pair_end(&p);
}
