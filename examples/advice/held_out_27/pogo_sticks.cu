// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function with the laws of motion is inlined in the four places that call it, not called.
// Why: it is a dozen instructions long; moving its arguments and results, the call and the return take longer.
#include "../common.h"

#ifdef AFTER
#define LAW __forceinline__
#else
#define LAW __noinline__
#endif

struct Stick {
    float stiff, damping, per_mass, push;
};

struct Motion {
    float height, speed, warmth;  // height of the foot when the spring is at rest; heat of the spring
};

// How the motion changes per second. The spring acts only while it is pressed together.
__device__ LAW Motion change(Motion now, Stick stick, float effort) {
    float pressed = fmaxf(0.0f, -now.height);
    float loss = stick.damping * pressed * now.speed;
    float force = (stick.stiff + stick.push * effort) * pressed - loss;
    return {now.speed, force * stick.per_mass - 9.81f, loss * now.speed - 0.1f * now.warmth};
}

__device__ __forceinline__ Motion moved(Motion m, Motion by, float time) {
    return {m.height + time * by.height, m.speed + time * by.speed, m.warmth + time * by.warmth};
}

// Children hop on pogo sticks, each as hard as the music tells them; one thread each.
__global__ void hop(const Stick *sticks, const float *music, Motion *motions, int n, int steps, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Stick stick = sticks[i];
    Motion m = {0.3f, 0.0f, 0.0f};
    for (int k = 0; k < steps; k++) {
        float effort = music[k];
        Motion a = change(m, stick, effort);
        Motion b = change(moved(m, a, 0.5f * dt), stick, effort);
        Motion c = change(moved(m, b, 0.5f * dt), stick, effort);
        Motion d = change(moved(m, c, dt), stick, effort);
        m = moved(moved(m, a, dt / 6), b, dt / 3);
        m = moved(moved(m, c, dt / 3), d, dt / 6);
    }
    motions[i] = m;
}

// The same in double precision.
static void hop_on_host(const Stick &s, const std::vector<float> &music, double dt, double *m) {
    for (float effort : music) {
        double slope[3] = {0, 0, 0}, sum[3] = {0, 0, 0};
        const double ahead[4] = {0, dt / 2, dt / 2, dt}, weight[4] = {dt / 6, dt / 3, dt / 3, dt / 6};
        for (int stage = 0; stage < 4; stage++) {
            double height = m[0] + ahead[stage] * slope[0], speed = m[1] + ahead[stage] * slope[1];
            double warmth = m[2] + ahead[stage] * slope[2];
            double pressed = std::max(0.0, -height), loss = s.damping * pressed * speed;
            slope[0] = speed;
            slope[1] = ((s.stiff + s.push * effort) * pressed - loss) * s.per_mass - 9.81;
            slope[2] = loss * speed - 0.1 * warmth;
            for (int j = 0; j < 3; j++)
                sum[j] += weight[stage] * slope[j];
        }
        for (int j = 0; j < 3; j++)
            m[j] += sum[j];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pogo_sticks");
    int n = p.small ? 192 : 132 * 1536, steps = p.small ? 16 : 300;
    float dt = p.small ? 0.05f : 0.005f;
    std::vector<float> raw = random_floats((size_t)n * 4, 0, 1, 1), music = random_floats(steps, 0, 1, 2);
    std::vector<Stick> sticks(n);
    for (int i = 0; i < n; i++) {
        const float *r = &raw[4 * (size_t)i];
        sticks[i] = {4000 + 2000 * r[0], 100 + 200 * r[1], 1 / (30 + 20 * r[2]), 500 * r[3]};
    }
    Stick *d_sticks = device_copy_of(sticks.data(), n);
    float *d_music = device_copy_of(music.data(), steps);
    Motion *d_motions = device_array<Motion>(n);
    pair_time(&p, [&] { hop<<<(n + 191) / 192, 192>>>(d_sticks, d_music, d_motions, n, steps, dt); });
    std::vector<Motion> motions = host_copy_of(d_motions, n);
    for (int i = 0; i < n; i += p.small ? 1 : 101) {
        double m[3] = {0.3f, 0, 0};
        hop_on_host(sticks[i], music, dt, m);
        pair_near(&p, "height", i, m[0], motions[i].height, 1e-3);
        pair_near(&p, "speed", i, m[1], motions[i].speed, 1e-3);
        pair_near(&p, "warmth", i, m[2], motions[i].warmth, 1e-3);
    }
    return pair_end(&p);
}
