// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: decay, velocity and step are one kernel instead of three.
// Why: each kernel loads again what the one before has stored.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
__global__ void update(const float *weight, const float *gradient, const float *velocity, float *, float *new_velocity,
                       float *new_weight, float decay, float keep, float rate) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float g = gradient[i] + decay * weight[i], v = keep * velocity[i] + g;
    new_velocity[i] = v;
    new_weight[i] = weight[i] - rate * v;
}
#else
__global__ void add_decay(const float *weight, const float *gradient, float *decayed, float decay) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    decayed[i] = gradient[i] + decay * weight[i];
}

__global__ void accelerate(const float *decayed, const float *velocity, float *new_velocity, float keep) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    new_velocity[i] = keep * velocity[i] + decayed[i];
}

__global__ void move(const float *weight, const float *new_velocity, float *new_weight, float rate) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    new_weight[i] = weight[i] - rate * new_velocity[i];
}
#endif

// A step of gradient descent with momentum and weight decay.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "momentum");
    int n = p.small ? 1 << 18 : 1 << 24, grid = n / BLOCK;
    const float decay = 1e-2f, keep = 0.9f, rate = 0.1f;
    std::vector<float> weight = random_floats(n, -1, 1, 1), gradient = random_floats(n, -1, 1, 2),
                       velocity = random_floats(n, -1, 1, 3);
    float *d_weight = device_copy_of(weight.data(), n), *d_gradient = device_copy_of(gradient.data(), n),
          *d_velocity = device_copy_of(velocity.data(), n), *d_decayed = device_array<float>(n),
          *d_new_velocity = device_array<float>(n), *d_new_weight = device_array<float>(n);
    pair_time(&p, [&] {
#ifdef AFTER
        update<<<grid, BLOCK>>>(d_weight, d_gradient, d_velocity, d_decayed, d_new_velocity, d_new_weight, decay, keep,
                                rate);
#else
        add_decay<<<grid, BLOCK>>>(d_weight, d_gradient, d_decayed, decay);
        accelerate<<<grid, BLOCK>>>(d_decayed, d_velocity, d_new_velocity, keep);
        move<<<grid, BLOCK>>>(d_weight, d_new_velocity, d_new_weight, rate);
#endif
    });
    std::vector<float> result = host_copy_of(d_new_weight, n);
    for (int i = 0; i < n; i += 43) {
        double v = keep * (double)velocity[i] + gradient[i] + decay * (double)weight[i];
        pair_near(&p, "weight", i, weight[i] - rate * v, result[i], 1e-5);
    }
    return pair_end(&p);
}
