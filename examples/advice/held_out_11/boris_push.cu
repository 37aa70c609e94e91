// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Also: vectorised-access
// Change: particles are a structure of arrays instead of an array of structures.
// Why: neighbouring lanes load positions and velocities that lie a whole particle apart.
#include "../common.h"

enum { BLOCK = 256, PARTS = 6, GRID = 128 };

#ifdef AFTER
#define AT(part) ((part)*n + i)
#else
#define AT(part) (i * PARTS + (part))
#endif

// Moves charged particles by one step in the electric field of their cell and a magnetic field (Boris).
__global__ void boris_push(const float *state, float *next, const float2 *field, float3 t, float dt, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float x = state[AT(0)], y = state[AT(1)], z = state[AT(2)];
    float u = state[AT(3)], v = state[AT(4)], w = state[AT(5)];
    float2 e = field[(int)y * GRID + (int)x];
    u += e.x * dt;
    v += e.y * dt;
    float s = 2.0f / (1.0f + t.x * t.x + t.y * t.y + t.z * t.z);
    float au = u + v * t.z - w * t.y, av = v + w * t.x - u * t.z, aw = w + u * t.y - v * t.x;
    u += s * (av * t.z - aw * t.y) + e.x * dt;
    v += s * (aw * t.x - au * t.z) + e.y * dt;
    w += s * (au * t.y - av * t.x);
    next[AT(0)] = x + u * dt;
    next[AT(1)] = y + v * dt;
    next[AT(2)] = z + w * dt;
    next[AT(3)] = u;
    next[AT(4)] = v;
    next[AT(5)] = w;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "boris_push");
    int n = p.small ? 1 << 13 : 1 << 20;
    std::vector<float> places = random_floats((size_t)n * 3, 0, GRID, 1),
                       speeds = random_floats((size_t)n * 3, -1, 1, 2),
                       strengths = random_floats(GRID * GRID * 2, -1, 1, 3), state((size_t)n * PARTS);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            state[AT(k)] = places[i * 3 + k] = std::min(places[i * 3 + k], GRID - 0.01f);
            state[AT(3 + k)] = speeds[i * 3 + k];
        }
    float *d_state = device_copy_of(state.data(), state.size()), *d_next = device_array<float>(state.size());
    float2 *d_field = (float2 *)device_copy_of(strengths.data(), strengths.size());
    float3 t = {0.1f, -0.2f, 0.3f};
    float dt = 0.05f;
    pair_time(&p, [&] { boris_push<<<n / BLOCK, BLOCK>>>(d_state, d_next, d_field, t, dt, n); });
    std::vector<float> next = host_copy_of(d_next, state.size());
    for (int i = 0; i < n; i += 97) {
        const float *at = &places[i * 3], *speed = &speeds[i * 3];
        const float *e = &strengths[2 * ((int)at[1] * GRID + (int)at[0])];
        double u = speed[0] + (double)e[0] * dt, v = speed[1] + (double)e[1] * dt, w = speed[2];
        double s = 2 / (1 + t.x * t.x + t.y * t.y + t.z * t.z);
        double au = u + v * t.z - w * t.y, av = v + w * t.x - u * t.z;
        w += s * (au * t.y - av * t.x);
        pair_near(&p, "w", i, w, next[AT(5)], 1e-4);
        pair_near(&p, "z", i, at[2] + w * dt, next[AT(2)], 1e-4);
    }
    return pair_end(&p);
}
