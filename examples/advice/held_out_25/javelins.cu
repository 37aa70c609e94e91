// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a warp whose throws are all of one category adds them up first, and one thread updates the category.
// Why: the throws come contest by contest, so that nearly always all threads of a warp want the same few words.
#include "../common.h"

enum { CATEGORIES = 48 };

struct Throw {
    float speed, angle, height;
    unsigned category;
};

struct Standing {
    unsigned long long sum;  // in millimetres, as is the best
    unsigned best, faults;
};

// How far it flies, in millimetres; 0 if it comes down flat.
template <typename Real> static __host__ __device__ unsigned distance(const Throw &t) {
    Real up = t.speed * sin((Real)t.angle), along = t.speed * cos((Real)t.angle);
    Real lift = (Real)9.81 * (1 - (Real)0.002 * t.speed);
    Real airborne = (up + sqrt(up * up + 2 * lift * t.height)) / lift;
    return along > 3 * up ? 0 : (unsigned)(1000 * along * airborne);
}

static __device__ void update(Standing *s, unsigned sum, unsigned best, unsigned faults) {
    atomicAdd(&s->sum, (unsigned long long)sum);
    atomicMax(&s->best, best);
    if (faults)
        atomicAdd(&s->faults, faults);
}

// count is a multiple of 32, so that the threads of a warp leave the loop together.
__global__ void rank_throws(const Throw *__restrict__ throws, Standing *standings, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        Throw t = throws[i];
        unsigned mm = distance<float>(t);
#ifdef AFTER
        int alike;
        __match_all_sync(~0u, t.category, &alike);
        if (alike) {
            unsigned sum = mm, best = mm, faults = __popc(__ballot_sync(~0u, mm == 0));
            for (int gap = 16; gap; gap >>= 1) {
                sum += __shfl_xor_sync(~0u, sum, gap);
                best = max(best, __shfl_xor_sync(~0u, best, gap));
            }
            if (threadIdx.x % 32 == 0)
                update(&standings[t.category], sum, best, faults);
            continue;
        }
#endif
        update(&standings[t.category], mm, mm, mm == 0);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "javelins");
    int count = p.small ? 4096 : 1 << 20, block = 512, grid = p.small ? 2 : 132 * 2;
    std::vector<Throw> throws(count);
    unsigned seed = 23, category = 0;
    int left = 0;
    for (Throw &t : throws) {
        if (left-- == 0) {  // the next contest
            category = lcg_next(&seed, CATEGORIES);
            left = 100 + lcg_next(&seed, 400);
        }
        t.speed = 15 + category * 0.2f + lcg_next(&seed, 1 << 10) * (1.0f / 128);
        t.angle = 0.3f + lcg_next(&seed, 1 << 10) * (1.0f / 2048);
        t.height = 1.4f + lcg_next(&seed, 1 << 10) * (1.0f / 2048);
        t.category = category;
    }
    Throw *d_throws = device_copy_of(throws.data(), count);
    Standing *d_standings = device_array<Standing>(CATEGORIES);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_standings, 0, CATEGORIES * sizeof(Standing)));
        rank_throws<<<grid, block>>>(d_throws, d_standings, count);
    });
    std::vector<Standing> standings = host_copy_of(d_standings, CATEGORIES);
    std::vector<double> sums(CATEGORIES), best(CATEGORIES), faults(CATEGORIES);
    for (const Throw &t : throws) {
        double mm = distance<double>(t);
        sums[t.category] += mm;
        best[t.category] = std::max(best[t.category], mm);
        faults[t.category] += mm == 0;
    }
    for (int c = 0; c < CATEGORIES; c++) {
        pair_near(&p, "sum", c, sums[c], standings[c].sum, 1e-4);
        pair_near(&p, "best", c, best[c], standings[c].best, 1e-4);
        pair_near(&p, "faults", c, faults[c], standings[c].faults, 1e-9);
    }
    return pair_end(&p);
}
