// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the polar in shared memory has room for 320 points in place of 12000.
// Why: with 48 KB a block only eight warps fit on an SM, too few to hide how each step waits for the one before.
#include "../common.h"

enum { BLOCK = 64, POINTS = 300 };
#ifdef AFTER
enum { ROOM = 320 };
#else
enum { ROOM = 12000 };
#endif

// How far sailplanes get in still air that lifts a little: each flies at the speed that suits its present sinking.
__global__ void glide(const float *polar, int points, const float *lift, float *distance, float *left, int planes,
                      int steps) {
    __shared__ float sink_rate[ROOM];
    for (int k = threadIdx.x; k < points; k += BLOCK)
        sink_rate[k] = polar[k];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= planes)
        return;
    float air = lift[i], height = 1500, speed = 28, far = 0;
    for (int s = 0; s < steps; s++) {
        float at = (speed - 18.0f) * 6.0f;
        int k = min(max((int)at, 0), points - 2);
        float sinking = sink_rate[k] + (at - k) * (sink_rate[k + 1] - sink_rate[k]);
        float net = sinking - air * __expf(height * -0.001f);
        height -= net * 2.0f;
        float wanted = 24.0f + 9.0f * sqrtf(fmaxf(net, 0.0f));
        speed += (wanted - speed) * __fdividef(6.0f, 12.0f + speed);
        far += speed * 2.0f;
    }
    distance[i] = far;
    left[i] = height;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sailplanes");
    int planes = p.small ? 1500 : 500000, steps = p.small ? 12 : 240;
    std::vector<float> polar(POINTS), lift = random_floats(planes, 0, 2, 5);
    for (int k = 0; k < POINTS; k++) {
        float v = 18 + k / 6.0f;
        polar[k] = 0.00002f * v * v * v + 9.0f / v;
    }
    float *d_polar = device_copy_of(polar.data(), POINTS), *d_lift = device_copy_of(lift.data(), planes);
    float *d_distance = device_array<float>(planes), *d_left = device_array<float>(planes);
    pair_time(&p, [&] {
        glide<<<(planes + BLOCK - 1) / BLOCK, BLOCK>>>(d_polar, POINTS, d_lift, d_distance, d_left, planes, steps);
    });
    std::vector<float> distance = host_copy_of(d_distance, planes), left = host_copy_of(d_left, planes);
    for (int i = 0; i < planes; i += 397) {
        double height = 1500, speed = 28, far = 0;
        for (int s = 0; s < steps; s++) {
            double at = (speed - 18) * 6;
            int k = std::min(std::max((int)at, 0), POINTS - 2);
            double net = polar[k] + (at - k) * (polar[k + 1] - polar[k]) - lift[i] * exp(height * -0.001);
            height -= net * 2;
            speed += (24 + 9 * sqrt(std::max(net, 0.0)) - speed) * 6 / (12 + speed);
            far += speed * 2;
        }
        pair_near(&p, "distance", i, far, distance[i], 1e-3);
        pair_near(&p, "left", i, height, left[i], 5e-3);
    }
    return pair_end(&p);
}
