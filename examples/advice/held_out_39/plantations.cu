// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a warp whose trees all grow in one stand adds them up by shuffles first, and one lane adds the sums.
// Why: the inventory lists the trees stand by stand, so neighbouring threads add to the same four totals at the same
//      time and the memory takes them one after the other.
#include "../common.h"

enum { BLOCK = 256, WARP = 32, SPECIES = 6 };

struct Totals {
    float volume, basal_area, carbon, stems;  // m3, m2, t, number
};

// Two-way volume function ln v = a + b ln d + c ln h; form: share of the wood above the stump that is counted.
struct Species {
    float a, b, c, bark, density;
};

__constant__ Species species_table[SPECIES];

__host__ __device__ static inline Totals measures(const Species &s, float diameter, float height) {
    Totals t;
    float inside = diameter * (1 - s.bark);
    float ln_volume = s.a + s.b * logf(inside) + s.c * logf(height);
    t.volume = expf(ln_volume) * 0.001f;
    t.basal_area = 0.785398163f * diameter * diameter * 1e-4f;
    float crown = 0.18f + 0.25f * expf(-0.06f * diameter);  // share of branches and leaves
    t.carbon = 0.5f * s.density * t.volume * (1 + crown);
    t.stems = diameter >= 7.f ? 1.f : 0.f;
    return t;
}

__device__ static inline void add_to(Totals *stand, const Totals &t) {
    atomicAdd(&stand->volume, t.volume);
    atomicAdd(&stand->basal_area, t.basal_area);
    atomicAdd(&stand->carbon, t.carbon);
    atomicAdd(&stand->stems, t.stems);
}

#ifdef AFTER
__device__ static inline float warp_sum(float x) {
    for (int d = WARP / 2; d > 0; d /= 2) x += __shfl_down_sync(0xffffffffu, x, d);
    return x;
}
#endif

// One tree a thread; trees is a multiple of WARP (the list is filled up with trees of no height).
__global__ void sum_stands(const int *stand_of, const unsigned char *kind, const float2 *size, Totals *stands,
                           int trees) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= trees) return;
    float2 tree = size[i];  // diameter in cm, height in m
    int stand = stand_of[i];
    Totals t = {0, 0, 0, 0};
    if (tree.y > 1.3f) t = measures(species_table[kind[i]], tree.x, tree.y);
#ifdef AFTER
    if (__all_sync(0xffffffffu, stand == __shfl_sync(0xffffffffu, stand, 0))) {
        t.volume = warp_sum(t.volume), t.basal_area = warp_sum(t.basal_area);
        t.carbon = warp_sum(t.carbon), t.stems = warp_sum(t.stems);
        if (threadIdx.x % WARP == 0) add_to(&stands[stand], t);
    } else {
        add_to(&stands[stand], t);
    }
#else
    add_to(&stands[stand], t);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "plantations");
    int trees = p.small ? 16 * 1024 : 4 * 1024 * 1024;
    const Species table[SPECIES] = {{-2.9f, 1.82f, 1.07f, 0.05f, 0.43f}, {-2.8f, 1.95f, 0.88f, 0.07f, 0.46f},
                                    {-2.7f, 1.75f, 1.10f, 0.08f, 0.39f}, {-2.6f, 1.99f, 0.79f, 0.03f, 0.58f},
                                    {-2.9f, 1.92f, 0.95f, 0.09f, 0.60f}, {-2.5f, 1.86f, 0.90f, 0.04f, 0.51f}};
    CUDA_CHECK(cudaMemcpyToSymbol(species_table, table, sizeof table));
    std::vector<int> stand_of(trees);
    std::vector<unsigned char> kind(trees);
    std::vector<float2> size(trees);
    std::vector<float> diameter = random_floats(trees, 4, 55, 7), height = random_floats(trees, 0, 1, 8);
    unsigned seed = 9;
    int stand = -1, left = 0;
    for (int i = 0; i < trees; i++) {
        if (left-- == 0) stand++, left = 300 + (int)lcg_next(&seed, 1500);
        stand_of[i] = stand;
        kind[i] = (unsigned char)((stand + (lcg_next(&seed, 4) == 0)) % SPECIES);  // a quarter is of the next kind
        size[i] = make_float2(diameter[i], 1.f + 0.5f * diameter[i] * (0.8f + 0.4f * height[i]));
    }
    int stands = stand + 1, blocks = (trees + BLOCK - 1) / BLOCK;
    int *d_stand_of = device_copy_of(stand_of.data(), trees);
    unsigned char *d_kind = device_copy_of(kind.data(), trees);
    float2 *d_size = device_copy_of(size.data(), trees);
    Totals *d_stands = device_array<Totals>(stands);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_stands, 0, stands * sizeof(Totals)));
        sum_stands<<<blocks, BLOCK>>>(d_stand_of, d_kind, d_size, d_stands, trees);
    });
    std::vector<Totals> got = host_copy_of(d_stands, stands);
    std::vector<double> sums((size_t)stands * 4);
    for (int i = 0; i < trees; i++) {
        if (!(size[i].y > 1.3f)) continue;
        Totals t = measures(table[kind[i]], size[i].x, size[i].y);
        double *sum = &sums[(size_t)stand_of[i] * 4];
        sum[0] += t.volume, sum[1] += t.basal_area, sum[2] += t.carbon, sum[3] += t.stems;
    }
    for (int s = 0; s < stands; s++) {
        pair_near(&p, "volume", s, sums[(size_t)s * 4], got[s].volume, 1e-3);
        pair_near(&p, "basal_area", s, sums[(size_t)s * 4 + 1], got[s].basal_area, 1e-3);
        pair_near(&p, "carbon", s, sums[(size_t)s * 4 + 2], got[s].carbon, 1e-3);
        pair_near(&p, "stems", s, sums[(size_t)s * 4 + 3], got[s].stems, 1e-3);
    }
    return pair_end(&p);
}
