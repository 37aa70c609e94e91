// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: the years of a treaty are shared by 20 blocks instead of being left to one.
// Why: with one block per treaty there are fewer blocks than multiprocessors: some idle, the others have one block
// to hide all latencies with.
#include "../common.h"

#ifdef AFTER
enum { BLOCKS_PER_TREATY = 20 };
#else
enum { BLOCKS_PER_TREATY = 1 };
#endif
enum { BLOCK = 512 };

// Excess-of-loss cover against catastrophes, in millions.
struct Treaty {
    float no_event;       // probability of a year without any event
    float inverse_alpha;  // of the Pareto distribution of the damage
    float smallest;       // damage that counts as an event
    float retention;      // what the insurer pays of each event
    float cover;          // what the reinsurer pays at most of each event
    float aggregate;      // what the reinsurer pays at most in a year
};

struct Outcome {
    float paid;     // in all simulated years
    int exhausted;  // years in which the aggregate was used up
};

static __host__ __device__ unsigned scrambled(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// Uniform in (0, 1].
__device__ float uniform(unsigned *state) {
    *state = *state * 747796405u + 2891336453u;
    return ((scrambled(*state) >> 8) + 1) * (1.0f / (1 << 24));
}

__global__ void reinsurers(const Treaty *__restrict__ treaties, Outcome *__restrict__ outcomes, int years) {
    const Treaty t = treaties[blockIdx.x];
    float paid = 0;
    int exhausted = 0;
    for (int year = blockIdx.y * BLOCK + threadIdx.x; year < years; year += gridDim.y * BLOCK) {
        unsigned state = scrambled(blockIdx.x * years + year);
        // Events, as many as a Poisson distribution gives, until the year or the cover is over.
        float left = t.aggregate;
        for (float chance = uniform(&state); chance > t.no_event && left > 0; chance *= uniform(&state)) {
            const float damage = t.smallest * exp2f(-t.inverse_alpha * log2f(uniform(&state)));
            const float claim = fminf(fmaxf(damage - t.retention, 0.0f), t.cover);
            left = fmaxf(left - claim, 0.0f);
        }
        paid += t.aggregate - left;
        exhausted += left == 0;
    }

    __shared__ float paid_by_warp[BLOCK / 32];
    __shared__ int exhausted_by_warp[BLOCK / 32];
    for (int step = 16; step; step /= 2)
        paid += __shfl_down_sync(~0u, paid, step);
    exhausted = __reduce_add_sync(~0u, exhausted);
    if (threadIdx.x % 32 == 0) {
        paid_by_warp[threadIdx.x / 32] = paid;
        exhausted_by_warp[threadIdx.x / 32] = exhausted;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        Outcome all = {0, 0};
        for (int w = 0; w < BLOCK / 32; w++) {
            all.paid += paid_by_warp[w];
            all.exhausted += exhausted_by_warp[w];
        }
        outcomes[blockIdx.x * gridDim.y + blockIdx.y] = all;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "reinsurers");
    const int count = p.small ? 4 : 96, years = p.small ? 4000 : 100000;
    std::vector<float> kind = random_floats(3 * count, 0, 1, 11);
    std::vector<Treaty> treaties(count);
    for (int t = 0; t < count; t++) {
        const float retention = 12 + 30 * kind[3 * t + 1], cover = 40 + 100 * kind[3 * t + 2];
        treaties[t] = {expf(-2 - 4 * kind[3 * t]), 1 / (1.1f + kind[3 * t + 2]), 8, retention, cover, 2.5f * cover};
    }

    Treaty *d_treaties = device_copy_of(treaties.data(), count);
    Outcome *d_outcomes = device_array<Outcome>(count * BLOCKS_PER_TREATY);
    const dim3 grid(count, BLOCKS_PER_TREATY);
    pair_time(&p, [&] { reinsurers<<<grid, BLOCK>>>(d_treaties, d_outcomes, years); });

    std::vector<Outcome> outcomes = host_copy_of(d_outcomes, count * BLOCKS_PER_TREATY);
    for (int t = 0; t < count; t += p.small ? 2 : 13) {
        const Treaty &k = treaties[t];
        double paid = 0, got_paid = 0;
        int exhausted = 0, got_exhausted = 0;
        for (int year = 0; year < years; year++) {
            unsigned state = scrambled(t * years + year);
            auto draw = [&state] {
                state = state * 747796405u + 2891336453u;
                return ((scrambled(state) >> 8) + 1) / 16777216.0;
            };
            double left = k.aggregate;
            for (double chance = draw(); chance > k.no_event && left > 0; chance *= draw()) {
                double damage = k.smallest * pow(draw(), -k.inverse_alpha);
                left = std::max(0.0, left - std::min<double>(std::max(damage - k.retention, 0.0), k.cover));
            }
            paid += k.aggregate - left;
            exhausted += left == 0;
        }
        for (int b = 0; b < BLOCKS_PER_TREATY; b++) {
            got_paid += outcomes[t * BLOCKS_PER_TREATY + b].paid;
            got_exhausted += outcomes[t * BLOCKS_PER_TREATY + b].exhausted;
        }
        pair_near(&p, "paid per year", t, paid / years, got_paid / years, 1e-3);
        pair_near(&p, "exhausted", t, exhausted, got_exhausted, 5e-3);
    }
    return pair_end(&p);
}
