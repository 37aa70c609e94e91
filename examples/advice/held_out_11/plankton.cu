// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: growth, grazing and what sinks are computed by one kernel instead of three.
// Why: rates are stored by one kernel and loaded by the next, for each of several million points of the sea.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ inline float growth_of(float algae, float light, float nitrate) {
    return algae * light / (0.5f + light) * nitrate / (0.3f + nitrate);
}
static __host__ __device__ inline float grazing_of(float algae, float animals) {
    return animals * algae * algae / (0.2f + algae * algae);
}
static __host__ __device__ inline float next_of(float algae, float growth, float grazing) {
    return fmaxf(algae + 0.1f * (growth - grazing) - 0.01f * algae, 0.0f);
}

#ifdef AFTER
__global__ void plankton(const float *algae, const float *animals, const float *light, const float *nitrate,
                         float *next) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    next[i] = next_of(algae[i], growth_of(algae[i], light[i], nitrate[i]), grazing_of(algae[i], animals[i]));
}
#else
__global__ void plankton_growth(const float *algae, const float *light, const float *nitrate, float *growth) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    growth[i] = growth_of(algae[i], light[i], nitrate[i]);
}

__global__ void plankton_grazing(const float *algae, const float *animals, float *grazing) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    grazing[i] = grazing_of(algae[i], animals[i]);
}

__global__ void plankton_next(const float *algae, const float *growth, const float *grazing, float *next) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    next[i] = next_of(algae[i], growth[i], grazing[i]);
}
#endif

// Algae, and animals that eat them, at each point of a model of the sea.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "plankton");
    int n = p.small ? 1 << 15 : 1 << 23;
    std::vector<float> algae = random_floats(n, 0, 2, 1), animals = random_floats(n, 0, 1, 2),
                       light = random_floats(n, 0, 1, 3), nitrate = random_floats(n, 0, 1, 4);
    float *d_algae = device_copy_of(algae.data(), n), *d_animals = device_copy_of(animals.data(), n),
          *d_light = device_copy_of(light.data(), n), *d_nitrate = device_copy_of(nitrate.data(), n),
          *d_next = device_array<float>(n);
#ifdef AFTER
    pair_time(&p, [&] { plankton<<<n / BLOCK, BLOCK>>>(d_algae, d_animals, d_light, d_nitrate, d_next); });
#else
    float *d_growth = device_array<float>(n), *d_grazing = device_array<float>(n);
    pair_time(&p, [&] {
        plankton_growth<<<n / BLOCK, BLOCK>>>(d_algae, d_light, d_nitrate, d_growth);
        plankton_grazing<<<n / BLOCK, BLOCK>>>(d_algae, d_animals, d_grazing);
        plankton_next<<<n / BLOCK, BLOCK>>>(d_algae, d_growth, d_grazing, d_next);
    });
#endif
    std::vector<float> next = host_copy_of(d_next, n);
    for (int i = 0; i < n; i += 499)
        pair_near(&p, "algae", i,
                  next_of(algae[i], growth_of(algae[i], light[i], nitrate[i]), grazing_of(algae[i], animals[i])),
                  next[i], 1e-4);
    return pair_end(&p);
}
