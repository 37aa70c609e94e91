// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: cars are stored in the order of their kind instead of that of the road.
// Why: lanes of a warp drive by four different models, which run one after the other in each step.
#include "../common.h"

enum { BLOCK = 256, KINDS = 4 };

// Acceleration by the intelligent driver model, Gipps' rule, optimal velocities or a truck's engine.
static __host__ __device__ inline float acceleration(int kind, float speed, float gap, float lead) {
    switch (kind) {
    case 0: {
        float wanted = 2.0f + fmaxf(0.0f, speed * 1.4f + speed * (speed - lead) / 3.6f), ratio = speed / 33.0f;
        return 1.2f * (1.0f - ratio * ratio * ratio * ratio - (wanted / gap) * (wanted / gap));
    }
    case 1: {
        float free = speed + 1.8f * (1.0f - speed / 31.0f) * sqrtf(0.025f + speed / 31.0f);
        float root = 4.0f + 2.0f * (2.0f * fmaxf(gap - 1.0f, 0.0f) - speed * 0.7f + lead * lead / 3.2f);
        return fminf(free, -2.0f + sqrtf(fmaxf(root, 4.0f))) - speed;
    }
    case 2: return 0.85f * (14.0f * (tanhf(0.13f * (gap - 12.0f)) + 0.9f) - speed) + 0.3f * (lead - speed);
    default: {
        float power = 9.0f / (speed + 3.0f), drag = 0.08f + 0.0006f * powf(speed, 1.9f);
        return power * (1.0f - expf(-gap / (4.0f + 1.6f * speed))) - drag - 0.25f * fmaxf(0.0f, speed - lead);
    }
    }
}

static __host__ __device__ inline void drive(int kind, float *speed, float *gap, float lead, int steps) {
    for (int t = 0; t < steps; t++) {
        float next = fmaxf(0.0f, *speed + 0.1f * acceleration(kind, *speed, *gap, lead));
        *gap = fmaxf(1.0f, *gap + 0.1f * (lead - 0.5f * (next + *speed)));
        *speed = next;
    }
}

__global__ void car_following(const unsigned char *kinds, const float *speeds, const float *gaps, const float *leads,
                              float2 *later, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float speed = speeds[i], gap = gaps[i];
    drive(kinds[i], &speed, &gap, leads[i], steps);
    later[i] = make_float2(speed, gap);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "car_following");
    int n = p.small ? 1 << 10 : 1 << 20, steps = p.small ? 4 : 32;
    std::vector<float> speeds = random_floats(n, 5, 30, 1), gaps = random_floats(n, 8, 60, 2),
                       leads = random_floats(n, 5, 30, 3);
    std::vector<unsigned char> kinds(n);
    unsigned seed = 4;
    for (unsigned char &kind : kinds)
        kind = (unsigned char)lcg_next(&seed, KINDS);
#ifdef AFTER
    std::sort(kinds.begin(), kinds.end());  // the other numbers are random, so any order of cars does for them
#endif
    unsigned char *d_kinds = device_copy_of(kinds.data(), n);
    float *d_speeds = device_copy_of(speeds.data(), n), *d_gaps = device_copy_of(gaps.data(), n),
          *d_leads = device_copy_of(leads.data(), n);
    float2 *d_later = device_array<float2>(n);
    pair_time(&p, [&] { car_following<<<n / BLOCK, BLOCK>>>(d_kinds, d_speeds, d_gaps, d_leads, d_later, steps); });
    std::vector<float2> later = host_copy_of(d_later, n);
    for (int i = 0; i < n; i += p.small ? 7 : 211) {
        float speed = speeds[i], gap = gaps[i];
        drive(kinds[i], &speed, &gap, leads[i], steps);
        pair_near(&p, "speed", i, speed, later[i].x, 1e-3);
        pair_near(&p, "gap", i, gap, later[i].y, 1e-3);
    }
    return pair_end(&p);
}
