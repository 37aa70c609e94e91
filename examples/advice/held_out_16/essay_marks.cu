// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the essays are dealt to the warps in turn instead of in runs of neighbours.
// Why: an essay is compared with all those before it, so the warp that has the last ones works six times as long as the
// first, and the block waits for it.
#include "../common.h"

enum { BLOCK = 128, WARPS = BLOCK / 32, ESSAYS = 512 };

struct Agreement {
    int agree, disagree, tied;
};

template <typename T> static __device__ T warp_sum(T value) {
    for (int step = 16; step; step /= 2)
        value += __shfl_down_sync(~0u, value, step);
    return value;
}

// Two examiners mark the same essays of a school: of how many pairs of essays do they say the same? (Kendall's tau)
__global__ void __launch_bounds__(BLOCK)
    examiners(const unsigned char *first, const unsigned char *second, Agreement *schools) {
    __shared__ int a[ESSAYS], b[ESSAYS];
    __shared__ Agreement parts[WARPS];
    for (int i = threadIdx.x; i < ESSAYS; i += BLOCK) {
        a[i] = first[blockIdx.x * ESSAYS + i];
        b[i] = second[blockIdx.x * ESSAYS + i];
    }
    __syncthreads();
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int agree = 0, disagree = 0, tied = 0;
    for (int k = 0; k < ESSAYS / WARPS; k++) {
#ifdef AFTER
        int i = k * WARPS + warp;
#else
        int i = warp * (ESSAYS / WARPS) + k;
#endif
        int mark = a[i], other = b[i];
        for (int j = lane; j < i; j += 32) {
            int sign = (mark - a[j]) * (other - b[j]);
            agree += sign > 0;
            disagree += sign < 0;
            tied += sign == 0;
        }
    }
    agree = warp_sum(agree);
    disagree = warp_sum(disagree);
    tied = warp_sum(tied);
    if (lane == 0)
        parts[warp] = {agree, disagree, tied};
    __syncthreads();
    if (threadIdx.x == 0) {
        Agreement sum = parts[0];
        for (int w = 1; w < WARPS; w++) {
            sum.agree += parts[w].agree;
            sum.disagree += parts[w].disagree;
            sum.tied += parts[w].tied;
        }
        schools[blockIdx.x] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "essay_marks");
    int schools = p.small ? 4 : 12000;
    size_t n = (size_t)schools * ESSAYS;
    std::vector<unsigned char> first(n), second(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        int mark = lcg_next(&seed, 80);
        first[i] = mark + lcg_next(&seed, 20);
        second[i] = mark + lcg_next(&seed, 20);
    }
    unsigned char *d_first = device_copy_of(first.data(), n), *d_second = device_copy_of(second.data(), n);
    Agreement *d_schools = device_array<Agreement>(schools);
    pair_time(&p, [&] { examiners<<<schools, BLOCK>>>(d_first, d_second, d_schools); });
    std::vector<Agreement> result = host_copy_of(d_schools, schools);
    for (int s = 0; s < schools; s += 1 + schools / 200) {
        const unsigned char *a = &first[(size_t)s * ESSAYS], *b = &second[(size_t)s * ESSAYS];
        int agree = 0, disagree = 0, tied = 0;
        for (int i = 0; i < ESSAYS; i++)
            for (int j = 0; j < i; j++) {
                int sign = (a[i] - a[j]) * (b[i] - b[j]);
                (sign > 0 ? agree : sign < 0 ? disagree : tied)++;
            }
        pair_near(&p, "agree", s, agree, result[s].agree, 0);
        pair_near(&p, "disagree", s, disagree, result[s].disagree, 0);
        pair_near(&p, "tied", s, tied, result[s].tied, 0);
    }
    return pair_end(&p);
}
