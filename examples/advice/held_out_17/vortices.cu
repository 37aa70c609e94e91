// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the nearest image of a vortex comes from rounding, not from loops that add or subtract the box's length.
// Why: how often the loops turn differs from lane to lane; rounding needs no branch at all.
#include "../common.h"

enum { BLOCK = 128 };

static __device__ float nearest(float d, float length) {
#ifdef AFTER
    d -= length * rintf(d * (1.0f / length));
#else
    while (d > 0.5f * length)
        d -= length;
    while (d < -0.5f * length)
        d += length;
#endif
    return d;
}

// How the vortices of a periodic flow carry tracers along; positions go on beyond the box, up to a few lengths.
__global__ void carry(const float2 *tracers, const float3 *vortices, float2 *velocities, int tracer_count,
                      int vortex_count, float length) {
    __shared__ float3 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float2 own = i < tracer_count ? tracers[i] : make_float2(0, 0);
    float u = 0, v = 0, reach = 4.0f / (length * length);
    for (int first = 0; first < vortex_count; first += BLOCK) {
        tile[threadIdx.x] = vortices[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < BLOCK; j++) {
            float3 other = tile[j];
            float dx = nearest(own.x - other.x, length), dy = nearest(own.y - other.y, length);
            float squared = dx * dx + dy * dy, fade = fmaxf(1.0f - reach * squared, 0.0f);
            float spin = other.z * fade * __fdividef(1.0f, squared + 0.25f);
            u -= spin * dy;
            v += spin * dx;
        }
        __syncthreads();
    }
    if (i < tracer_count)
        velocities[i] = make_float2(u, v);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vortices");
    int tracers = p.small ? 512 : 1 << 17, vortices = p.small ? 128 : 2048;
    float length = 64;
    std::vector<float2> tracer(tracers);
    std::vector<float3> vortex(vortices);
    unsigned seed = 1;  // places in steps of 1/256, so that both ways of folding are exact
    for (float2 &t : tracer) {
        t.x = lcg_next(&seed, 5 * 64 * 256) / 256.0f - 128;
        t.y = lcg_next(&seed, 5 * 64 * 256) / 256.0f - 128;
    }
    for (float3 &t : vortex) {
        t.x = lcg_next(&seed, 64 * 256) / 256.0f;
        t.y = lcg_next(&seed, 64 * 256) / 256.0f;
        t.z = (int)lcg_next(&seed, 200) * 0.01f - 1;
    }
    float2 *d_tracer = device_copy_of(tracer.data(), tracers), *d_velocity = device_array<float2>(tracers);
    float3 *d_vortex = device_copy_of(vortex.data(), vortices);
    pair_time(&p, [&] {
        carry<<<(tracers + BLOCK - 1) / BLOCK, BLOCK>>>(d_tracer, d_vortex, d_velocity, tracers, vortices, length);
    });
    std::vector<float2> velocity = host_copy_of(d_velocity, tracers);
    for (int i = 0; i < tracers; i += p.small ? 7 : 997) {
        double u = 0, v = 0;
        for (int j = 0; j < vortices; j++) {
            double dx = tracer[i].x - vortex[j].x, dy = tracer[i].y - vortex[j].y;
            dx -= length * rint(dx / length);
            dy -= length * rint(dy / length);
            double squared = dx * dx + dy * dy, fade = std::max(1 - 4 * squared / (length * length), 0.0);
            double spin = vortex[j].z * fade / (squared + 0.25);
            u -= spin * dy;
            v += spin * dx;
        }
        pair_near(&p, "u", i, u, velocity[i].x, 1e-3);
        pair_near(&p, "v", i, v, velocity[i].y, 1e-3);
    }
    return pair_end(&p);
}
