// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: each piece of the ring is paired with the half of the ring that follows it instead of with all later pieces.
// Why: pieces with low numbers have most pairs, so the first blocks run on long after the last ones ended.
#include "../common.h"

enum { BLOCK = 64 };

// How many pieces after piece i it is paired with: each two pieces meet once.
static __host__ __device__ inline int partners(int i, int n) {
#ifdef AFTER
    return (n - 1) / 2 + (n % 2 == 0 && i < n / 2);
#else
    return n - 1 - i;
#endif
}

// Gauss's integrand: how two pieces of the molecule wind around each other.
static __host__ __device__ inline float winding(float4 r, float4 s, float4 t, float4 u) {
    float x = s.x - r.x, y = s.y - r.y, z = s.z - r.z, squared = x * x + y * y + z * z + 1e-6f;
    float triple = x * (t.y * u.z - t.z * u.y) + y * (t.z * u.x - t.x * u.z) + z * (t.x * u.y - t.y * u.x);
#ifdef __CUDA_ARCH__
    float inverse = rsqrtf(squared);
#else
    float inverse = 1 / sqrtf(squared);
#endif
    return triple * inverse * inverse * inverse;
}

// Writhe of a closed molecule, a share for each of its n pieces.
__global__ void writhe(const float4 *places, const float4 *directions, float *shares, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x, count = partners(i, n), j = i;
    float4 place = places[i], direction = directions[i];
    float sum = 0;
    for (int k = 0; k < count; k++) {
        j = j + 1 < n ? j + 1 : 0;
        sum += winding(place, places[j], direction, directions[j]);
    }
    shares[i] = sum * 0.15915494f;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "knots");
    int n = p.small ? 192 : 1 << 14;
    std::vector<float4> corners(n), places(n), directions(n);
    for (int i = 0; i < n; i++) {
        // A trefoil that winds tightly around itself.
        double t = 2 * acos(-1.0) * i / n, r = 2 + cos(3 * t) + 0.1 * cos(0.05 * n * t);
        corners[i] = {(float)(r * cos(2 * t)), (float)(r * sin(2 * t)), (float)(sin(3 * t) + 0.1 * sin(0.05 * n * t)),
                      0};
    }
    for (int i = 0; i < n; i++) {
        float4 a = corners[i], b = corners[(i + 1) % n];
        places[i] = {0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z), 0};
        directions[i] = {b.x - a.x, b.y - a.y, b.z - a.z, 0};
    }
    float4 *d_places = device_copy_of(places.data(), n), *d_directions = device_copy_of(directions.data(), n);
    float *d_shares = device_array<float>(n);
    pair_time(&p, [&] { writhe<<<n / BLOCK, BLOCK>>>(d_places, d_directions, d_shares, n); });
    std::vector<float> shares = host_copy_of(d_shares, n);
    for (int i = 0; i < n; i += 173) {
        double sum = 0;
        for (int k = 1; k <= partners(i, n); k++) {
            int j = (i + k) % n;
            sum += winding(places[i], places[j], directions[i], directions[j]);
        }
        pair_near(&p, "share", i, sum * 0.15915494, shares[i], 1e-4);
    }
    return pair_end(&p);
}
