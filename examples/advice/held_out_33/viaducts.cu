// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the function that gives one ordinate of the influence line is inlined instead of called.
// Why: it has some twenty instructions and is called for every axle; the call, the return and the moves of its
// arguments cost as much, nothing that stays the same leaves the loop, and two axles never overlap.
#include "../common.h"

enum { BLOCK = 256, MAX_AXLES = 256 };

#ifdef AFTER
#define ORDINATE_CALL __forceinline__
#else
#define ORDINATE_CALL __noinline__
#endif

struct Axle {
    float behind;  // metres behind the front of the train
    float load;    // kilonewtons
};

struct Section {
    float at;      // metres from the left end of the bridge, in the first span
    float factor;  // 1 / section modulus, with the units
};

// Bending moment at `at` of a girder over two equal spans under a unit load at x: that of the single span, and the
// part of the moment over the middle pier.
static __device__ ORDINATE_CALL float ordinate(float x, float at, float span) {
    float inverse = 1.0f / span;
    if (x <= 0 || x >= 2 * span)
        return 0;
    float near = x < span ? x : 2 * span - x;  // the pier's line is symmetric
    float ratio = near * inverse, pier = -0.25f * near * (1 - ratio * ratio);
    float single = x < at ? x * (1 - at * inverse) : x < span ? at * (1 - x * inverse) : 0.0f;
    return single + at * inverse * pier;
}

// Stress at each section (blockIdx.y) for each position of the train's front.
__global__ void stresses(const Axle *axles, int axle_count, const Section *sections, float *stress, float span,
                         float step, int positions) {
    __shared__ Axle train[MAX_AXLES];
    for (int a = threadIdx.x; a < axle_count; a += BLOCK)
        train[a] = axles[a];
    __syncthreads();
    int position = blockIdx.x * BLOCK + threadIdx.x;
    if (position >= positions)
        return;
    Section section = sections[blockIdx.y];
    float front = step * position, moment = 0;
    for (int a = 0; a < axle_count; a++)
        moment += train[a].load * ordinate(front - train[a].behind, section.at, span);
    stress[(size_t)blockIdx.y * positions + position] = moment * section.factor;
}

static double ordinate_on_cpu(double x, double at, double span) {
    if (x <= 0 || x >= 2 * span)
        return 0;
    double near = x < span ? x : 2 * span - x, pier = -0.25 * near * (1 - near * near / (span * span));
    double single = x < at ? x * (1 - at / span) : x < span ? at * (1 - x / span) : 0;
    return single + at / span * pier;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "viaducts");
    int positions = p.small ? 2000 : 8000, section_count = p.small ? 16 : 64, axle_count = p.small ? 48 : 144;
    float span = 62.5f, step = 500.0f / positions;
    std::vector<Axle> axles(axle_count);
    unsigned seed = 9;
    for (int a = 0; a < axle_count; a++) {  // wagons with two bogies of two axles
        axles[a].behind = a / 4 * 14.0f + (a & 2 ? 9.5f : 0.0f) + (a & 1 ? 1.8f : 0.0f);
        axles[a].load = 90 + lcg_next(&seed, 135);
    }
    std::vector<Section> sections(section_count);
    for (int s = 0; s < section_count; s++) {
        sections[s].at = span * (s + 1) / (section_count + 1);
        sections[s].factor = 1 / (35.0f + lcg_next(&seed, 20));
    }
    Axle *d_axles = device_copy_of(axles.data(), axle_count);
    Section *d_sections = device_copy_of(sections.data(), section_count);
    float *d_stress = device_array<float>((size_t)section_count * positions);
    dim3 grid((positions + BLOCK - 1) / BLOCK, section_count);
    pair_time(&p, [&] {
        stresses<<<grid, BLOCK>>>(d_axles, axle_count, d_sections, d_stress, span, step, positions);
    });
    std::vector<float> stress = host_copy_of(d_stress, (size_t)section_count * positions);
    for (size_t i = 0; i < stress.size(); i += stress.size() / 499) {
        const Section &section = sections[i / positions];
        double front = (double)step * (i % positions), moment = 0;
        for (const Axle &a : axles)
            moment += a.load * ordinate_on_cpu(front - a.behind, section.at, span);
        pair_near(&p, "stress", i, moment * section.factor, stress[i], 1e-3);
    }
    return pair_end(&p);
}
