// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: a thread compares four plots with four plots instead of one with one.
// Why: a count read from shared memory serves four comparisons from its register; before, each comparison of two
// numbers reads both of them from shared memory.
#include "../common.h"

#ifdef AFTER
enum { EACH = 4 };
#else
enum { EACH = 1 };
#endif
enum { SIDE = 16, TILE = SIDE * EACH, DEPTH = 16 };

// Bray-Curtis dissimilarity of every plot of one survey and every plot of another: the share of the plants that the
// two plots do not have in common. The tables have a row per species and a column per plot.
__global__ void __launch_bounds__(SIDE *SIDE)
    wetlands(const float *__restrict__ first, const float *__restrict__ second, float *__restrict__ dissimilarity,
             int species, int first_plots, int second_plots) {
    __shared__ float old_counts[DEPTH][TILE], new_counts[DEPTH][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y, old_plot = blockIdx.y * TILE, new_plot = blockIdx.x * TILE;
    float apart[EACH][EACH] = {}, old_total[EACH] = {}, new_total[EACH] = {};

    for (int s = 0; s < species; s += DEPTH) {
        for (int e = 0; e < EACH; e++) {
            old_counts[ty][tx + SIDE * e] = first[(size_t)(s + ty) * first_plots + old_plot + tx + SIDE * e];
            new_counts[ty][tx + SIDE * e] = second[(size_t)(s + ty) * second_plots + new_plot + tx + SIDE * e];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float was[EACH], is[EACH];
            for (int e = 0; e < EACH; e++) {
                was[e] = old_counts[k][ty + SIDE * e];
                is[e] = new_counts[k][tx + SIDE * e];
                old_total[e] += was[e];
                new_total[e] += is[e];
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    apart[i][j] += fabsf(was[i] - is[j]);
        }
        __syncthreads();
    }

    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            dissimilarity[(size_t)(old_plot + ty + SIDE * i) * second_plots + new_plot + tx + SIDE * j] =
                apart[i][j] / (old_total[i] + new_total[j]);
}

// Cover of each species in each plot, in percent; most of the species are missing in most of the plots.
static std::vector<float> survey(int species, int plots, unsigned seed) {
    std::vector<float> table((size_t)species * plots);
    for (int s = 0; s < species; s++)
        for (int plot = 0; plot < plots; plot++) {
            bool grows = lcg_next(&seed, 100) < (s % 7 == plot % 7 ? 70u : 12u);
            table[(size_t)s * plots + plot] = grows ? 0.5f + lcg_next(&seed, 160) / 4.0f : 0.0f;
        }
    return table;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wetlands");
    const int species = p.small ? 32 : 640, old_plots = p.small ? 128 : 2048, new_plots = p.small ? 64 : 2560;
    std::vector<float> first = survey(species, old_plots, 1987), second = survey(species, new_plots, 2024);

    float *d_first = device_copy_of(first.data(), first.size()),
          *d_second = device_copy_of(second.data(), second.size()),
          *d_out = device_array<float>((size_t)old_plots * new_plots);
    const dim3 block(SIDE, SIDE), grid(new_plots / TILE, old_plots / TILE);
    pair_time(&p, [&] { wetlands<<<grid, block>>>(d_first, d_second, d_out, species, old_plots, new_plots); });

    std::vector<float> out = host_copy_of(d_out, (size_t)old_plots * new_plots);
    for (size_t i = 0; i < out.size(); i += p.small ? 23 : 9973) {
        double apart = 0, total = 0;
        for (int s = 0; s < species; s++) {
            double was = first[(size_t)s * old_plots + i / new_plots],
                   is = second[(size_t)s * new_plots + i % new_plots];
            apart += fabs(was - is);
            total += was + is;
        }
        pair_near(&p, "dissimilarity", i, apart / total, out[i], 1e-4);
    }
    return pair_end(&p);
}
