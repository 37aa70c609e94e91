// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a patient's five amounts stay in registers from the first step to the last, and are stored once.
// Why: kept in their arrays, every step stores all five and reads back what the other stores may have changed.
#include "../common.h"

enum { BLOCK = 256 };

struct Body {
    float absorb, out, back, vmax, half;  // rates an hour; most that the liver clears, and where it clears half of it
};

struct Amounts {
    float *depot, *blood, *tissue;  // mg
    float *exposure, *peak;         // mg h, mg
};

static __host__ __device__ Body body_of(float weight, float age) {
    float frail = 1.0f / (1.0f + 0.02f * (age > 60.0f ? age - 60.0f : 0.0f));
    Body b = {0.9f * frail, 0.35f, 0.2f, 0.11f * weight * frail, 0.4f * weight};
    return b;
}

static __host__ __device__ float cleared(Body b, float blood) { return b.vmax * blood / (b.half + blood); }

// A drug in a patient: injected under the skin, absorbed into the blood, exchanged with the tissue and cleared by the
// liver, which saturates. A thread has one patient; the plan of doses is the same for all, by weight.
__global__ void ampoules(const float *weight, const float *age, const float *plan, Amounts amounts, int patients,
                         int steps, float hours) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= patients)
        return;
    float w = weight[i];
    Body b = body_of(w, age[i]);
#ifdef AFTER
    float depot, blood, tissue, exposure, peak;
#else
    float &depot = amounts.depot[i], &blood = amounts.blood[i], &tissue = amounts.tissue[i],
          &exposure = amounts.exposure[i], &peak = amounts.peak[i];
#endif
    depot = blood = tissue = exposure = peak = 0;
    for (int s = 0; s < steps; s++) {
        depot += plan[s] * w;
        float absorbed = hours * b.absorb * depot;
        float moved = hours * (b.out * blood - b.back * tissue);
        float lost = hours * cleared(b, blood);
        depot -= absorbed;
        tissue += moved;
        blood += absorbed - moved - lost;
        exposure += hours * blood;
        peak = fmaxf(peak, blood);
    }
#ifdef AFTER
    amounts.depot[i] = depot;
    amounts.blood[i] = blood;
    amounts.tissue[i] = tissue;
    amounts.exposure[i] = exposure;
    amounts.peak[i] = peak;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ampoules");
    int patients = p.small ? 132 * BLOCK - 50 : 132 * 8 * BLOCK - 50, steps = p.small ? 24 : 168;
    float hours = 0.5f;
    std::vector<float> weight = random_floats(patients, 45, 110, 1), age = random_floats(patients, 18, 90, 2);
    std::vector<float> plan(steps);
    for (int s = 0; s < steps; s += 16)
        plan[s] = s ? 0.8f : 1.6f;  // mg a kg every eight hours, twice as much at first
    float *d_weight = device_copy_of(weight.data(), patients), *d_age = device_copy_of(age.data(), patients),
          *d_plan = device_copy_of(plan.data(), steps);
    Amounts a = {device_array<float>(patients), device_array<float>(patients), device_array<float>(patients),
                 device_array<float>(patients), device_array<float>(patients)};
    int blocks = (patients + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { ampoules<<<blocks, BLOCK>>>(d_weight, d_age, d_plan, a, patients, steps, hours); });
    std::vector<float> tissue = host_copy_of(a.tissue, patients), exposure = host_copy_of(a.exposure, patients),
                       peak = host_copy_of(a.peak, patients), blood = host_copy_of(a.blood, patients);
    for (int i = 0; i < patients; i += 97) {
        Body b = body_of(weight[i], age[i]);
        double in_depot = 0, in_blood = 0, in_tissue = 0, area = 0, top = 0;
        for (int s = 0; s < steps; s++) {
            in_depot += (double)plan[s] * weight[i];
            double absorbed = hours * b.absorb * in_depot;
            double moved = hours * (b.out * in_blood - b.back * in_tissue);
            double lost = hours * b.vmax * in_blood / (b.half + in_blood);
            in_depot -= absorbed;
            in_tissue += moved;
            in_blood += absorbed - moved - lost;
            area += hours * in_blood;
            top = std::max(top, in_blood);
        }
        pair_near(&p, "blood", i, in_blood, blood[i], 1e-3);
        pair_near(&p, "tissue", i, in_tissue, tissue[i], 1e-3);
        pair_near(&p, "exposure", i, area, exposure[i], 1e-3);
        pair_near(&p, "peak", i, top, peak[i], 1e-3);
    }
    return pair_end(&p);
}
