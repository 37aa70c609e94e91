// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-inlining
// Change: the soil's hydraulic law is called by name in a switch, so that it is inlined, not through a table of
// function pointers.
// Why: an indirect call saves and moves registers, forces the soil's constants into local memory and keeps the
// compiler from overlapping the independent evaluations; the laws themselves are only a few instructions long.
#include "../common.h"

// Water in unsaturated soil: one explicit step of the Richards equation for many columns, one thread a column.
constexpr int THREADS = 128;
constexpr int SAMPLES = 4;  // points of the mean conductivity between two layers

struct Soil {
    float saturated;     // conductivity, m/day
    float alpha;         // 1/m
    float porosity;      // water content between residual and saturated
    float slope, entry;  // Brooks-Corey: exponent and air entry head, m
};

enum Law { GARDNER, BROOKS_COREY, LAWS };

// Conductivity (x) and capacity (y) at a pressure head (negative: unsaturated).
__device__ float2 gardner(float head, const Soil &soil) {
    float e = __expf(soil.alpha * fminf(head, 0.0f));
    return make_float2(soil.saturated * e, soil.porosity * soil.alpha * e + 1e-3f);
}

__device__ float2 brooks_corey(float head, const Soil &soil) {
    float ratio = fminf(__fdividef(soil.entry, fminf(head, -1e-3f)), 1.0f);
    float content = __powf(ratio, soil.slope);
    return make_float2(soil.saturated * content * content * ratio * ratio,
                       soil.porosity * soil.slope * content * ratio + 1e-3f);
}

#ifdef AFTER
__device__ __forceinline__ float2 hydraulics(int law, float head, const Soil &soil) {
    return law == GARDNER ? gardner(head, soil) : brooks_corey(head, soil);
}
#else
__device__ float2 (*laws[LAWS])(float, const Soil &) = {gardner, brooks_corey};

__device__ __forceinline__ float2 hydraulics(int law, float head, const Soil &soil) {
    return laws[law](head, soil);
}
#endif

// heads: [layer][column], layer 0 at the surface. Flow is positive downwards; rain enters at the top and water drains
// freely from the last layer.
__global__ void __launch_bounds__(THREADS)
    infiltrate(float *__restrict__ heads_out, const float *__restrict__ heads, const Soil *__restrict__ soils,
               const float *__restrict__ rain, int columns, int layers, int law, float dt, float dz) {
    int column = blockIdx.x * THREADS + threadIdx.x;
    if (column >= columns)
        return;
    Soil soil = soils[column];
    float inflow = rain[column];
    float head = heads[column];
    for (int layer = 0; layer < layers; layer++) {
        float below = layer + 1 < layers ? heads[(size_t)(layer + 1) * columns + column] : head;
        float mean = 0;
#pragma unroll
        for (int s = 0; s < SAMPLES; s++) {
            float at = (s + 0.5f) / SAMPLES;
            mean += hydraulics(law, head + at * (below - head), soil).x;
        }
        float outflow = mean / SAMPLES * ((head - below) / dz + 1.0f);
        float capacity = hydraulics(law, head, soil).y;
        heads_out[(size_t)layer * columns + column] = head + dt * __fdividef(inflow - outflow, capacity * dz);
        inflow = outflow;
        head = below;
    }
}

static void hydraulics_on_cpu(int law, float head, const Soil &soil, float *conductivity, float *capacity) {
    if (law == GARDNER) {
        float e = expf(soil.alpha * fminf(head, 0.0f));
        *conductivity = soil.saturated * e;
        *capacity = soil.porosity * soil.alpha * e + 1e-3f;
    } else {
        float ratio = fminf(soil.entry / fminf(head, -1e-3f), 1.0f), content = powf(ratio, soil.slope);
        *conductivity = soil.saturated * content * content * ratio * ratio;
        *capacity = soil.porosity * soil.slope * content * ratio + 1e-3f;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "soils");
    int columns = p.small ? 300 : 300000, layers = p.small ? 8 : 48, law = BROOKS_COREY;
    const float dt = 1e-4f, dz = 0.05f;
    std::vector<float> heads = random_floats((size_t)columns * layers, -2.0f, -0.2f, 21);
    std::vector<float> rain = random_floats(columns, 0.0f, 0.02f, 22);
    std::vector<float> kinds = random_floats(columns, 0.0f, 1.0f, 23);
    std::vector<Soil> soils(columns);
    for (int c = 0; c < columns; c++) {
        float kind = kinds[c];
        soils[c] = {0.1f + kind, 1 + 2 * kind, 0.3f + 0.1f * kind, 0.4f + kind, -0.1f - 0.2f * kind};
    }

    float *d_heads = device_copy_of(heads.data(), heads.size()), *d_rain = device_copy_of(rain.data(), columns);
    float *d_out = device_array<float>(heads.size());
    Soil *d_soils = device_copy_of(soils.data(), columns);

    int grid = (columns + THREADS - 1) / THREADS;
    pair_time(&p, [&] {
        infiltrate<<<grid, THREADS>>>(d_out, d_heads, d_soils, d_rain, columns, layers, law, dt, dz);
    });

    std::vector<float> out = host_copy_of(d_out, heads.size());
    for (int c = 0; c < columns; c += p.small ? 1 : 499) {
        float inflow = rain[c], unused, capacity;
        for (int layer = 0; layer < layers; layer++) {
            size_t at = (size_t)layer * columns + c;
            float head = heads[at], below = layer + 1 < layers ? heads[at + columns] : head, mean = 0;
            for (int s = 0; s < SAMPLES; s++) {
                float conductivity;
                hydraulics_on_cpu(law, head + (s + 0.5f) / SAMPLES * (below - head), soils[c], &conductivity, &unused);
                mean += conductivity / SAMPLES;
            }
            float outflow = mean * ((head - below) / dz + 1);
            hydraulics_on_cpu(law, head, soils[c], &unused, &capacity);
            pair_near(&p, "head", at, head + dt * (inflow - outflow) / (capacity * dz), out[at], 1e-3);
            inflow = outflow;
        }
    }
    CUDA_CHECK(cudaFree(d_heads));
    CUDA_CHECK(cudaFree(d_rain));
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_soils));
    return pair_end(&p);
}
