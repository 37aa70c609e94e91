// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: one formula, with the depth in a ramp clamped to nothing on the flat part, instead of three branches.
// Why: the boards of a warp are on the left ramp, the flat part and the right ramp, which then run one after another.
#include "../common.h"

// A half-pipe: a flat part, and on both sides ramps whose slope grows with the depth in them.
struct Pipe {
    float flat;            // half the width of the flat part
    float bend, steepen;   // slope = bend * depth + steepen * depth^3
    float rolling;         // friction per speed
    float step;            // seconds
};

static __host__ __device__ float inverse_root(float x) {
#ifdef __CUDA_ARCH__
    return rsqrtf(x);
#else
    return 1.0f / sqrtf(x);
#endif
}

// How the speed of a board changes at a place.
static __host__ __device__ float acceleration(const Pipe &pipe, float x, float speed) {
    const float g = 9.81f;
#ifdef AFTER
    float depth = x - fminf(fmaxf(x, -pipe.flat), pipe.flat);  // negative on the left
    float slope = depth * (pipe.bend + pipe.steepen * depth * depth);
    float cosine = inverse_root(1.0f + slope * slope);
    return -g * cosine * (slope * cosine + pipe.rolling * speed);
#else
    if (x < -pipe.flat) {
        float depth = -pipe.flat - x;
        float slope = depth * (pipe.bend + pipe.steepen * depth * depth);
        float cosine = inverse_root(1.0f + slope * slope);
        return g * cosine * (slope * cosine - pipe.rolling * speed);
    } else if (x > pipe.flat) {
        float depth = x - pipe.flat;
        float slope = depth * (pipe.bend + pipe.steepen * depth * depth);
        float cosine = inverse_root(1.0f + slope * slope);
        return -g * cosine * (slope * cosine + pipe.rolling * speed);
    } else {
        return -g * pipe.rolling * speed;
    }
#endif
}

struct Ride {
    float x, speed, farthest;
};

static __host__ __device__ Ride ride(const Pipe &pipe, float x, float speed, int steps) {
    Ride r = {x, speed, 0};
    for (int s = 0; s < steps; s++) {
        float half = r.speed + 0.5f * pipe.step * acceleration(pipe, r.x, r.speed);
        r.x += pipe.step * half;
        r.speed = half + 0.5f * pipe.step * acceleration(pipe, r.x, half);
        r.farthest = fmaxf(r.farthest, fabsf(r.x));
    }
    return r;
}

// Lets many boards roll from different places and with different speeds.
__global__ void roll(Pipe pipe, const float2 *starts, Ride *rides, int boards, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < boards)
        rides[i] = ride(pipe, starts[i].x, starts[i].y, steps);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "skateboards");
    int boards = p.small ? 256 : 400000, steps = p.small ? 24 : 300, block = 64;
    Pipe pipe = {1.5f, 0.25f, 0.02f, 0.008f, 0.01f};
    std::vector<float> places = random_floats(boards, -5, 5, 2), speeds = random_floats(boards, -3, 3, 4);
    std::vector<float2> starts(boards);
    for (int i = 0; i < boards; i++)
        starts[i] = make_float2(places[i], speeds[i]);
    float2 *d_starts = device_copy_of(starts.data(), boards);
    Ride *d_rides = device_array<Ride>(boards);
    pair_time(&p, [&] { roll<<<(boards + block - 1) / block, block>>>(pipe, d_starts, d_rides, boards, steps); });
    std::vector<Ride> rides = host_copy_of(d_rides, boards);
    for (int i = 0; i < boards; i += p.small ? 1 : 211) {
        Ride expected = ride(pipe, starts[i].x, starts[i].y, steps);
        pair_near(&p, "place", i, expected.x, rides[i].x, 1e-3);
        pair_near(&p, "speed", i, expected.speed, rides[i].speed, 1e-3);
        pair_near(&p, "farthest", i, expected.farthest, rides[i].farthest, 1e-3);
    }
    return pair_end(&p);
}
