// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: a region's contact matrix and rates are loaded into registers once, not again on every simulated day.
// Why: the cases are stored during the days, and as the arrays may alias the compiler must load all 18 parameters anew
// after each store; the loads and the wait for them go.
#include "../common.h"

constexpr int GROUPS = 4;                        // age groups
constexpr int INCUBATION = GROUPS * GROUPS;      // parameter rows: contact matrix, then these
constexpr int RECOVERY = INCUBATION + 1;
constexpr int PARAMETERS = RECOVERY + 1;

// Shares of an age group that are susceptible, exposed, infectious.
struct Group {
    float s, e, i;
};

// One day of an age group under the force of infection of that day; returns the share of new cases.
__host__ __device__ inline float advance(Group *g, float force, float incubation, float recovery) {
    float infected = g->s * (1 - expf(-force));
    float cases = g->e * incubation;
    g->s -= infected;
    g->e += infected - cases;
    g->i += cases - g->i * recovery;
    return cases;
}

// One thread follows the epidemic in one region. Parameters are region-minor: row k of all regions is contiguous.
__global__ void epidemic(const float *parameters, const float *first_infectious, float *cases, int regions, int days) {
    int region = blockIdx.x * blockDim.x + threadIdx.x;
    if (region >= regions)
        return;
    Group group[GROUPS];
    for (int a = 0; a < GROUPS; a++) {
        float start = first_infectious[a * regions + region];
        group[a] = {1 - start, 0, start};
    }
#ifdef AFTER
    float kept[PARAMETERS];
#pragma unroll
    for (int k = 0; k < PARAMETERS; k++)
        kept[k] = parameters[k * regions + region];
    auto parameter = [&](int k) { return kept[k]; };
#else
    auto parameter = [&](int k) { return parameters[k * regions + region]; };
#endif
    for (int day = 0; day < days; day++) {
        float infectious[GROUPS];
#pragma unroll
        for (int b = 0; b < GROUPS; b++)
            infectious[b] = group[b].i;
#pragma unroll
        for (int a = 0; a < GROUPS; a++) {
            float force = 0;
#pragma unroll
            for (int b = 0; b < GROUPS; b++)
                force += parameter(a * GROUPS + b) * infectious[b];
            cases[((size_t)day * GROUPS + a) * regions + region] =
                advance(&group[a], force, parameter(INCUBATION), parameter(RECOVERY));
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "virus_spreads");
    int regions = p.small ? 256 : 32768, days = p.small ? 10 : 300;

    std::vector<float> parameters((size_t)PARAMETERS * regions);
    unsigned seed = 41;
    for (int k = 0; k < PARAMETERS; k++)
        for (int region = 0; region < regions; region++) {
            float u = 0.001f * lcg_next(&seed, 1000);
            bool same_group = k < INCUBATION && k / GROUPS == k % GROUPS;
            float value = k == INCUBATION ? 0.2f + 0.1f * u : k == RECOVERY ? 0.1f + 0.1f * u : 0.02f + 0.05f * u;
            parameters[(size_t)k * regions + region] = same_group ? value + 0.15f : value;
        }
    std::vector<float> start = random_floats((size_t)GROUPS * regions, 1e-4f, 1e-2f, 42);

    float *d_parameters = device_copy_of(parameters.data(), parameters.size());
    float *d_start = device_copy_of(start.data(), start.size());
    float *d_cases = device_array<float>((size_t)days * GROUPS * regions);

    pair_time(&p, [&] {
        epidemic<<<(regions + 127) / 128, 128>>>(d_parameters, d_start, d_cases, regions, days);
    });

    std::vector<float> cases = host_copy_of(d_cases, (size_t)days * GROUPS * regions);
    for (int region = 0; region < regions; region += p.small ? 1 : 173) {
        Group group[GROUPS];
        for (int a = 0; a < GROUPS; a++) {
            float first = start[(size_t)a * regions + region];
            group[a] = {1 - first, 0, first};
        }
        auto parameter = [&](int k) { return parameters[(size_t)k * regions + region]; };
        for (int day = 0; day < days; day++) {
            float force[GROUPS] = {};
            for (int a = 0; a < GROUPS; a++)
                for (int b = 0; b < GROUPS; b++)
                    force[a] += parameter(a * GROUPS + b) * group[b].i;
            for (int a = 0; a < GROUPS; a++) {
                size_t at = ((size_t)day * GROUPS + a) * regions + region;
                float expected = advance(&group[a], force[a], parameter(INCUBATION), parameter(RECOVERY));
                pair_near(&p, "cases", at, expected, cases[at], 1e-4);
            }
        }
    }
    CUDA_CHECK(cudaFree(d_parameters));
    CUDA_CHECK(cudaFree(d_start));
    CUDA_CHECK(cudaFree(d_cases));
    return pair_end(&p);
}
