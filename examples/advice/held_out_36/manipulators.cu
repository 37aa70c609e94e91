// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a thread's matrix takes 49 words of shared memory instead of 48.
// Why: with 48 words the threads of a warp, each at the same place of its own matrix, use only 2 of the 32 banks; an
// odd distance spreads them over all banks.
#include "../common.h"

// Forward dynamics of planar manipulators, for sampling-based control: for each sampled state (angles and speeds of
// the links, torques) the equations of motion M(angles) * accelerations = forces are set up and solved.
constexpr int kThreads = 64;
constexpr int kMaxLinks = 6;
constexpr int kRow = 8;  // words of a row: the row of M, then its right-hand side
#ifdef AFTER
constexpr int kStride = kMaxLinks * kRow + 1;
#else
constexpr int kStride = kMaxLinks * kRow;
#endif

struct Arm {
    int links;
    float length[kMaxLinks];
    float carried[kMaxLinks];  // mass of a link's tip and of all that follow it
    float friction;
};

constexpr float kGravity = 9.81f;

// States and accelerations are stored link by link: value of link l of sample s at [l * samples + s].
__global__ void __launch_bounds__(kThreads)
    accelerate(const float *__restrict__ angle, const float *__restrict__ speed, const float *__restrict__ torque,
               float *__restrict__ acceleration, int samples, Arm arm) {
    __shared__ float storage[kThreads * kStride];
    const int s = blockIdx.x * kThreads + threadIdx.x;
    if (s >= samples)
        return;
    float *m = storage + threadIdx.x * kStride;
    const int links = arm.links;

    // the mass matrix and the forces: torque, friction, weight, centrifugal
    for (int i = 0; i < links; i++) {
        float a = angle[i * samples + s];
        float w = speed[i * samples + s];
        float force = torque[i * samples + s] - arm.friction * w;
        force -= kGravity * arm.length[i] * arm.carried[i] * __sinf(a);
        for (int j = 0; j < links; j++) {
            float lever = arm.length[i] * arm.length[j] * arm.carried[max(i, j)];
            float sine, cosine;
            __sincosf(a - angle[j * samples + s], &sine, &cosine);
            float wj = speed[j * samples + s];
            m[i * kRow + j] = lever * cosine;
            force -= lever * sine * wj * wj;
        }
        m[i * kRow + i] += 0.05f;  // the rotor's inertia
        m[i * kRow + links] = force;
    }

    // elimination (M is positive definite: no pivoting)
    for (int k = 0; k < links; k++) {
        float scale = 1.0f / m[k * kRow + k];
        for (int i = k + 1; i < links; i++) {
            float factor = m[i * kRow + k] * scale;
            for (int j = k + 1; j <= links; j++)
                m[i * kRow + j] -= factor * m[k * kRow + j];
        }
    }
    // back substitution
    for (int i = links - 1; i >= 0; i--) {
        float sum = m[i * kRow + links];
        for (int j = i + 1; j < links; j++)
            sum -= m[i * kRow + j] * m[j * kRow + links];
        sum /= m[i * kRow + i];
        m[i * kRow + links] = sum;
        acceleration[i * samples + s] = sum;
    }
}

// How far the equations of motion of one sample are from being satisfied, link i.
static double residual(const Arm &arm, const float *angle, const float *speed, const float *torque, const float *acc,
                       int samples, int s, int i) {
    auto at = [&](const float *v, int l) { return (double)v[(size_t)l * samples + s]; };
    double force = at(torque, i) - arm.friction * at(speed, i);
    force -= kGravity * arm.length[i] * arm.carried[i] * sin(at(angle, i));
    double inertia = 0.05 * at(acc, i);
    for (int j = 0; j < arm.links; j++) {
        double lever = (double)arm.length[i] * arm.length[j] * arm.carried[std::max(i, j)];
        double difference = at(angle, i) - at(angle, j);
        inertia += lever * cos(difference) * at(acc, j);
        force -= lever * sin(difference) * at(speed, j) * at(speed, j);
    }
    return inertia - force;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "manipulators");
    const int samples = p.small ? 200 : 1 << 20;
    const Arm arm = {6, {0.5f, 0.45f, 0.4f, 0.3f, 0.25f, 0.2f}, {9.5f, 7.5f, 5.5f, 4.0f, 2.5f, 1.5f}, 0.2f};
    const size_t total = (size_t)arm.links * samples;

    std::vector<float> angle = random_floats(total, -1.5f, 1.5f, 1);
    std::vector<float> speed = random_floats(total, -2.0f, 2.0f, 2);
    std::vector<float> torque = random_floats(total, -20.0f, 20.0f, 3);
    float *d_angle = device_copy_of(angle.data(), total);
    float *d_speed = device_copy_of(speed.data(), total);
    float *d_torque = device_copy_of(torque.data(), total);
    float *d_acc = device_array<float>(total);

    const int blocks = (samples + kThreads - 1) / kThreads;
    pair_time(&p, [&] { accelerate<<<blocks, kThreads>>>(d_angle, d_speed, d_torque, d_acc, samples, arm); });

    std::vector<float> acc = host_copy_of(d_acc, total);
    for (int s = 0; s < samples; s += p.small ? 1 : 509)
        for (int i = 0; i < arm.links; i++)
            pair_near(&p, "residual", (size_t)s * arm.links + i, 0,
                      residual(arm, angle.data(), speed.data(), torque.data(), acc.data(), samples, s, i), 1e-1);

    CUDA_CHECK(cudaFree(d_angle));
    CUDA_CHECK(cudaFree(d_speed));
    CUDA_CHECK(cudaFree(d_torque));
    CUDA_CHECK(cudaFree(d_acc));
    return pair_end(&p);
}
