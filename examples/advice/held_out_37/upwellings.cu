// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: tracer and velocity of the next level are loaded at the start of a level's work, not when the level begins.
// Why: between two barriers a level needs its values at once, so that every warp waits for memory in each level; loads
// issued one level ahead arrive while the present level is worked on.
#include "../common.h"

// Coastal upwelling: nutrients carried upwards, mixed sideways and eaten by plankton where there is light. A CTA goes
// from the sea bed to the surface; its outer threads only provide the halo of the horizontal mixing.
constexpr int TILE_X = 32, TILE_Y = 8;
constexpr int INNER_X = TILE_X - 2, INNER_Y = TILE_Y - 2;

struct Ocean {
    int nx, ny, levels;
    float dt, dz, mixing, uptake, attenuation;
};

__global__ void __launch_bounds__(TILE_X *TILE_Y)
    advance_nutrients(float *out, const float *nutrients, const float *velocity, Ocean sea) {
    __shared__ float tile[TILE_Y][TILE_X];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * INNER_X + tx - 1, y = blockIdx.y * INNER_Y + ty - 1;
    bool inner = tx > 0 && tx <= INNER_X && ty > 0 && ty <= INNER_Y && x < sea.nx && y < sea.ny;
    size_t plane = (size_t)sea.nx * sea.ny;
    size_t at = (size_t)min(max(y, 0), sea.ny - 1) * sea.nx + min(max(x, 0), sea.nx - 1);
    float beneath = nutrients[at];
#ifdef AFTER
    float next = beneath, next_speed = velocity[at];
#endif
    for (int level = 0; level < sea.levels; level++, at += plane) {
#ifdef AFTER
        float here = next, speed = next_speed;
        if (level + 1 < sea.levels) {
            next = nutrients[at + plane];
            next_speed = velocity[at + plane];
        }
#else
        float here = nutrients[at], speed = velocity[at];
#endif
        tile[ty][tx] = here;
        __syncthreads();
        if (inner) {
            float around = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
            float light = __expf(-sea.attenuation * sea.dz * (sea.levels - 1 - level));
            float carried = speed * (beneath - here) / sea.dz;
            float eaten = sea.uptake * here * light / (0.2f + light);
            out[at] = here + sea.dt * (carried + sea.mixing * (around - 4.0f * here) - eaten);
        }
        __syncthreads();
        beneath = here;
    }
}

static float advance_on_cpu(const float *nutrients, const float *velocity, const Ocean &sea, int x, int y, int level) {
    auto value = [&](int i, int j, int k) {
        i = std::min(std::max(i, 0), sea.nx - 1);
        j = std::min(std::max(j, 0), sea.ny - 1);
        return nutrients[((size_t)std::max(k, 0) * sea.ny + j) * sea.nx + i];
    };
    float here = value(x, y, level), speed = velocity[((size_t)level * sea.ny + y) * sea.nx + x];
    float around = value(x - 1, y, level) + value(x + 1, y, level) + value(x, y - 1, level) + value(x, y + 1, level);
    float light = expf(-sea.attenuation * sea.dz * (sea.levels - 1 - level));
    float carried = speed * (value(x, y, level - 1) - here) / sea.dz;
    float eaten = sea.uptake * here * light / (0.2f + light);
    return here + sea.dt * (carried + sea.mixing * (around - 4.0f * here) - eaten);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "upwellings");
    Ocean sea = {p.small ? 60 : 480, p.small ? 12 : 180, p.small ? 12 : 200, 0.1f, 2.0f, 0.3f, 0.4f, 0.05f};
    size_t cells = (size_t)sea.nx * sea.ny * sea.levels;
    std::vector<float> nutrients = random_floats(cells, 0.0f, 20.0f, 41);
    std::vector<float> velocity = random_floats(cells, 0.0f, 1.5f, 42);

    float *d_nutrients = device_copy_of(nutrients.data(), cells);
    float *d_velocity = device_copy_of(velocity.data(), cells);
    float *d_out = device_array<float>(cells);

    dim3 grid((sea.nx + INNER_X - 1) / INNER_X, (sea.ny + INNER_Y - 1) / INNER_Y), block(TILE_X, TILE_Y);
    pair_time(&p, [&] { advance_nutrients<<<grid, block>>>(d_out, d_nutrients, d_velocity, sea); });

    std::vector<float> out = host_copy_of(d_out, cells);
    for (size_t i = 0; i < cells; i += p.small ? 1 : 211) {
        int x = i % sea.nx, y = i / sea.nx % sea.ny, level = i / ((size_t)sea.nx * sea.ny);
        float expected = advance_on_cpu(nutrients.data(), velocity.data(), sea, x, y, level);
        pair_near(&p, "nutrient", i, expected, out[i], 1e-4);
    }
    CUDA_CHECK(cudaFree(d_nutrients));
    CUDA_CHECK(cudaFree(d_velocity));
    CUDA_CHECK(cudaFree(d_out));
    return pair_end(&p);
}
