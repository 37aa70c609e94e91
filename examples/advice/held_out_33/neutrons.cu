// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block sums its tallies up in shared memory, and adds them to the global ones once, at its end.
// Why: all neutrons of the GPU end in one of 42 tallies, some of these far more often than others, so that the atomic
// additions to one address queue up.
#include "../common.h"

enum { BLOCK = 256, LAYERS = 40, REFLECTED = LAYERS, LEAKED = LAYERS + 1, TALLIES = LAYERS + 2 };

// Radiation shielding: neutrons enter a wall of 40 layers of steel, polyethylene and concrete, and scatter until they
// are absorbed or leave it. Flights are sampled by delta tracking: with the largest cross section everywhere, and
// collisions that are none where the material has a smaller one.
struct Layer {
    float total;   // chance that a collision is one, relative to the largest cross section
    float absorb;  // chance that a real collision absorbs
    float loss;    // mean loss of energy in a real collision, as a part
};

struct Wall {
    float free_path, layer_width;
    int most_flights;
};

struct Tally {
    unsigned count, energy;  // energy in units of 10 keV
};

struct Fate {
    int tally;
    unsigned energy;
};

static __host__ __device__ float uniform(unsigned *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return ((*state >> 9) + 0.5f) * (1.0f / (1 << 23));
}

static __host__ __device__ Fate history(unsigned number, const Layer *layers, Wall wall) {
    unsigned state = (number + 1) * 2654435761u;
    state = (state ^ state >> 15) | 1;
    float depth = 0, cosine = 1, energy = 200;
    Fate fate = {REFLECTED, 0};
    for (int flight = 0; flight < wall.most_flights; flight++) {
        depth -= cosine * wall.free_path * logf(uniform(&state));
        int layer = (int)floorf(depth / wall.layer_width);
        fate.tally = layer < 0 ? REFLECTED : layer >= LAYERS ? LEAKED : layer;
        if (fate.tally >= LAYERS)
            break;
        Layer l = layers[layer];
        if (uniform(&state) > l.total)
            continue;
        if (uniform(&state) < l.absorb)
            break;
        cosine = 2 * uniform(&state) - 1;
        energy *= 1 - 2 * l.loss * uniform(&state);
    }
    fate.energy = (unsigned)(energy + 0.5f);
    return fate;
}

static __device__ void add(Tally *tallies, Fate fate) {
    atomicAdd(&tallies[fate.tally].count, 1u);
    atomicAdd(&tallies[fate.tally].energy, fate.energy);
}

__global__ void shield(const Layer *layers, Wall wall, Tally *tallies, unsigned histories) {
#ifdef AFTER
    __shared__ Tally part[TALLIES];
    if (threadIdx.x < TALLIES)
        part[threadIdx.x] = Tally{0, 0};
    __syncthreads();
#endif
    for (unsigned i = blockIdx.x * BLOCK + threadIdx.x; i < histories; i += gridDim.x * BLOCK) {
        Fate fate = history(i, layers, wall);
#ifdef AFTER
        add(part, fate);
#else
        add(tallies, fate);
#endif
    }
#ifdef AFTER
    __syncthreads();
    if (threadIdx.x < TALLIES && part[threadIdx.x].count) {
        atomicAdd(&tallies[threadIdx.x].count, part[threadIdx.x].count);
        atomicAdd(&tallies[threadIdx.x].energy, part[threadIdx.x].energy);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "neutrons");
    unsigned histories = p.small ? 132 * 2 * BLOCK : 2000000;
    int blocks = 132 * (p.small ? 1 : 8);
    static const Layer kinds[3] = {{1, 0.1f, 0.03f}, {0.8f, 0.04f, 0.45f}, {0.5f, 0.06f, 0.15f}};
    std::vector<Layer> layers(LAYERS);
    for (int l = 0; l < LAYERS; l++)
        layers[l] = kinds[l % 3];
    Wall wall = {2, 0.8f, 100};
    Layer *d_layers = device_copy_of(layers.data(), LAYERS);
    Tally *d_tallies = device_array<Tally>(TALLIES);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_tallies, 0, TALLIES * sizeof(Tally)));
        shield<<<blocks, BLOCK>>>(d_layers, wall, d_tallies, histories);
    });

    std::vector<Tally> got = host_copy_of(d_tallies, TALLIES), expected(TALLIES);
    for (unsigned i = 0; i < histories; i++) {
        Fate fate = history(i, layers.data(), wall);
        expected[fate.tally].count++;
        expected[fate.tally].energy += fate.energy;
    }
    // In thousandths: a rounding now and then sends a neutron into the next layer.
    double total = 0;
    for (int t = 0; t < TALLIES; t++) {
        total += got[t].count;
        pair_near(&p, "count", t, 1000.0 * expected[t].count / histories, 1000.0 * got[t].count / histories, 1e-2);
        pair_near(&p, "energy", t, 10.0 * expected[t].energy / histories, 10.0 * got[t].energy / histories, 1e-2);
    }
    pair_near(&p, "total", 0, histories, total, 0);
    CUDA_CHECK(cudaFree(d_layers));
    CUDA_CHECK(cudaFree(d_tallies));
    return pair_end(&p);
}
