// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the three coordinates of a knot are next to each other in 16 bytes, not in three arrays.
// Why: the other end of a spring can be anywhere; from three arrays, three pieces of 32 bytes come for it, now one.
#include "../common.h"

enum { BLOCK = 192 };

#ifdef AFTER
typedef const float4 *Knots;

__device__ inline float3 place_of(Knots knots, int i) {
    float4 place = knots[i];
    return make_float3(place.x, place.y, place.z);
}
#else
struct Knots {
    const float *x, *y, *z;
};

__device__ inline float3 place_of(Knots knots, int i) { return make_float3(knots.x[i], knots.y[i], knots.z[i]); }
#endif

// Pull and energy of the springs tied to each knot: other[first[i]] to other[first[i + 1] - 1] are the knots at their
// other ends, in the order in which they were tied. One thread per knot.
__global__ void pull_springs(Knots knots, const int *first, const int *other, float *lift, float *energy, int n,
                             float rest) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float3 me = place_of(knots, i);
    float up = 0, stored = 0;
    for (int s = first[i], end = first[i + 1]; s < end; s++) {
        float3 to = place_of(knots, other[s]);
        float dx = to.x - me.x, dy = to.y - me.y, dz = to.z - me.z;
        float squared = dx * dx + dy * dy + dz * dz + 1e-4f, inverse = rsqrtf(squared);
        float stretched = squared * inverse - rest;
        up += stretched * inverse * dz;
        stored += 0.5f * stretched * stretched;
    }
    lift[i] = up;
    energy[i] = stored;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mattresses");
    int n = p.small ? 2000 : 1 << 20;
    const float rest = 0.8f;
    std::vector<float> x = random_floats(n, 0, 4, 1), y = random_floats(n, 0, 4, 2), z = random_floats(n, 0, 2, 3);
    std::vector<int> first(n + 1);
    unsigned seed = 4;
    for (int i = 0; i < n; i++)
        first[i + 1] = first[i] + 4 + lcg_next(&seed, 9);
    std::vector<int> other(first[n]);
    lcg_fill(other.data(), other.size(), 5, n);
#ifdef AFTER
    std::vector<float4> places(n);
    for (int i = 0; i < n; i++)
        places[i] = make_float4(x[i], y[i], z[i], 0);
    Knots knots = device_copy_of(places.data(), n);
#else
    Knots knots = {device_copy_of(x.data(), n), device_copy_of(y.data(), n), device_copy_of(z.data(), n)};
#endif
    int *d_first = device_copy_of(first.data(), first.size()), *d_other = device_copy_of(other.data(), other.size());
    float *d_lift = device_array<float>(n), *d_energy = device_array<float>(n);
    pair_time(&p, [&] {
        pull_springs<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(knots, d_first, d_other, d_lift, d_energy, n, rest);
    });
    std::vector<float> lift = host_copy_of(d_lift, n), energy = host_copy_of(d_energy, n);
    for (int i = 0; i < n; i += p.small ? 1 : 11) {
        double up = 0, stored = 0;
        for (int s = first[i]; s < first[i + 1]; s++) {
            int o = other[s];
            double dx = x[o] - x[i], dy = y[o] - y[i], dz = z[o] - z[i];
            double length = sqrt(dx * dx + dy * dy + dz * dz + 1e-4), stretched = length - rest;
            up += stretched / length * dz;
            stored += 0.5 * stretched * stretched;
        }
        pair_near(&p, "lift", i, up, lift[i], 1e-4);
        pair_near(&p, "energy", i, stored, energy[i], 1e-4);
    }
    return pair_end(&p);
}
