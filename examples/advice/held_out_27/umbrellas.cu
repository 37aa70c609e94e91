// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: light, heat and ultraviolet of a place are kept in registers over all umbrellas and written once.
// Why: the three values are read from and written to global memory again for every umbrella; the compiler must not
// keep them, as it cannot know that the arrays do not overlap the umbrellas.
#include "../common.h"

enum { TILE = 16 };

struct Umbrella {
    float x, y, radius, fabric;  // fabric: how dense, 0 to 1
};

__device__ float cover(const Umbrella &u, float x, float y) {
    float dx = x - u.x, dy = y - u.y;
    return u.fabric * __saturatef((u.radius * u.radius - dx * dx - dy * dy) * 0.25f);
}

// What of the sun reaches each place of a beach. The umbrellas near tile t are those from first[t] up to first[t + 1].
__global__ void shade(const int *first, const Umbrella *umbrellas, float *light, float *heat, float *ultraviolet,
                      int width) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, i = y * width + x;
    int tile = blockIdx.y * gridDim.x + blockIdx.x, begin = first[tile], end = first[tile + 1];
#ifdef AFTER
    float bright = 1, warm = 1, burning = 1;
    for (int k = begin; k < end; k++) {
        float shadow = cover(umbrellas[k], x, y);
        bright *= 1 - shadow;
        warm -= 0.5f * shadow * warm;
        burning *= 1 - 0.8f * shadow;
    }
    light[i] = bright;
    heat[i] = warm;
    ultraviolet[i] = burning;
#else
    light[i] = heat[i] = ultraviolet[i] = 1;
    for (int k = begin; k < end; k++) {
        float shadow = cover(umbrellas[k], x, y);
        light[i] *= 1 - shadow;
        heat[i] -= 0.5f * shadow * heat[i];
        ultraviolet[i] *= 1 - 0.8f * shadow;
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "umbrellas");
    int across = p.small ? 3 : 128, down = p.small ? 2 : 96, width = across * TILE, n = width * down * TILE;
    std::vector<int> first(1, 0);
    std::vector<Umbrella> umbrellas;
    unsigned seed = 7;
    for (int tile = 0; tile < across * down; tile++) {
        int count = 4 + lcg_next(&seed, 32);
        for (int k = 0; k < count; k++) {
            float x = (tile % across) * TILE - 4 + 0.1f * lcg_next(&seed, 240);
            float y = (tile / across) * TILE - 4 + 0.1f * lcg_next(&seed, 240);
            umbrellas.push_back({x, y, 2 + 0.05f * lcg_next(&seed, 60), 0.2f + 0.005f * lcg_next(&seed, 100)});
        }
        first.push_back((int)umbrellas.size());
    }
    int *d_first = device_copy_of(first.data(), first.size());
    Umbrella *d_umbrellas = device_copy_of(umbrellas.data(), umbrellas.size());
    float *d_light = device_array<float>(n), *d_heat = device_array<float>(n), *d_uv = device_array<float>(n);
    dim3 block(TILE, TILE), grid(across, down);
    pair_time(&p, [&] { shade<<<grid, block>>>(d_first, d_umbrellas, d_light, d_heat, d_uv, width); });
    std::vector<float> light = host_copy_of(d_light, n), heat = host_copy_of(d_heat, n), uv = host_copy_of(d_uv, n);
    for (int i = 0; i < n; i += p.small ? 1 : 37) {
        int x = i % width, y = i / width, tile = y / TILE * across + x / TILE;
        double bright = 1, warm = 1, burning = 1;
        for (int k = first[tile]; k < first[tile + 1]; k++) {
            const Umbrella &u = umbrellas[k];
            double dx = x - u.x, dy = y - u.y, inside = ((double)u.radius * u.radius - dx * dx - dy * dy) * 0.25;
            double shadow = u.fabric * std::min(1.0, std::max(0.0, inside));
            bright *= 1 - shadow;
            warm *= 1 - 0.5 * shadow;
            burning *= 1 - 0.8 * shadow;
        }
        pair_near(&p, "light", i, bright, light[i], 5e-4);
        pair_near(&p, "heat", i, warm, heat[i], 5e-4);
        pair_near(&p, "ultraviolet", i, burning, uv[i], 5e-4);
    }
    return pair_end(&p);
}
