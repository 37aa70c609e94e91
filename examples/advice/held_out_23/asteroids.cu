// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the small vector functions of the inner loop are inlined, no longer called.
// Why: each does a handful of operations; the call, and that vectors must lie in local memory to be pointed to, take
// many times as long.
#include "../common.h"

#ifdef AFTER
#define VECTOR_FUNCTION __device__ __forceinline__
#else
#define VECTOR_FUNCTION __device__ __noinline__
#endif

enum { BLOCK = 128, PLANETS = 8 };

struct Vector {
    float x, y, z;
};

VECTOR_FUNCTION void subtract(Vector *out, const Vector *a, const Vector *b) {
    out->x = a->x - b->x;
    out->y = a->y - b->y;
    out->z = a->z - b->z;
}

VECTOR_FUNCTION void add_scaled(Vector *out, const Vector *a, float scale) {
    out->x += scale * a->x;
    out->y += scale * a->y;
    out->z += scale * a->z;
}

VECTOR_FUNCTION float square(const Vector *a) { return a->x * a->x + a->y * a->y + a->z * a->z; }

// Moves asteroids among the planets, whose places (w: mass) are given for each step, and tells how near each came to
// one of them.
__global__ void drift(Vector *place, const Vector *start, const Vector *speed, float *nearest, const float4 *planets,
                      int asteroids, int steps, float dt) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= asteroids)
        return;
    Vector at = start[i], v = speed[i];
    float least = 1e9f;
    for (int s = 0; s < steps; s++) {
        for (int k = 0; k < PLANETS; k++) {
            float4 planet = planets[s * PLANETS + k];
            Vector there = {planet.x, planet.y, planet.z}, away;
            subtract(&away, &there, &at);
            float distance2 = square(&away) + 0.01f, inverse = rsqrtf(distance2);
            add_scaled(&v, &away, dt * planet.w * inverse * inverse * inverse);
            least = fminf(least, distance2);
        }
        add_scaled(&at, &v, dt);
    }
    place[i] = at;
    nearest[i] = least;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "asteroids");
    int n = p.small ? 3000 : 132 * 2048 * 2, steps = p.small ? 3 : 32;
    float dt = 0.01f;
    std::vector<float> start = random_floats(3 * (size_t)n, -4, 4, 1), speed = random_floats(3 * (size_t)n, -1, 1, 2);
    std::vector<float4> planets(steps * PLANETS);
    for (int s = 0; s < steps; s++)
        for (int k = 0; k < PLANETS; k++) {
            float radius = 0.5f * (k + 1), angle = k + s * dt / (radius * sqrtf(radius));
            planets[s * PLANETS + k] =
                make_float4(radius * cosf(angle), radius * sinf(angle), 0.05f * k, 0.1f + 0.03f * k);
        }
    Vector *d_start = device_copy_of((const Vector *)start.data(), n),
           *d_speed = device_copy_of((const Vector *)speed.data(), n), *d_place = device_array<Vector>(n);
    float *d_nearest = device_array<float>(n);
    float4 *d_planets = device_copy_of(planets.data(), planets.size());
    int blocks = (n + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] {
        drift<<<blocks, BLOCK>>>(d_place, d_start, d_speed, d_nearest, d_planets, n, steps, dt);
    });
    std::vector<Vector> place = host_copy_of(d_place, n);
    std::vector<float> nearest = host_copy_of(d_nearest, n);
    for (int i = 0; i < n; i += p.small ? 1 : 67) {
        double at[3], v[3], least = 1e9;
        for (int d = 0; d < 3; d++) {
            at[d] = start[3 * (size_t)i + d];
            v[d] = speed[3 * (size_t)i + d];
        }
        for (int s = 0; s < steps; s++) {
            for (int k = 0; k < PLANETS; k++) {
                const float4 &q = planets[s * PLANETS + k];
                double x = q.x - at[0], y = q.y - at[1], z = q.z - at[2], distance2 = x * x + y * y + z * z + 0.01;
                double pull = dt * (double)q.w / (distance2 * sqrt(distance2));
                v[0] += pull * x;
                v[1] += pull * y;
                v[2] += pull * z;
                least = std::min(least, distance2);
            }
            for (int d = 0; d < 3; d++)
                at[d] += dt * v[d];
        }
        pair_near(&p, "x", i, at[0], place[i].x, 1e-3);
        pair_near(&p, "y", i, at[1], place[i].y, 1e-3);
        pair_near(&p, "z", i, at[2], place[i].z, 1e-3);
        pair_near(&p, "nearest", i, least, nearest[i], 1e-3);
    }
    return pair_end(&p);
}
