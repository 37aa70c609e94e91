// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: 1.0 and 0.02 become 1.0f and 0.02f, sqrt becomes sqrtf.
// Why: the constants make the strain of each spring double, with its root and division.
#include "../common.h"

enum { WIDE = 32, HIGH = 8 };
#ifdef AFTER
#define ONE 1.0f
#define DAMPING 0.02f
#define ROOT(x) sqrtf(x)
#else
#define ONE 1.0
#define DAMPING 0.02
#define ROOT(x) sqrt((double)(x))
#endif

// The pull of one spring on `at`, along the way to `other`.
__host__ __device__ static float3 pull(float4 at, float4 other, float rest, float stiffness) {
    float x = other.x - at.x, y = other.y - at.y, z = other.z - at.z;
    float strain = stiffness * (ONE - rest / ROOT(x * x + y * y + z * z));
    return make_float3(strain * x, strain * y, strain * z);
}

// One step of a cloth: each knot is pulled by its eight neighbours and slowed down.
__global__ void cloth(const float4 *position, const float4 *speed, float4 *next, int n, float stiffness, float step) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    float4 at = position[y * n + x], v = speed[y * n + x];
    float3 force = make_float3(0, -9.81f, 0);
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if (!dx && !dy)
                continue;
            float3 f = pull(at, position[(y + dy) * n + x + dx], dx && dy ? 1.41421356f : 1.0f, stiffness);
            force.x += f.x;
            force.y += f.y;
            force.z += f.z;
        }
    v.x += step * (force.x - DAMPING * v.x);
    v.y += step * (force.y - DAMPING * v.y);
    v.z += step * (force.z - DAMPING * v.z);
    next[y * n + x] = make_float4(at.x + step * v.x, at.y + step * v.y, at.z + step * v.z, at.w);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "cloth");
    int n = p.small ? 256 : 2048;
    size_t count = (size_t)n * n;
    std::vector<float> shake = random_floats(count, -0.1f, 0.1f, 1);
    std::vector<float4> position(count), speed(count);
    for (size_t i = 0; i < count; i++) {
        position[i] = make_float4(i % n + shake[i], shake[(i * 7) % count], i / n + shake[(i * 3) % count], 1);
        speed[i] = make_float4(shake[(i * 5) % count], shake[(i * 11) % count], 0, 0);
    }
    float4 *d_position = device_copy_of(position.data(), count), *d_speed = device_copy_of(speed.data(), count),
           *d_next = device_array<float4>(count);
    pair_time(&p, [&] {
        cloth<<<dim3(n / WIDE, n / HIGH), dim3(WIDE, HIGH)>>>(d_position, d_speed, d_next, n, 50.0f, 0.001f);
    });
    std::vector<float4> next = host_copy_of(d_next, count);
    for (size_t i = n + 1; i < count - n; i += 1009) {
        if (i % n < 1 || i % n >= (size_t)n - 1)
            continue;
        double force = 0, v = speed[i].x;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (dx || dy)
                    force += pull(position[i], position[i + dy * n + dx], dx && dy ? 1.41421356f : 1.0f, 50).x;
        v += 0.001 * (force - 0.02 * v);
        pair_near(&p, "x", i, position[i].x + 0.001 * v, next[i].x, 1e-5);
    }
    return pair_end(&p);
}
