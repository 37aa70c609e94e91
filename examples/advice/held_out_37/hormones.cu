// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a patient's rate constants are read into local variables before the time loop.
// Why: the traces that are stored in every step might overlap the constants, so the compiler loaded all
// constants again in every step; now each is loaded once.
#include "../common.h"

// The thyroid axis of a cohort of virtual patients. The brain releases TRH, TRH makes the pituitary release TSH,
// TSH makes the thyroid release T4, and T4 inhibits both steps above. Explicit Euler steps; every patient
// has rate constants of their own. Arrays are [constant][patient], traces are [step][patient].
constexpr int THREADS = 128;

enum Constant {
    TRH_RELEASE,
    TRH_DECAY,
    TRH_INHIBITION,
    TSH_RELEASE,
    TSH_DECAY,
    TSH_INHIBITION,
    TRH_HALF,  // TRH at which the pituitary works at half its rate
    T4_RELEASE,
    T4_DECAY,
    TSH_HALF,  // TSH at which the thyroid works at half its rate
    T4_DOSE,   // medication
    CONSTANTS
};

struct Hormones {
    float trh, tsh, t4;
};

// Where the constants of one patient lie.
struct Patient {
    const float *constants;
    int stride;
    __host__ __device__ float operator[](int c) const { return constants[(size_t)c * stride]; }
};

#ifdef AFTER
struct LocalPatient {
    float constants[CONSTANTS];
    __device__ LocalPatient(const Patient &p) {
#pragma unroll
        for (int c = 0; c < CONSTANTS; c++)
            constants[c] = p[c];
    }
    __device__ float operator[](int c) const { return constants[c]; }
};
#endif

template <typename P> __host__ __device__ inline Hormones advance(const P &k, Hormones h, float dt, float circadian) {
    float trh = circadian * k[TRH_RELEASE] / (1.0f + k[TRH_INHIBITION] * h.t4) - k[TRH_DECAY] * h.trh;
    float tsh = k[TSH_RELEASE] * h.trh / ((k[TRH_HALF] + h.trh) * (1.0f + k[TSH_INHIBITION] * h.t4));
    tsh -= k[TSH_DECAY] * h.tsh;
    float t4 = k[T4_DOSE] + k[T4_RELEASE] * h.tsh / (k[TSH_HALF] + h.tsh) - k[T4_DECAY] * h.t4;
    return {h.trh + dt * trh, h.tsh + dt * tsh, h.t4 + dt * t4};
}

__global__ void __launch_bounds__(THREADS) simulate(const float *constants, const float *circadian, float *tsh_trace,
                                                    float *t4_trace, int patients, int steps, float dt) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= patients)
        return;
#ifdef AFTER
    LocalPatient k(Patient{constants + i, patients});
#else
    Patient k = {constants + i, patients};
#endif
    Hormones h = {1.0f, 1.0f, 1.0f};
    for (int step = 0; step < steps; step++) {
        h = advance(k, h, dt, circadian[step]);
        tsh_trace[(size_t)step * patients + i] = h.tsh;
        t4_trace[(size_t)step * patients + i] = h.t4;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hormones");
    int patients = p.small ? 300 : 100000, steps = p.small ? 24 : 192;
    const float dt = 0.05f;
    static const float low[CONSTANTS] = {0.8f, 0.6f, 0.1f, 2.0f, 0.5f, 0.2f, 0.5f, 1.0f, 0.2f, 0.8f, 0.0f};
    static const float high[CONSTANTS] = {1.6f, 1.2f, 0.6f, 5.0f, 0.9f, 0.9f, 1.5f, 2.0f, 0.5f, 2.0f, 0.2f};
    std::vector<float> constants;
    for (int c = 0; c < CONSTANTS; c++) {
        std::vector<float> one = random_floats(patients, low[c], high[c], 100 + c);
        constants.insert(constants.end(), one.begin(), one.end());
    }
    std::vector<float> circadian(steps);
    for (int s = 0; s < steps; s++)
        circadian[s] = 1.0f + 0.3f * cosf(6.2831853f * s / 96);
    size_t trace = (size_t)patients * steps;
    float *d_constants = device_copy_of(constants.data(), constants.size());
    float *d_circadian = device_copy_of(circadian.data(), steps);
    float *d_tsh = device_array<float>(trace);
    float *d_t4 = device_array<float>(trace);

    int blocks = (patients + THREADS - 1) / THREADS;
    pair_time(&p, [&] {
        simulate<<<blocks, THREADS>>>(d_constants, d_circadian, d_tsh, d_t4, patients, steps, dt);
    });

    std::vector<float> tsh = host_copy_of(d_tsh, trace), t4 = host_copy_of(d_t4, trace);
    for (int i = 0; i < patients; i += p.small ? 1 : 97) {
        Patient k = {&constants[i], patients};
        Hormones h = {1.0f, 1.0f, 1.0f};
        for (int s = 0; s < steps; s++) {
            h = advance(k, h, dt, circadian[s]);
            size_t at = (size_t)s * patients + i;
            pair_near(&p, "tsh", at, h.tsh, tsh[at], 1e-3);
            pair_near(&p, "t4", at, h.t4, t4[at], 1e-3);
        }
    }
    for (float *array : {d_constants, d_circadian, d_tsh, d_t4})
        CUDA_CHECK(cudaFree(array));
    return pair_end(&p);
}
