// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: powf, expf and the divisions become the fast ones: __powf, __expf, __fdividef.
// Why: a plume takes two powers and three exponentials, and the map needs three digits of them.
#include "../common.h"

enum { MAX_STACKS = 64 };

struct Stack {
    float east, north, height, grams;  // metres above ground, grams a second
};

__constant__ Stack stacks[MAX_STACKS];

#ifdef AFTER
static __device__ float power(float a, float b) { return __powf(a, b); }
static __device__ float exponential(float a) { return __expf(a); }
static __device__ float ratio(float a, float b) { return __fdividef(a, b); }
#else
static __device__ float power(float a, float b) { return powf(a, b); }
static __device__ float exponential(float a) { return expf(a); }
static __device__ float ratio(float a, float b) { return a / b; }
#endif

// Gaussian plumes of all the chimneys of a town, micrograms per cubic metre at head height.
__global__ void plumes(float *map, int width, int height, float cell, float wind_east, float wind_north, int count) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    float speed = sqrtf(wind_east * wind_east + wind_north * wind_north);
    float ue = wind_east / speed, un = wind_north / speed, sum = 0;
    for (int s = 0; s < count; s++) {
        Stack stack = stacks[s];
        float de = column * cell - stack.east, dn = row * cell - stack.north;
        float along = de * ue + dn * un, across = dn * ue - de * un;
        if (along < 1.0f)  // upwind
            continue;
        float sy = 0.22f * power(along, 0.92f), sz = 0.2f * power(along, 0.85f);
        float a = ratio(across, sy), down = ratio(1.7f - stack.height, sz), up = ratio(1.7f + stack.height, sz);
        float vertical = exponential(-0.5f * down * down) + exponential(-0.5f * up * up);
        sum += ratio(1e6f * stack.grams, 6.2831853f * speed * sy * sz) * exponential(-0.5f * a * a) * vertical;
    }
    map[row * width + column] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "chimneys");
    int width = p.small ? 64 : 1200, height = p.small ? 40 : 1000, count = p.small ? 16 : MAX_STACKS;
    float cell = p.small ? 80 : 5, wind_east = 3.5f, wind_north = 1.25f;
    std::vector<Stack> town(MAX_STACKS);
    unsigned seed = 1;
    for (Stack &s : town)
        s = {0.4f * cell * width * lcg_next(&seed, 1000) / 1000.0f, cell * height * lcg_next(&seed, 1000) / 1000.0f,
             8.0f + lcg_next(&seed, 60), 0.01f + 0.002f * lcg_next(&seed, 100)};
    CUDA_CHECK(cudaMemcpyToSymbol(stacks, town.data(), sizeof stacks));
    float *d_map = device_array<float>((size_t)width * height);
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    pair_time(&p, [&] { plumes<<<grid, block>>>(d_map, width, height, cell, wind_east, wind_north, count); });
    std::vector<float> map = host_copy_of(d_map, (size_t)width * height);
    double speed = sqrt((double)wind_east * wind_east + wind_north * wind_north);
    for (int at = 0; at < width * height; at += 41) {
        double sum = 0;
        for (int s = 0; s < count; s++) {
            // The place in float as on the GPU: just behind a chimney the plume is steep.
            float de = at % width * cell - town[s].east, dn = at / width * cell - town[s].north;
            double along = (de * wind_east + dn * wind_north) / speed,
                   across = (dn * wind_east - de * wind_north) / speed;
            if (along < 1)
                continue;
            double sy = 0.22 * pow(along, 0.92), sz = 0.2 * pow(along, 0.85), a = across / sy;
            double down = (1.7 - town[s].height) / sz, up = (1.7 + town[s].height) / sz;
            sum += 1e6 * town[s].grams / (2 * M_PI * speed * sy * sz) * exp(-0.5 * a * a) *
                   (exp(-0.5 * down * down) + exp(-0.5 * up * up));
        }
        pair_near(&p, "map", at, sum, map[at], 1e-3);
    }
    return pair_end(&p);
}
