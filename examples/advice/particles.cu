// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Also: vectorised-access
// Change: the particles are a structure of arrays instead of an array of structures.
// Why: neighbouring lanes read words 32 bytes apart, so each load of a warp touches eight times the lines it needs.
#include "common.h"

enum { FIELDS = 8, BLOCK = 256 };  // position, velocity, charge over mass, weight

#ifdef AFTER
#define AT(i, field, n) ((field) * (size_t)(n) + (i))
#else
#define AT(i, field, n) ((i) * (size_t)FIELDS + (field))
#endif

// Boris' push in constant fields, as particle-in-cell codes have it.
__global__ void push(const float *in, float *out, int n, float dt) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    float x = in[AT(i, 0, n)], y = in[AT(i, 1, n)], z = in[AT(i, 2, n)];
    float u = in[AT(i, 3, n)], v = in[AT(i, 4, n)], w = in[AT(i, 5, n)], h = 0.5f * dt * in[AT(i, 6, n)];
    u += h * 0.3f;  // half of the electric field's push
    float tz = h * 1.5f, s = 2 * tz / (1 + tz * tz), pu = u + v * tz, pv = v - u * tz;  // magnetic field along z
    u += pv * s;
    v -= pu * s;
    u += h * 0.3f;
    out[AT(i, 0, n)] = x + dt * u;
    out[AT(i, 1, n)] = y + dt * v;
    out[AT(i, 2, n)] = z + dt * w;
    out[AT(i, 3, n)] = u;
    out[AT(i, 4, n)] = v;
    out[AT(i, 5, n)] = w;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "particles");
    int n = p.small ? 132 * 1024 : 1 << 22;
    std::vector<float> in = random_floats((size_t)n * FIELDS, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { push<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in, d_out, n, 0.1f); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int i = 0; i < n; i += 11) {
        double u = in[AT(i, 3, n)], v = in[AT(i, 4, n)], h = 0.05 * in[AT(i, 6, n)], t = h * 1.5,
               s = 2 * t / (1 + t * t);
        u += h * 0.3;
        double pu = u + v * t, pv = v - u * t;
        u += pv * s + h * 0.3;
        v -= pu * s;
        pair_near(&p, "x", i, in[AT(i, 0, n)] + 0.1 * u, out[AT(i, 0, n)], 1e-5);
        pair_near(&p, "v", i, v, out[AT(i, 4, n)], 1e-5);
    }
    return pair_end(&p);
}
