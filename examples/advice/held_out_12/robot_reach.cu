// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the product of quaternions and the rotation of a vector are inlined.
// Why: each joint calls them, for some twenty instructions of work, and what lives across calls must be kept.
#include "../common.h"

enum { BLOCK = 128, JOINTS = 6 };

#ifdef AFTER
#define SMALL static __device__ __forceinline__
#else
#define SMALL static __device__ __noinline__
#endif

SMALL float4 product(float4 a, float4 b) {
    return make_float4(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                       a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
}

SMALL float3 rotated(float4 q, float3 v) {
    float tx = 2.0f * (q.y * v.z - q.z * v.y), ty = 2.0f * (q.z * v.x - q.x * v.z), tz = 2.0f * (q.x * v.y - q.y * v.x);
    return make_float3(v.x + q.w * tx + q.y * tz - q.z * ty, v.y + q.w * ty + q.z * tx - q.x * tz,
                       v.z + q.w * tz + q.x * ty - q.y * tx);
}

// One step of descent towards a point that the hand of each arm should reach; slopes are differences.
__global__ void robot_reach(const float *angles, const float *targets, float *next, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float angle[JOINTS], miss[JOINTS + 1];
    float3 target = make_float3(targets[i], targets[n + i], targets[2 * n + i]);
    for (int j = 0; j < JOINTS; j++)
        angle[j] = angles[j * n + i];
#pragma unroll
    for (int moved = 0; moved <= JOINTS; moved++) {  // the last time no joint is moved
        float4 turn = make_float4(0, 0, 0, 1);
        float3 hand = make_float3(0, 0, 0);
#pragma unroll
        for (int j = 0; j < JOINTS; j++) {
            float s, c;
            __sincosf(0.5f * (angle[j] + (j == moved ? 0.125f : 0.0f)), &s, &c);
            turn = product(turn, j % 2 ? make_float4(0, s, 0, c) : make_float4(0, 0, s, c));
            float3 link = rotated(turn, make_float3(0.1f, 0.05f, 0.4f - 0.05f * (float)j));
            hand = make_float3(hand.x + link.x, hand.y + link.y, hand.z + link.z);
        }
        float dx = hand.x - target.x, dy = hand.y - target.y, dz = hand.z - target.z;
        miss[moved] = dx * dx + dy * dy + dz * dz;
    }
    for (int j = 0; j < JOINTS; j++)
        next[j * n + i] = angle[j] - 0.2f * (miss[j] - miss[JOINTS]) / 0.125f;
}

static double host_miss(const double *angle, const double *target) {
    double x = 0, y = 0, z = 0, w = 1, hand[3] = {0, 0, 0};
    for (int j = 0; j < JOINTS; j++) {
        double s = sin(angle[j] / 2), c = cos(angle[j] / 2), by = j % 2 ? s : 0, bz = j % 2 ? 0 : s;
        double q[4] = {x * c + y * bz - z * by, -x * bz + y * c + w * by, w * bz + x * by + z * c,
                       w * c - y * by - z * bz};
        x = q[0], y = q[1], z = q[2], w = q[3];
        double v[3] = {0.1, 0.05, 0.4 - 0.05 * j};
        double tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
        hand[0] += v[0] + w * tx + y * tz - z * ty;
        hand[1] += v[1] + w * ty + z * tx - x * tz;
        hand[2] += v[2] + w * tz + x * ty - y * tx;
    }
    double miss = 0;
    for (int k = 0; k < 3; k++)
        miss += (hand[k] - target[k]) * (hand[k] - target[k]);
    return miss;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "robot_reach");
    int n = p.small ? 512 : 1 << 20;
    std::vector<float> angles = random_floats((size_t)n * JOINTS, -2, 2, 1),
                       targets = random_floats((size_t)n * 3, -1, 1, 2);
    float *d_angles = device_copy_of(angles.data(), angles.size()),
          *d_targets = device_copy_of(targets.data(), targets.size()), *d_next = device_array<float>(angles.size());
    pair_time(&p, [&] { robot_reach<<<n / BLOCK, BLOCK>>>(d_angles, d_targets, d_next, n); });
    std::vector<float> next = host_copy_of(d_next, angles.size());
    for (int i = 0; i < n; i += p.small ? 7 : 1009) {
        double angle[JOINTS], target[3];
        for (int j = 0; j < JOINTS; j++)
            angle[j] = angles[(size_t)j * n + i];
        for (int k = 0; k < 3; k++)
            target[k] = targets[(size_t)k * n + i];
        double still = host_miss(angle, target);
        for (int j = 0; j < JOINTS; j++) {
            double kept = angle[j];
            angle[j] += 0.125;
            double slope = (host_miss(angle, target) - still) / 0.125;
            angle[j] = kept;
            pair_near(&p, "angle", (size_t)j * n + i, kept - 0.2 * slope, next[(size_t)j * n + i], 1e-3);
        }
    }
    return pair_end(&p);
}
