// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: expf, logf and the divisions of the transistor model become __expf, __logf and __fdividef.
// Why: every step of every inverter takes four exponentials, four logarithms and two divisions, and the exact ones
// treat denormals and round the last bit, which a simulated voltage does not need.
#include "../common.h"

enum { STAGES = 3, BLOCK = 192 };

#ifdef AFTER
#define EXP(x) __expf(x)
#define LOG(x) __logf(x)
#define DIVIDE(x, y) __fdividef(x, y)
#else
#define EXP(x) expf(x)
#define LOG(x) logf(x)
#define DIVIDE(x, y) ((x) / (y))
#endif

struct Process {
    float supply;      // V
    float pinching;    // V of pinch-off per V of gate: one over the slope factor
    float thermal;     // V, kT/q
    float saturation;  // 1/V, loss of mobility with the overdrive
    float step;        // V that the specific current moves a node by in a step
    float ramp;        // V that the input rises by in a step
};

// Forward or reverse charge of an EKV transistor: the square of ln(1 + exp(v / 2kT)).
static __device__ float charge(float v, float half) {
    float q = LOG(1.0f + EXP(v * half));
    return q * q;
}

// Drain current in units of the specific current, source at 0 V.
static __device__ float current(float gate, float drain, float threshold, const Process &c, float half) {
    float pinch = (gate - threshold) * c.pinching;
    float loss = 1.0f + c.saturation * fmaxf(gate - threshold, 0.0f);
    return DIVIDE(charge(pinch, half) - charge(pinch - drain, half), loss);
}

// Monte Carlo of a chain of inverters: every sample has its own thresholds; the input is a ramp. Writes the mean
// voltage of the last output, which tells the delay, and its voltage at the end.
__global__ void circuits(const float *__restrict__ threshold_n, const float *__restrict__ threshold_p,
                         float *__restrict__ mean, float *__restrict__ last, Process c, int samples, int steps) {
    int sample = blockIdx.x * BLOCK + threadIdx.x;
    if (sample >= samples)
        return;
    float volts[STAGES], vtn[STAGES], vtp[STAGES], half = 0.5f / c.thermal;
#pragma unroll
    for (int s = 0; s < STAGES; s++) {
        vtn[s] = threshold_n[(size_t)s * samples + sample];
        vtp[s] = threshold_p[(size_t)s * samples + sample];
        volts[s] = s % 2 ? 0.0f : c.supply;
    }
    float sum = 0;
    for (int t = 0; t < steps; t++) {
        float input = fminf(c.ramp * t, c.supply);
#pragma unroll
        for (int s = 0; s < STAGES; s++) {
            float down = current(input, volts[s], vtn[s], c, half),
                  up = current(c.supply - input, c.supply - volts[s], vtp[s], c, half);
            input = volts[s];
            volts[s] += c.step * (up - down);
        }
        sum += volts[STAGES - 1];
    }
    mean[sample] = sum / (float)steps;
    last[sample] = volts[STAGES - 1];
}

static double charge_of(double v, double thermal) {
    double q = log1p(exp(v / (2 * thermal)));
    return q * q;
}

static double current_of(double gate, double drain, double threshold, const Process &c) {
    double pinch = (gate - threshold) * c.pinching;
    return (charge_of(pinch, c.thermal) - charge_of(pinch - drain, c.thermal)) /
           (1 + c.saturation * std::max(gate - threshold, 0.0));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "circuits");
    int samples = p.small ? 50000 : 200000, steps = p.small ? 12 : 120;
    Process c = {0.9f, 0.77f, 0.0259f, 0.8f, 4e-4f, p.small ? 0.08f : 0.01f};
    std::vector<float> vtn = random_floats((size_t)STAGES * samples, 0.30f, 0.42f, 1),
                       vtp = random_floats((size_t)STAGES * samples, 0.32f, 0.44f, 2);
    float *d_vtn = device_copy_of(vtn.data(), vtn.size()), *d_vtp = device_copy_of(vtp.data(), vtp.size()),
          *d_mean = device_array<float>(samples), *d_last = device_array<float>(samples);
    pair_time(&p, [&] {
        circuits<<<(samples + BLOCK - 1) / BLOCK, BLOCK>>>(d_vtn, d_vtp, d_mean, d_last, c, samples, steps);
    });
    std::vector<float> mean = host_copy_of(d_mean, samples), last = host_copy_of(d_last, samples);
    for (int i = 0; i < samples; i += 503) {
        double volts[STAGES], sum = 0;
        for (int s = 0; s < STAGES; s++)
            volts[s] = s % 2 ? 0 : c.supply;
        for (int t = 0; t < steps; t++) {
            double input = std::min((double)c.ramp * t, (double)c.supply);
            for (int s = 0; s < STAGES; s++) {
                size_t at = (size_t)s * samples + i;
                double change = current_of(c.supply - input, c.supply - volts[s], vtp[at], c) -
                                current_of(input, volts[s], vtn[at], c);
                input = volts[s];
                volts[s] += c.step * change;
            }
            sum += volts[STAGES - 1];
        }
        pair_near(&p, "mean", i, sum / steps, mean[i], 2e-3);
        pair_near(&p, "last", i, volts[STAGES - 1], last[i], 2e-3);
    }
    return pair_end(&p);
}
