// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: twenty blocks share the draw weights of a group of shots instead of one block doing all of them.
// Why: there are only forty groups of shots, so most of the GPU's multiprocessors have no block.
#include "../common.h"

enum { BLOCK = 256, STEPS = 100 };
#ifdef AFTER
enum { SHARES = 20 };
#else
enum { SHARES = 1 };
#endif

// How far a bolt has flown when its time is over or it is back on the ground.
__host__ __device__ inline float flight(float2 aim, float drag, float speed) {
    const float dt = 0.04f;
    float x = 0, y = 1.5f, vx = speed * aim.x, vy = speed * aim.y;
    for (int s = 0; s < STEPS; s++) {
        float slow = drag * sqrtf(vx * vx + vy * vy) * dt;
        vx -= slow * vx;
        vy -= slow * vy + 9.81f * dt;
        float part = y > 0 ? dt : 0.0f;
        x += vx * part;
        y += vy * part;
    }
    return x;
}

// The game's table of ranges: one row for each draw weight, one column for each shot (direction and bolt).
__global__ void ranges(const float2 *aims, const float *drags, float *range, int shots, int weights) {
    int shot = blockIdx.x * BLOCK + threadIdx.x;
    if (shot >= shots)
        return;
    float2 aim = aims[shot];
    float drag = drags[shot];
    for (int w = blockIdx.y; w < weights; w += gridDim.y)
        range[w * shots + shot] = flight(aim, drag, 30 + 0.5f * w);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "crossbows");
    int shots = p.small ? 600 : 10000, weights = p.small ? 4 : 100;
    std::vector<float> elevation = random_floats(shots, 0, 1.2f, 1), drag = random_floats(shots, 0.001f, 0.004f, 2);
    std::vector<float2> aims(shots);
    for (int i = 0; i < shots; i++)
        aims[i] = make_float2(cosf(elevation[i]), sinf(elevation[i]));
    float2 *d_aims = device_copy_of(aims.data(), shots);
    float *d_drag = device_copy_of(drag.data(), shots);
    float *d_range = device_array<float>((size_t)shots * weights);
    dim3 grid((shots + BLOCK - 1) / BLOCK, SHARES);
    pair_time(&p, [&] { ranges<<<grid, BLOCK>>>(d_aims, d_drag, d_range, shots, weights); });
    std::vector<float> range = host_copy_of(d_range, (size_t)shots * weights);
    // A bolt may land one step earlier or later by rounding: that is one step's way.
    for (size_t i = 0; i < range.size(); i += 211) {
        size_t shot = i % shots, w = i / shots;
        pair_near(&p, "range", i, flight(aims[shot], drag[shot], 30 + 0.5f * w), range[i], 0.1);
    }
    return pair_end(&p);
}
