// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: powf, expf and log10f become __powf, __expf and __log10f.
// Why: the precise functions take several times the instructions, and rate constants are known to a few percent only.
#include "../common.h"

enum { BLOCK = 192, REACTIONS = 22 };

struct Reaction {
    float a, b, e;  // of the limit at high pressure: a (T/300)^b exp(-e/T)
    float low;      // how much lower the limit at low pressure is
    float centre;   // of Troe's broadening
    float heat;
};

__constant__ Reaction reactions[REACTIONS];

// The heat that reactions on a catalyst's surface set free, in every cell of a reactor's mesh.
__global__ void catalysts(const float *kelvin, const float *bar, float *heat, int cells) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= cells)
        return;
    float relative = kelvin[i] * (1 / 300.0f), inverse = 1 / kelvin[i], density = bar[i] * 120 * inverse;
    float sum = 0;
    for (int r = 0; r < REACTIONS; r++) {
        const Reaction &x = reactions[r];
#ifdef AFTER
        float high = x.a * __powf(relative, x.b) * __expf(-x.e * inverse);
        float reduced = density * x.low * __expf(0.2f * x.e * inverse);
        float decades = __log10f(reduced);
        float broad = __powf(x.centre, 1 / (1 + decades * decades));
#else
        float high = x.a * powf(relative, x.b) * expf(-x.e * inverse);
        float reduced = density * x.low * expf(0.2f * x.e * inverse);
        float decades = log10f(reduced);
        float broad = powf(x.centre, 1 / (1 + decades * decades));
#endif
        sum += x.heat * high * broad * reduced / (1 + reduced);
    }
    heat[i] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "catalysts");
    int cells = p.small ? 5000 : 1500000;
    std::vector<float> kelvin = random_floats(cells, 500, 1500, 1), bar = random_floats(cells, 1, 40, 2);
    std::vector<float> draws = random_floats(REACTIONS * 6, 0, 1, 3);
    Reaction table[REACTIONS];
    for (int r = 0; r < REACTIONS; r++) {
        const float *d = &draws[6 * r];
        table[r] = {1 + 9 * d[0], 2.5f * d[1] - 1, 300 + 3000 * d[2], 0.05f + d[3], 0.3f + 0.6f * d[4], 0.5f + d[5]};
    }
    CUDA_CHECK(cudaMemcpyToSymbol(reactions, table, sizeof table));
    float *d_kelvin = device_copy_of(kelvin.data(), cells), *d_bar = device_copy_of(bar.data(), cells);
    float *d_heat = device_array<float>(cells);
    pair_time(&p, [&] { catalysts<<<(cells + BLOCK - 1) / BLOCK, BLOCK>>>(d_kelvin, d_bar, d_heat, cells); });
    std::vector<float> heat = host_copy_of(d_heat, cells);
    for (int i = 0; i < cells; i += p.small ? 7 : 997) {
        double t = kelvin[i], sum = 0;
        for (const Reaction &x : table) {
            double high = x.a * pow(t / 300, x.b) * exp(-x.e / t);
            double reduced = bar[i] * 120 / t * x.low * exp(0.2 * x.e / t), decades = log10(reduced);
            sum += x.heat * high * pow(x.centre, 1 / (1 + decades * decades)) * reduced / (1 + reduced);
        }
        pair_near(&p, "heat", i, sum, heat[i], 1e-3);
    }
    return pair_end(&p);
}
