// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the constants of the model are float instead of double, so that the chemistry is computed in float.
// Why: every expression with a double constant in it was promoted to double: conversions, slower arithmetic and a
// long software exp, for concentrations that are stored as float.
#include "../common.h"

// Speciation step of a reactive transport code. Every cell holds the total concentrations (mol/kg) of Na, Cl, Ca and
// SO4. Calcium and sulfate form the ion pair CaSO4(aq), whose amount depends on the activity coefficients of the
// free ions, which depend on the ionic strength (Davies equation), which depends on the amount of the pair:
// a damped fixed-point iteration. Results are the amount of the pair and the saturation index of gypsum.
constexpr int THREADS = 128;
constexpr int ITERATIONS = 6;

#ifdef AFTER
typedef float Constant;
#else
typedef double Constant;
#endif

struct Model {
    Constant davies_a;      // ln(10) * A, at 25 degrees C
    Constant davies_b;      // factor of the linear term
    Constant pair_k;        // association constant of CaSO4(aq)
    Constant gypsum_ksp;    // solubility product
    Constant damping;       // share of the new value in an iteration
    Constant least_amount;  // floor of concentrations
};

__global__ void __launch_bounds__(THREADS) speciate(const float *__restrict__ sodium,
                                                    const float *__restrict__ chloride,
                                                    const float *__restrict__ calcium,
                                                    const float *__restrict__ sulfate, float *__restrict__ pair,
                                                    float *__restrict__ gypsum_index, const Model m, int cells) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= cells)
        return;
    float na = sodium[i], cl = chloride[i], ca_total = calcium[i], so4_total = sulfate[i];
    float bound = 0, ca = ca_total, so4 = so4_total, gamma2 = 1;
    for (int n = 0; n < ITERATIONS; n++) {
        float strength = 0.5f * (na + cl + 4.0f * (ca + so4));
        float ion_root = sqrtf(strength);
        // The activity coefficient of ions of charge 2.
        gamma2 = exp(-4.0f * m.davies_a * (ion_root / (1.0f + ion_root) - m.davies_b * strength));

        // bound = k * (ca_total - bound) * (so4_total - bound), the smaller root
        float k = m.pair_k * gamma2 * gamma2;
        float sum = ca_total + so4_total + 1.0f / k;
        float root = sqrtf(fmaxf(sum * sum - 4.0f * ca_total * so4_total, 0.0f));
        float wanted = 2.0f * ca_total * so4_total / (sum + root);
        bound = bound + m.damping * (wanted - bound);
        ca = ca_total - bound > m.least_amount ? ca_total - bound : m.least_amount;
        so4 = so4_total - bound > m.least_amount ? so4_total - bound : m.least_amount;
    }
    float product = ca * so4 * gamma2 * gamma2;
    pair[i] = bound;
    gypsum_index[i] = log10(product / m.gypsum_ksp);
}

static void speciate_on_cpu(double na, double cl, double ca_total, double so4_total, const Model &m, double *pair,
                            double *index) {
    double bound = 0, ca = ca_total, so4 = so4_total, gamma2 = 1;
    for (int n = 0; n < ITERATIONS; n++) {
        double strength = 0.5 * (na + cl + 4 * (ca + so4)), root = sqrt(strength);
        gamma2 = exp(-4 * m.davies_a * (root / (1 + root) - m.davies_b * strength));
        double k = m.pair_k * gamma2 * gamma2;
        double sum = ca_total + so4_total + 1 / k;
        double wanted = 2 * ca_total * so4_total / (sum + sqrt(sum * sum - 4 * ca_total * so4_total));
        bound += m.damping * (wanted - bound);
        ca = std::max(ca_total - bound, (double)m.least_amount);
        so4 = std::max(so4_total - bound, (double)m.least_amount);
    }
    *pair = bound;
    *index = log10(ca * so4 * gamma2 * gamma2 / m.gypsum_ksp);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "electrolytes");
    int cells = p.small ? 1000 : 4000000;
    Model m;
    m.davies_a = 1.1722;
    m.davies_b = 0.3;
    m.pair_k = 204.2;
    m.gypsum_ksp = 2.63e-5;
    m.damping = 0.8;
    m.least_amount = 1e-9;
    std::vector<float> na = random_floats(cells, 0.001f, 0.5f, 1);
    std::vector<float> ca = random_floats(cells, 0.0005f, 0.04f, 2);
    std::vector<float> so4 = random_floats(cells, 0.0005f, 0.04f, 3);
    std::vector<float> cl(cells);
    for (int i = 0; i < cells; i++)
        cl[i] = std::max(na[i] + 2 * ca[i] - 2 * so4[i], 0.0001f);
    float *d_na = device_copy_of(na.data(), cells);
    float *d_cl = device_copy_of(cl.data(), cells);
    float *d_ca = device_copy_of(ca.data(), cells);
    float *d_so4 = device_copy_of(so4.data(), cells);
    float *d_pair = device_array<float>(cells);
    float *d_index = device_array<float>(cells);

    int blocks = (cells + THREADS - 1) / THREADS;
    pair_time(&p, [&] { speciate<<<blocks, THREADS>>>(d_na, d_cl, d_ca, d_so4, d_pair, d_index, m, cells); });

    std::vector<float> pair = host_copy_of(d_pair, cells), index = host_copy_of(d_index, cells);
    for (int i = 0; i < cells; i += p.small ? 1 : 101) {
        double expected_pair, expected_index;
        speciate_on_cpu(na[i], cl[i], ca[i], so4[i], m, &expected_pair, &expected_index);
        pair_near(&p, "pair", i, 1000 * expected_pair, 1000 * pair[i], 1e-4);
        pair_near(&p, "gypsum index", i, expected_index, index[i], 1e-3);
    }
    for (float *array : {d_na, d_cl, d_ca, d_so4, d_pair, d_index})
        CUDA_CHECK(cudaFree(array));
    return pair_end(&p);
}
