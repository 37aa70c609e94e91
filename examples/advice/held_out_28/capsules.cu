// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bound no longer asks for four blocks per SM.
// Why: four blocks leave a thread 64 registers, and part of the state goes to local memory in each step.
#include "../common.h"

enum { BLOCK = 256, TISSUES = 17, PARTS = 1 + TISSUES };  // part 0 is blood, part 1 the gut

struct Body {
    float flow[PARTS], inverse_partition[PARTS];
};
__constant__ Body body;

struct Dose {
    float peak, exposure;
};

// How fast the amount in each part changes.
__host__ __device__ inline void change(const Body &b, const float *now, float perfusion, float clearance, float *rate) {
    float blood = now[0], out = clearance * blood;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 1; i < PARTS; i++) {
        rate[i] = perfusion * b.flow[i] * (blood - now[i] * b.inverse_partition[i]);
        out += rate[i];
    }
    rate[0] = -out;
}

// What a capsule, dissolved in the gut, does in a patient: Runge-Kutta of a model of blood and 17 tissues.
#ifdef AFTER
__global__ void __launch_bounds__(BLOCK)
#else
__global__ void __launch_bounds__(BLOCK, 4)
#endif
    patients(const float *perfusion, const float *clearance, Dose *doses, int count, int steps, float dt) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float q = perfusion[i], c = clearance[i], amount[PARTS], peak = 0, exposure = 0;
#pragma unroll
    for (int k = 0; k < PARTS; k++)
        amount[k] = k == 1 ? 10.0f : 0.0f;
#pragma unroll 1
    for (int s = 0; s < steps; s++) {
        float stage[PARTS], rate[PARTS], sum[PARTS];
        change(body, amount, q, c, rate);
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            sum[k] = rate[k];
            stage[k] = amount[k] + 0.5f * dt * rate[k];
        }
        change(body, stage, q, c, rate);
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            sum[k] += 2 * rate[k];
            stage[k] = amount[k] + 0.5f * dt * rate[k];
        }
        change(body, stage, q, c, rate);
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            sum[k] += 2 * rate[k];
            stage[k] = amount[k] + dt * rate[k];
        }
        change(body, stage, q, c, rate);
#pragma unroll
        for (int k = 0; k < PARTS; k++)
            amount[k] += dt * (1 / 6.0f) * (sum[k] + rate[k]);
        peak = fmaxf(peak, amount[0]);
        exposure += amount[0] * dt;
    }
    doses[i] = {peak, exposure};
}

static Dose on_host(const Body &b, float q, float c, int steps, float dt) {
    float amount[PARTS] = {0, 10}, stage[PARTS], rate[4][PARTS];
    Dose d = {0, 0};
    for (int s = 0; s < steps; s++) {
        for (int r = 0; r < 4; r++) {
            for (int k = 0; k < PARTS; k++)
                stage[k] = r ? amount[k] + (r == 3 ? dt : 0.5f * dt) * rate[r - 1][k] : amount[k];
            change(b, stage, q, c, rate[r]);
        }
        for (int k = 0; k < PARTS; k++)
            amount[k] += dt / 6 * (rate[0][k] + 2 * rate[1][k] + 2 * rate[2][k] + rate[3][k]);
        d.peak = std::max(d.peak, amount[0]);
        d.exposure += amount[0] * dt;
    }
    return d;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "capsules");
    int count = p.small ? 600 : 270000, steps = p.small ? 12 : 160;
    float dt = 0.05f;
    std::vector<float> perfusion = random_floats(count, 0.6f, 1.4f, 1),
                       clearance = random_floats(count, 0.05f, 0.5f, 2);
    std::vector<float> flow = random_floats(PARTS, 0.02f, 0.5f, 3), affinity = random_floats(PARTS, 0.1f, 2, 4);
    Body b;
    std::copy(flow.begin(), flow.end(), b.flow);
    std::copy(affinity.begin(), affinity.end(), b.inverse_partition);
    CUDA_CHECK(cudaMemcpyToSymbol(body, &b, sizeof b));
    float *d_perfusion = device_copy_of(perfusion.data(), count),
          *d_clearance = device_copy_of(clearance.data(), count);
    Dose *d_doses = device_array<Dose>(count);
    pair_time(&p, [&] {
        patients<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_perfusion, d_clearance, d_doses, count, steps, dt);
    });
    std::vector<Dose> doses = host_copy_of(d_doses, count);
    for (int i = 0; i < count; i += p.small ? 11 : 997) {
        Dose expected = on_host(b, perfusion[i], clearance[i], steps, dt);
        pair_near(&p, "peak", i, expected.peak, doses[i].peak, 1e-4);
        pair_near(&p, "exposure", i, expected.exposure, doses[i].exposure, 1e-4);
    }
    return pair_end(&p);
}
