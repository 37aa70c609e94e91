// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: expf() and the divisions become __expf() and __fdividef().
// Why: a step is nine exponentials and six divisions and little else; the exact ones are a dozen instructions each, for
// digits that go far beyond what is known of the rates.
#include "../common.h"

#ifdef AFTER
__device__ inline float exponential(float x) { return __expf(x); }
__device__ inline float quotient(float x, float y) { return __fdividef(x, y); }
#else
__device__ inline float exponential(float x) { return expf(x); }
__device__ inline float quotient(float x, float y) { return x / y; }
#endif

// x / (1 - exp(-x)), which is 1 + x / 2 where both go to zero.
__device__ inline float linoid(float x) {
    if (fabsf(x) < 0.01f)
        return 1 + 0.5f * x;
    return quotient(x, 1 - exponential(-x));
}

// The share of open gates after a step, if they open at rate `alpha` and close at rate `beta` (per millisecond).
__device__ inline float relax(float open, float alpha, float beta, float step) {
    const float rate = alpha + beta, steady = quotient(alpha, rate);
    return steady + (open - steady) * exponential(-step * rate);
}

// What is told of one patch, in mV.
struct Response {
    float peak, mean;
};

// Hodgkin's and Huxley's squid axon under a steady current (in uA/cm2), after its voltage was pushed to `start`.
__global__ void axons(const float2 *__restrict__ stimuli, Response *__restrict__ responses, int count, int steps,
                      float step) {
    const int axon = blockIdx.x * blockDim.x + threadIdx.x;
    if (axon >= count)
        return;
    const float current = stimuli[axon].x;
    float v = stimuli[axon].y, m = 0.053f, h = 0.596f, n = 0.318f, peak = v, sum = 0;
    for (int s = 0; s < steps; s++) {
        m = relax(m, linoid(0.1f * (v + 40)), 4 * exponential(-(v + 65) * (1 / 18.0f)), step);
        h = relax(h, 0.07f * exponential(-(v + 65) * (1 / 20.0f)), quotient(1, 1 + exponential(-0.1f * (v + 35))),
                  step);
        n = relax(n, 0.1f * linoid(0.1f * (v + 55)), 0.125f * exponential(-(v + 65) * (1 / 80.0f)), step);
        const float sodium = 120 * m * m * m * h * (v - 50), potassium = 36 * n * n * n * n * (v + 77),
                    leak = 0.3f * (v + 54.4f);
        v += step * (current - sodium - potassium - leak);
        peak = fmaxf(peak, v);
        sum += v;
    }
    responses[axon] = {peak, sum / steps};
}

static double host_linoid(double x) { return fabs(x) < 1e-6 ? 1 + 0.5 * x : x / (1 - exp(-x)); }

static double host_relax(double open, double alpha, double beta, double step) {
    double steady = alpha / (alpha + beta);
    return steady + (open - steady) * exp(-step * (alpha + beta));
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "axons");
    const int count = p.small ? 250 : 300000, steps = p.small ? 12 : 300, threads = p.small ? 64 : 256;
    const float step = p.small ? 0.05f : 0.02f;
    std::vector<float2> stimuli(count);
    unsigned seed = 1952;
    for (float2 &s : stimuli) {
        s.x = 15 + 25 * lcg_next(&seed, 1000) / 1000.0f;
        s.y = -56 + 6 * lcg_next(&seed, 1000) / 1000.0f;
    }

    float2 *d_stimuli = device_copy_of(stimuli.data(), count);
    Response *d_responses = device_array<Response>(count);
    pair_time(&p,
              [&] { axons<<<(count + threads - 1) / threads, threads>>>(d_stimuli, d_responses, count, steps, step); });

    std::vector<Response> responses = host_copy_of(d_responses, count);
    for (int i = 0; i < count; i += p.small ? 1 : 1511) {
        double v = stimuli[i].y, m = 0.053f, h = 0.596f, n = 0.318f, peak = v, sum = 0;
        for (int s = 0; s < steps; s++) {
            m = host_relax(m, host_linoid((v + 40) / 10), 4 * exp(-(v + 65) / 18), step);
            h = host_relax(h, 0.07 * exp(-(v + 65) / 20), 1 / (1 + exp(-(v + 35) / 10)), step);
            n = host_relax(n, 0.1 * host_linoid((v + 55) / 10), 0.125 * exp(-(v + 65) / 80), step);
            v += step *
                 (stimuli[i].x - 120 * m * m * m * h * (v - 50) - 36 * n * n * n * n * (v + 77) - 0.3 * (v + 54.4));
            peak = fmax(peak, v);
            sum += v;
        }
        pair_near(&p, "peak", i, peak, responses[i].peak, 1e-3);
        pair_near(&p, "mean", i, sum / steps, responses[i].mean, 1e-3);
    }
    return pair_end(&p);
}
