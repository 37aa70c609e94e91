// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds ask for four blocks on an SM instead of sixteen.
// Why: sixteen blocks leave 32 registers for a thread that keeps 16 complex amplitudes.
#include "../common.h"

enum { BLOCK = 128, QUBITS = 4, STATES = 1 << QUBITS, MAX_GATES = 64 };

#ifdef AFTER
enum { RESIDENT = 4 };
#else
enum { RESIDENT = 16 };
#endif

struct Gate {
    float2 m[2][2];
};
__constant__ Gate d_gates[MAX_GATES];

static __host__ __device__ inline float2 combine(float2 a, float2 x, float2 b, float2 y) {
    return {a.x * x.x - a.y * x.y + b.x * y.x - b.y * y.y, a.x * x.y + a.y * x.x + b.x * y.y + b.y * y.x};
}

static __host__ __device__ inline void apply(const Gate &gate, int qubit, float2 *amplitudes) {
#pragma unroll
    for (int s = 0; s < STATES; s++) {
        if (s >> qubit & 1)
            continue;
        float2 zero = amplitudes[s], one = amplitudes[s | 1 << qubit];
        amplitudes[s] = combine(gate.m[0][0], zero, gate.m[0][1], one);
        amplitudes[s | 1 << qubit] = combine(gate.m[1][0], zero, gate.m[1][1], one);
    }
}

// Layers of gates on the four highest qubits of a quantum register; after each layer the first two are entangled.
__global__ void __launch_bounds__(BLOCK, RESIDENT) qubit_layers(const float2 *in, float2 *out, int rest, int layers) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float2 amplitudes[STATES];
#pragma unroll
    for (int s = 0; s < STATES; s++)
        amplitudes[s] = in[s * rest + i];
    for (int layer = 0; layer < layers; layer++) {
#pragma unroll
        for (int qubit = 0; qubit < QUBITS; qubit++)
            apply(d_gates[layer * QUBITS + qubit], qubit, amplitudes);
#pragma unroll
        for (int s = 3; s < STATES; s += 4)
            amplitudes[s] = {-amplitudes[s].x, -amplitudes[s].y};
    }
#pragma unroll
    for (int s = 0; s < STATES; s++)
        out[s * rest + i] = amplitudes[s];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "qubits");
    int rest = p.small ? 1 << 9 : 1 << 18, layers = p.small ? 2 : 6;
    std::vector<float> numbers = random_floats((size_t)rest * STATES * 2, -1, 1, 1),
                       turns = random_floats((size_t)layers * QUBITS * 2, 0, 3, 2);
    std::vector<Gate> gates(layers * QUBITS);
    for (size_t g = 0; g < gates.size(); g++) {
        float c = cosf(turns[2 * g]), s = sinf(turns[2 * g]), u = cosf(turns[2 * g + 1]), v = sinf(turns[2 * g + 1]);
        gates[g] = {{{{c, 0}, {-s * u, -s * v}}, {{s * u, -s * v}, {c, 0}}}};
    }
    const float2 *in = (const float2 *)numbers.data();
    float2 *d_in = device_copy_of(in, (size_t)rest * STATES), *d_out = device_array<float2>((size_t)rest * STATES);
    CUDA_CHECK(cudaMemcpyToSymbol(d_gates, gates.data(), gates.size() * sizeof(Gate)));
    pair_time(&p, [&] { qubit_layers<<<rest / BLOCK, BLOCK>>>(d_in, d_out, rest, layers); });
    std::vector<float2> out = host_copy_of(d_out, (size_t)rest * STATES);
    for (int i = 0; i < rest; i += 127) {
        float2 amplitudes[STATES];
        for (int s = 0; s < STATES; s++)
            amplitudes[s] = in[(size_t)s * rest + i];
        for (int layer = 0; layer < layers; layer++) {
            for (int qubit = 0; qubit < QUBITS; qubit++)
                apply(gates[layer * QUBITS + qubit], qubit, amplitudes);
            for (int s = 3; s < STATES; s += 4)
                amplitudes[s] = {-amplitudes[s].x, -amplitudes[s].y};
        }
        for (int s = 0; s < STATES; s += 3) {
            pair_near(&p, "real", (size_t)s * rest + i, amplitudes[s].x, out[(size_t)s * rest + i].x, 1e-4);
            pair_near(&p, "imaginary", (size_t)s * rest + i, amplitudes[s].y, out[(size_t)s * rest + i].y, 1e-4);
        }
    }
    return pair_end(&p);
}
