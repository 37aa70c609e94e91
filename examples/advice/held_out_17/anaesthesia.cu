// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function of the rates of change is inlined.
// Why: it is called four times in each step for a few multiplications; a call moves its arguments and breaks the chain.
#include "../common.h"

#ifdef AFTER
#define RATES static __device__ __forceinline__
#else
#define RATES static __device__ __noinline__
#endif

// Amounts of a drug: in the blood, in muscles, in fat, and its effect in the brain.
struct Body {
    float blood, muscle, fat, brain;
};

struct Patient {
    float out, to_muscle, from_muscle, to_fat, from_fat, to_brain;
};

RATES Body rates(Body b, Patient who, float drip) {
    float muscle = who.to_muscle * b.blood - who.from_muscle * b.muscle;
    float fat = who.to_fat * b.blood - who.from_fat * b.fat;
    Body change;
    change.blood = drip - who.out * b.blood - muscle - fat;
    change.muscle = muscle;
    change.fat = fat;
    change.brain = who.to_brain * (b.blood - b.brain);
    return change;
}

static __device__ Body moved(Body b, Body change, float by) {
    return {b.blood + by * change.blood, b.muscle + by * change.muscle, b.fat + by * change.fat,
            b.brain + by * change.brain};
}

// The depth of sleep of virtual patients through an operation, Runge-Kutta of order four.
__global__ void operation(const Patient *patients, const float *drips, float *deepest, float *last, int count,
                          int steps, float h) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        Patient who = patients[i];
        Body b = {0, 0, 0, 0};
        float top = 0;
        for (int s = 0; s < steps; s++) {
            float drip = drips[s];
            Body k1 = rates(b, who, drip);
            Body k2 = rates(moved(b, k1, 0.5f * h), who, drip);
            Body k3 = rates(moved(b, k2, 0.5f * h), who, drip);
            Body k4 = rates(moved(b, k3, h), who, drip);
            b = moved(moved(moved(moved(b, k1, h / 6), k2, h / 3), k3, h / 3), k4, h / 6);
            top = fmaxf(top, b.brain);
        }
        deepest[i] = top;
        last[i] = b.brain;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "anaesthesia");
    int n = p.small ? 1024 : 1 << 18, steps = p.small ? 12 : 180;
    std::vector<float> r = random_floats((size_t)n * 6, 0.5f, 1.5f, 1), drips(steps);
    std::vector<Patient> patients(n);
    for (int i = 0; i < n; i++) {
        const float *q = &r[(size_t)i * 6];
        patients[i] = {0.12f * q[0], 0.11f * q[1], 0.055f * q[2], 0.04f * q[3], 0.0033f * q[4], 0.26f * q[5]};
    }
    for (int s = 0; s < steps; s++)
        drips[s] = s < 8 ? 20.0f : 2.0f + 0.5f * (s / 20 % 3);
    Patient *d_patients = device_copy_of(patients.data(), n);
    float *d_drips = device_copy_of(drips.data(), steps), *d_deepest = device_array<float>(n),
          *d_last = device_array<float>(n);
    int blocks = p.small ? 8 : 1024;
    pair_time(&p, [&] { operation<<<blocks, 128>>>(d_patients, d_drips, d_deepest, d_last, n, steps, 0.25f); });
    std::vector<float> deepest = host_copy_of(d_deepest, n), last = host_copy_of(d_last, n);
    for (int i = 0; i < n; i += p.small ? 7 : 97) {
        double b[4] = {0, 0, 0, 0}, top = 0, h = 0.25;
        Patient w = patients[i];
        for (int s = 0; s < steps; s++) {
            double sum[4] = {0, 0, 0, 0}, k[4] = {0, 0, 0, 0};
            for (int stage = 0; stage < 4; stage++) {
                double by = stage == 0 ? 0 : stage == 3 ? h : 0.5 * h, at[4];
                for (int j = 0; j < 4; j++)
                    at[j] = b[j] + by * k[j];
                k[1] = w.to_muscle * at[0] - w.from_muscle * at[1];
                k[2] = w.to_fat * at[0] - w.from_fat * at[2];
                k[0] = drips[s] - w.out * at[0] - k[1] - k[2];
                k[3] = w.to_brain * (at[0] - at[3]);
                for (int j = 0; j < 4; j++)
                    sum[j] += k[j] * (stage == 0 || stage == 3 ? h / 6 : h / 3);
            }
            for (int j = 0; j < 4; j++)
                b[j] += sum[j];
            top = std::max(top, b[3]);
        }
        pair_near(&p, "deepest", i, top, deepest[i], 1e-4);
        pair_near(&p, "last", i, b[3], last[i], 1e-4);
    }
    return pair_end(&p);
}
