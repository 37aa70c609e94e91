// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the wake model is called by its name in a branch on its kind, not through a pointer from a table of models.
// Why: a call through a pointer cannot be inlined: the branch is the same for all lanes and costs next to nothing, and
// saving registers, the jump and the return for every turbine go.
#include "../common.h"

constexpr int THREADS = 128;
constexpr float SPREAD = 0.05f;  // growth of a wake's width per metre

enum Kind { JENSEN, GAUSSIAN };

// Share of the wind that a turbine of this diameter and thrust coefficient takes away at a place `along` metres
// downwind of it and `across` metres off its axis.
typedef float (*Deficit)(float along, float across, float diameter, float thrust);

__host__ __device__ float jensen(float along, float across, float diameter, float thrust) {
    float width = diameter + 2 * SPREAD * along;
    if (along <= 0 || fabsf(across) > 0.5f * width)
        return 0;
    float shrink = diameter / width;
    return (1 - sqrtf(1 - thrust)) * shrink * shrink;
}

__host__ __device__ float gaussian(float along, float across, float diameter, float thrust) {
    if (along <= 0)
        return 0;
    float sigma = SPREAD * along + 0.27f * diameter;
    float ratio = diameter / sigma;
    float centre = 1 - sqrtf(fmaxf(0, 1 - thrust * ratio * ratio * 0.125f));
    float off = across / sigma;
    return centre * expf(-0.5f * off * off);
}

__device__ Deficit models[] = {jensen, gaussian};

// Wind over the whole farm.
struct Wind {
    float speed;            // m/s, undisturbed
    float east, north;      // where it blows to, a unit vector
};

// Wind speed at every place of a map; deficits of several wakes are combined as the root of their squares' sum.
__global__ void wind_map(Wind wind, Kind kind, const float4 *__restrict__ turbines, int count, float *__restrict__ map,
                         int width, float cell) {
    int column = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;
    if (column >= width)
        return;
#ifdef AFTER
    auto deficit = [kind](float along, float across, float diameter, float thrust) {
        return kind == JENSEN ? jensen(along, across, diameter, thrust) : gaussian(along, across, diameter, thrust);
    };
#else
    Deficit deficit = models[kind];
#endif
    float x = column * cell, y = row * cell;
    float squares = 0;
    for (int t = 0; t < count; t++) {
        float4 turbine = turbines[t];  // x, y, diameter, thrust coefficient
        float dx = x - turbine.x, dy = y - turbine.y;
        float along = dx * wind.east + dy * wind.north;
        float across = dy * wind.east - dx * wind.north;
        float d = deficit(along, across, turbine.z, turbine.w);
        squares += d * d;
    }
    map[row * width + column] = wind.speed * (1 - fminf(1, sqrtf(squares)));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wakes");
    int width = p.small ? 128 : 1024, height = p.small ? 3 : 768, count = p.small ? 12 : 140;
    float cell = p.small ? 80 : 12;
    Wind wind = {9.5f, 0.8f, 0.6f};
    Kind kind = GAUSSIAN;

    // Rows of turbines 6 diameters apart, each a little off its place.
    std::vector<float4> turbines;
    unsigned seed = 51;
    for (int t = 0; t < count; t++) {
        float diameter = lcg_next(&seed, 3) ? 126.0f : 164.0f;
        float x = 850.0f * (t % 14) + lcg_next(&seed, 200), y = 850.0f * (t / 14) + lcg_next(&seed, 200);
        turbines.push_back(make_float4(x, y, diameter, 0.7f + 0.001f * lcg_next(&seed, 130)));
    }
    float4 *d_turbines = device_copy_of(turbines.data(), turbines.size());
    float *d_map = device_array<float>((size_t)width * height);

    dim3 grid((width + THREADS - 1) / THREADS, height);
    pair_time(&p, [&] { wind_map<<<grid, THREADS>>>(wind, kind, d_turbines, count, d_map, width, cell); });

    std::vector<float> map = host_copy_of(d_map, (size_t)width * height);
    for (int i = 0; i < width * height; i += p.small ? 1 : 89) {
        double squares = 0;
        for (const float4 &turbine : turbines) {
            float dx = i % width * cell - turbine.x, dy = i / width * cell - turbine.y;
            float along = dx * wind.east + dy * wind.north, across = dy * wind.east - dx * wind.north;
            float d = (kind == JENSEN ? jensen : gaussian)(along, across, turbine.z, turbine.w);
            squares += d * d;
        }
        pair_near(&p, "speed", i, wind.speed * (1 - fmin(1, sqrt(squares))), map[i], 1e-3);
    }
    CUDA_CHECK(cudaFree(d_turbines));
    CUDA_CHECK(cudaFree(d_map));
    return pair_end(&p);
}
