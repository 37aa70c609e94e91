// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: the state of a patient is in local variables while the steps go on, and is stored once at the end; before,
// it is updated in global memory in every step.
// Why: the arrays may overlap as far as the compiler can tell, so it loads and stores each of them in every step.
#include "../common.h"

enum { BLOCK = 256 };

// Two-compartment pharmacokinetics of a virtual trial: a pill is absorbed from the gut into the blood, exchanged with
// the tissue and eliminated by a process that saturates. Amounts are in milligrams, times in hours.
struct Drug {
    double absorption, to_tissue, from_tissue, half_saturation;
    double step;
    int steps, steps_per_pill;
};

struct State {
    double *gut, *blood, *tissue, *exposure, *peak;  // one value a patient
};

static __host__ __device__ double eliminated(double blood, double capacity, double half_saturation) {
    return capacity * blood / (half_saturation + blood);
}

__global__ void trial(const double *dose, const double *capacity, State state, Drug drug, int patients) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= patients)
        return;
#ifdef AFTER
    double gut, blood, tissue, exposure, peak;
#else
    double &gut = state.gut[i], &blood = state.blood[i], &tissue = state.tissue[i], &exposure = state.exposure[i],
           &peak = state.peak[i];
#endif
    double pill = dose[i], speed = capacity[i];
    gut = blood = tissue = exposure = peak = 0;
    int until_pill = 0;
    for (int s = 0; s < drug.steps; s++) {
        if (until_pill == 0) {
            gut += pill;
            until_pill = drug.steps_per_pill;
        }
        until_pill--;
        double in = drug.absorption * gut, out = eliminated(blood, speed, drug.half_saturation);
        double exchange = drug.to_tissue * blood - drug.from_tissue * tissue;
        gut -= drug.step * in;
        blood += drug.step * (in - out - exchange);
        tissue += drug.step * exchange;
        exposure += drug.step * blood;
        peak = fmax(peak, blood);
    }
#ifdef AFTER
    state.gut[i] = gut;
    state.blood[i] = blood;
    state.tissue[i] = tissue;
    state.exposure[i] = exposure;
    state.peak[i] = peak;
#endif
}

static void check_patient(Pair *p, int i, double pill, double speed, const Drug &drug, const std::vector<double> &blood,
                          const std::vector<double> &exposure, const std::vector<double> &peak) {
    double gut = 0, b = 0, tissue = 0, area = 0, top = 0;
    for (int s = 0; s < drug.steps; s++) {
        if (s % drug.steps_per_pill == 0)
            gut += pill;
        double in = drug.absorption * gut, out = eliminated(b, speed, drug.half_saturation);
        double exchange = drug.to_tissue * b - drug.from_tissue * tissue;
        gut -= drug.step * in;
        b += drug.step * (in - out - exchange);
        tissue += drug.step * exchange;
        area += drug.step * b;
        top = std::max(top, b);
    }
    pair_near(p, "blood", i, b, blood[i], 1e-9);
    pair_near(p, "exposure", i, area, exposure[i], 1e-9);
    pair_near(p, "peak", i, top, peak[i], 1e-9);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pills");
    int patients = p.small ? 132 * BLOCK - 19 : 500000;
    std::vector<float> random_dose = random_floats(patients, 50, 400, 1),
                       random_speed = random_floats(patients, 5, 40, 2);
    std::vector<double> dose(random_dose.begin(), random_dose.end()), speed(random_speed.begin(), random_speed.end());
    Drug drug = {1.1, 0.35, 0.2, 60, 0.25, p.small ? 40 : 96, 32};
    double *d_dose = device_copy_of(dose.data(), patients), *d_speed = device_copy_of(speed.data(), patients);
    State state = {device_array<double>(patients), device_array<double>(patients), device_array<double>(patients),
                   device_array<double>(patients), device_array<double>(patients)};
    int blocks = (patients + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { trial<<<blocks, BLOCK>>>(d_dose, d_speed, state, drug, patients); });

    std::vector<double> blood = host_copy_of(state.blood, patients), exposure = host_copy_of(state.exposure, patients),
                        peak = host_copy_of(state.peak, patients);
    for (int i = 0; i < patients; i += patients / 301)
        check_patient(&p, i, dose[i], speed[i], drug, blood, exposure, peak);
    for (double *array : {d_dose, d_speed, state.gut, state.blood, state.tissue, state.exposure, state.peak})
        CUDA_CHECK(cudaFree(array));
    return pair_end(&p);
}
