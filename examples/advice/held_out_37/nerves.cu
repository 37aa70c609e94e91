// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: each fibre's row of compartments in shared memory is padded by one word.
// Why: every thread sweeps along its own row of 32 words, so the lanes of a warp were all in the same bank; rows of 33
// words put them in 32 different banks.
#include "../common.h"

// Passive cable model of nerve fibres: each fibre is 32 compartments in a row, its voltage goes forward by implicit
// steps of the cable equation (Hines' method: a tridiagonal system eliminated from the far end to the soma). A thread
// does the steps of one fibre; the synaptic current goes into one compartment of it and decays exponentially.

constexpr int COMPARTMENTS = 32;
constexpr int FIBRES = 64;  // of a CTA, one thread each
#ifdef AFTER
constexpr int ROW = COMPARTMENTS + 1;
#else
constexpr int ROW = COMPARTMENTS;
#endif

struct Cable {
    float axial;     // axial conductance over capacitance, times the time step
    float leak;      // leak conductance over capacitance, times the time step
    float decay;     // of the synaptic current in one step
    int steps;
};

struct Synapse {
    int compartment;
    float current;
};

__global__ void __launch_bounds__(FIBRES)
advance_fibres(const float *__restrict__ before, const Synapse *__restrict__ synapses, Cable cable,
               float *__restrict__ after) {
    __shared__ float volt[FIBRES * ROW];
    __shared__ float ratio[FIBRES * ROW];
    size_t base = (size_t)blockIdx.x * FIBRES * COMPARTMENTS;
    for (int i = threadIdx.x; i < FIBRES * COMPARTMENTS; i += FIBRES)
        volt[i / COMPARTMENTS * ROW + i % COMPARTMENTS] = before[base + i];
    __syncthreads();

    Synapse synapse = synapses[blockIdx.x * FIBRES + threadIdx.x];
    float current = synapse.current;
    float *v = volt + threadIdx.x * ROW;
    float *c = ratio + threadIdx.x * ROW;
    for (int step = 0; step < cable.steps; step++) {
        v[synapse.compartment] += current;
        current *= cable.decay;
        float end = 1.0f + cable.leak + cable.axial;
        float inner = end + cable.axial;
        float scale = 1.0f / end;
        float carried = v[0] * scale;
        float share = cable.axial * scale;
        v[0] = carried;
        c[0] = share;
        for (int k = 1; k < COMPARTMENTS; k++) {
            scale = __frcp_rn((k == COMPARTMENTS - 1 ? end : inner) - cable.axial * share);
            carried = (v[k] + cable.axial * carried) * scale;
            share = cable.axial * scale;
            v[k] = carried;
            c[k] = share;
        }
        for (int k = COMPARTMENTS - 2; k >= 0; k--) {
            carried = v[k] + c[k] * carried;
            v[k] = carried;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < FIBRES * COMPARTMENTS; i += FIBRES)
        after[base + i] = volt[i / COMPARTMENTS * ROW + i % COMPARTMENTS];
}

static void advance_on_cpu(double *v, const Synapse &synapse, const Cable &cable) {
    double c[COMPARTMENTS], current = synapse.current;
    for (int step = 0; step < cable.steps; step++) {
        v[synapse.compartment] += current;
        current *= cable.decay;
        for (int k = 0; k < COMPARTMENTS; k++) {
            int neighbours = (k > 0) + (k < COMPARTMENTS - 1);
            double diagonal = 1 + cable.leak + neighbours * cable.axial;
            double scale = 1 / (diagonal - (k ? cable.axial * c[k - 1] : 0));
            v[k] = (v[k] + (k ? cable.axial * v[k - 1] : 0)) * scale;
            c[k] = cable.axial * scale;
        }
        for (int k = COMPARTMENTS - 2; k >= 0; k--)
            v[k] += c[k] * v[k + 1];
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nerves");
    const int blocks = p.small ? 2 : 132 * 12;
    const int fibres = blocks * FIBRES;
    const Cable cable = {0.8f, 0.025f, 0.95f, p.small ? 3 : 40};
    std::vector<float> before = random_floats((size_t)fibres * COMPARTMENTS, -5.0f, 5.0f, 3);
    std::vector<Synapse> synapses(fibres);
    unsigned seed = 4;
    for (Synapse &s : synapses) {
        s.compartment = lcg_next(&seed, COMPARTMENTS);
        s.current = 0.01f * lcg_next(&seed, 200);
    }

    float *d_before = device_copy_of(before.data(), before.size());
    Synapse *d_synapses = device_copy_of(synapses.data(), fibres);
    float *d_after = device_array<float>(before.size());
    pair_time(&p, [&] { advance_fibres<<<blocks, FIBRES>>>(d_before, d_synapses, cable, d_after); });

    std::vector<float> after = host_copy_of(d_after, before.size());
    for (int f = 0; f < fibres; f += p.small ? 1 : 101) {
        double v[COMPARTMENTS];
        size_t at = (size_t)f * COMPARTMENTS;
        for (int k = 0; k < COMPARTMENTS; k++)
            v[k] = before[at + k];
        advance_on_cpu(v, synapses[f], cable);
        for (int k = 0; k < COMPARTMENTS; k++)
            pair_near(&p, "voltage", at + k, v[k], after[at + k], 1e-3);
    }
    CUDA_CHECK(cudaFree(d_before));
    CUDA_CHECK(cudaFree(d_synapses));
    CUDA_CHECK(cudaFree(d_after));
    return pair_end(&p);
}
