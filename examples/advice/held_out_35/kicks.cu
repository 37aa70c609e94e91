// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: a lane whose ball has landed takes its next kick at once; it no longer waits for the longest flight of the
// warp, because the loop over kicks and the loop over time steps have become one.
// Why: flights take from half a second to five; most lanes of a warp stand idle until the last ball is down.
#include "../common.h"

enum { BLOCK = 128 };

// A kick as the camera tracker saw it leave the boot: metres per second (x: ahead, z: up), radians per second.
struct Kick {
    float vx, vy, vz, backspin, sidespin;
};

struct Ball {
    float x, y, z, vx, vy, vz, backspin, sidespin;
};

__device__ inline Ball struck(const Kick &k) { return {0, 0, 0.11f, k.vx, k.vy, k.vz, k.backspin, k.sidespin}; }

// One step of the flight: drag, which falls once the flow is turbulent, and the Magnus force of both spins.
__device__ inline void fly(Ball &b, float wind, float dt) {
    float ux = b.vx, uy = b.vy - wind, uz = b.vz, speed = sqrtf(ux * ux + uy * uy + uz * uz);
    float drag = (speed > 14 ? 0.0105f : 0.0210f) * speed, lift = 0.004f;
    b.vx += dt * (-drag * ux - lift * (b.backspin * uz + b.sidespin * uy));
    b.vy += dt * (-drag * uy + lift * b.sidespin * ux);
    b.vz += dt * (-drag * uz + lift * b.backspin * ux - 9.81f);
    b.x += dt * b.vx;
    b.y += dt * b.vy;
    b.z += dt * b.vz;
}

// Where the ball crossed the ground within its last step.
__device__ inline float2 landing(const Ball &b, float dt) {
    float over = fminf(b.z / b.vz, dt);  // seconds since
    return make_float2(b.x - over * b.vx, b.y - over * b.vy);
}

// Each player of the simulated season takes all his kicks; where does each of them land?
__global__ void kicks(const Kick *__restrict__ list, float2 *__restrict__ spot, int players, int each, float wind,
                      float dt) {
    const int player = blockIdx.x * BLOCK + threadIdx.x;
    if (player >= players)
        return;
#ifdef AFTER
    int n = 0;
    Ball ball = struck(list[player]);
    while (n < each) {
        fly(ball, wind, dt);
        if (ball.z <= 0) {
            spot[(size_t)n * players + player] = landing(ball, dt);
            if (++n < each)
                ball = struck(list[(size_t)n * players + player]);
        }
    }
#else
    for (int n = 0; n < each; n++) {
        Ball ball = struck(list[(size_t)n * players + player]);
        while (ball.z > 0)
            fly(ball, wind, dt);
        spot[(size_t)n * players + player] = landing(ball, dt);
    }
#endif
}

// The same flight in double precision.
static void reference(const Kick &k, double wind, double dt, double *x, double *y) {
    double vx = k.vx, vy = k.vy, vz = k.vz, z = 0.11f;
    *x = *y = 0;
    while (z > 0) {
        double uy = vy - wind, speed = sqrt(vx * vx + uy * uy + vz * vz), ux = vx, uz = vz;
        double drag = (speed > 14 ? 0.0105 : 0.0210) * speed;
        vx += dt * (-drag * ux - 0.004 * (k.backspin * uz + k.sidespin * uy));
        vy += dt * (-drag * uy + 0.004 * k.sidespin * ux);
        vz += dt * (-drag * uz + 0.004 * k.backspin * ux - 9.81);
        *x += dt * vx;
        *y += dt * vy;
        z += dt * vz;
    }
    double over = std::min(z / vz, dt);
    *x -= over * vx;
    *y -= over * vy;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kicks");
    const int players = p.small ? 384 : 130000, each = p.small ? 4 : 20;
    const float wind = 2.5f, dt = p.small ? 0.04f : 0.005f;

    // Flat passes are the most common; then crosses, and now and then a goal kick.
    std::vector<Kick> list((size_t)players * each);
    unsigned seed = 1863;
    for (Kick &k : list) {
        unsigned kind = lcg_next(&seed, 10);
        float t = lcg_next(&seed, 1000) / 1000.0f;
        float rise = kind < 5 ? 0.10f + 0.10f * t : kind < 8 ? 0.30f + 0.25f * t : 0.6f + 0.25f * t;
        float speed = kind < 5 ? 12 + 10 * t : kind < 8 ? 20 + 6 * t : 26 + 7 * t;
        k.vx = speed * cosf(rise);
        k.vy = k.vx * (0.6f * lcg_next(&seed, 1000) / 1000.0f - 0.3f);
        k.vz = speed * sinf(rise);
        k.backspin = kind < 5 ? 5.0f : 25 + 20.0f * lcg_next(&seed, 1000) / 1000.0f;
        k.sidespin = 60.0f * lcg_next(&seed, 1000) / 1000.0f - 30;
    }

    Kick *d_list = device_copy_of(list.data(), list.size());
    float2 *d_spot = device_array<float2>(list.size());
    pair_time(&p, [&] { kicks<<<(players + BLOCK - 1) / BLOCK, BLOCK>>>(d_list, d_spot, players, each, wind, dt); });

    std::vector<float2> spot = host_copy_of(d_spot, list.size());
    for (size_t i = 0; i < list.size(); i += p.small ? 11 : 2003) {
        double x, y;
        reference(list[i], wind, dt, &x, &y);
        pair_near(&p, "x", i, x, spot[i].x, 3e-3);
        pair_near(&p, "y", i, y, spot[i].y, 3e-3);
    }
    return pair_end(&p);
}
