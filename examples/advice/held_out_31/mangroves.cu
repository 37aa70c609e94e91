// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread compares four former plots with its present one instead of one.
// Why: the present plot's count, once in a register, is used four times: five loads from shared memory, not eight.
#include "../common.h"

enum { SIDE = 16, STEP = 16 };
#ifdef AFTER
enum { EACH = 4 };
#else
enum { EACH = 1 };
#endif

// The dissimilarity of Bray and Curtis between the plots of two surveys of a mangrove forest, by the trees of every
// species: unlike[f][n] = sum of |former - now| / sum of (former + now).
__global__ void bray_curtis(const int *former, const int *now, const int *former_trees, const int *now_trees,
                            float *unlike, int plots_now, int species) {
    __shared__ int was[EACH * SIDE][STEP];
    __shared__ int is[SIDE][STEP + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int f0 = blockIdx.y * EACH * SIDE, n0 = blockIdx.x * SIDE;
    int differ[EACH] = {};
    for (int s0 = 0; s0 < species; s0 += STEP) {
        for (int e = 0; e < EACH; e++)
            was[e * SIDE + ty][tx] = former[(f0 + e * SIDE + ty) * species + s0 + tx];
        is[ty][tx] = now[(n0 + ty) * species + s0 + tx];
        __syncthreads();
#pragma unroll
        for (int s = 0; s < STEP; s++) {
            int here = is[tx][s];
            for (int e = 0; e < EACH; e++)
                differ[e] += abs(was[e * SIDE + ty][s] - here);
        }
        __syncthreads();
    }
    int n = n0 + tx;
    for (int e = 0; e < EACH; e++) {
        int f = f0 + e * SIDE + ty;
        unlike[(size_t)f * plots_now + n] = (float)differ[e] / (former_trees[f] + now_trees[n]);
    }
}

struct Survey {
    int plots, species;
    std::vector<int> count, trees;

    Survey(int plots, int species, unsigned seed)
        : plots(plots), species(species), count((size_t)plots * species), trees(plots, 0) {
        for (size_t k = 0; k < count.size(); k++) {
            int found = (int)lcg_next(&seed, 60) - 35;
            count[k] = found > 0 ? found : 0;
            trees[k / species] += count[k];
        }
    }
};

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mangroves");
    int species = p.small ? 48 : 208;
    Survey former(p.small ? 128 : 2816, species, 1), now(p.small ? 64 : 3200, species, 2);
    int *d_former = device_copy_of(former.count.data(), former.count.size());
    int *d_now = device_copy_of(now.count.data(), now.count.size());
    int *d_former_trees = device_copy_of(former.trees.data(), former.plots);
    int *d_now_trees = device_copy_of(now.trees.data(), now.plots);
    size_t all = (size_t)former.plots * now.plots;
    float *d_unlike = device_array<float>(all);
    dim3 block(SIDE, SIDE), grid(now.plots / SIDE, former.plots / (EACH * SIDE));
    pair_time(&p, [&] {
        bray_curtis<<<grid, block>>>(d_former, d_now, d_former_trees, d_now_trees, d_unlike, now.plots, species);
    });
    std::vector<float> unlike = host_copy_of(d_unlike, all);
    for (size_t k = 0; k < all; k += p.small ? 5 : 1297) {
        size_t f = k / now.plots, n = k % now.plots;
        double differ = 0;
        for (int s = 0; s < species; s++)
            differ += abs(former.count[f * species + s] - now.count[n * species + s]);
        pair_near(&p, "unlike", k, differ / (former.trees[f] + now.trees[n]), unlike[k], 1e-5);
    }
    return pair_end(&p);
}
