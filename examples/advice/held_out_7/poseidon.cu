// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-split
// Change: the 30 rounds are a loop instead of being written out.
// Why: written out they are far larger than the caches for instructions.
#include "../common.h"

#include <cstdint>

enum { BLOCK = 128, WIDTH = 4, ROUNDS = 30 };
#ifdef AFTER
enum { UNROLLED = 1 };
#else
enum { UNROLLED = ROUNDS };
#endif

#define PRIME 0xffffffff00000001u

__constant__ uint64_t c_round[ROUNDS * WIDTH], c_mix[WIDTH * WIDTH];

// A product and a sum modulo 2^64 - 2^32 + 1, of which 2^64 is 2^32 - 1 and 2^96 is -1.
static __device__ uint64_t product(uint64_t a, uint64_t b) {
    uint64_t low = a * b, high = __umul64hi(a, b), top = high >> 32, middle = (high & 0xffffffffu) * 0xffffffffu;
    uint64_t sum = low - top;
    if (low < top)
        sum -= 0xffffffffu;
    uint64_t all = sum + middle;
    return all < sum ? all + 0xffffffffu : all;
}

static __device__ uint64_t sum_of(uint64_t a, uint64_t b) {
    uint64_t sum = a + b, more = sum < a ? sum + 0xffffffffu : sum;
    return sum < a && more < sum ? more + 0xffffffffu : more;
}

// The permutation of Poseidon: constants, seventh powers, and a product with a matrix, round after round.
__global__ void poseidon(uint64_t *states, int n) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    uint64_t x[WIDTH];
#pragma unroll
    for (int k = 0; k < WIDTH; k++)
        x[k] = states[k * n + t];
#pragma unroll UNROLLED
    for (int r = 0; r < ROUNDS; r++) {
        uint64_t y[WIDTH];
#pragma unroll
        for (int k = 0; k < WIDTH; k++) {
            uint64_t z = sum_of(x[k], c_round[r * WIDTH + k]), squared = product(z, z), cubed = product(squared, z);
            y[k] = product(product(cubed, cubed), z);
        }
#pragma unroll
        for (int k = 0; k < WIDTH; k++) {
            x[k] = product(y[0], c_mix[k * WIDTH]);
#pragma unroll
            for (int j = 1; j < WIDTH; j++)
                x[k] = sum_of(x[k], product(y[j], c_mix[k * WIDTH + j]));
        }
    }
#pragma unroll
    for (int k = 0; k < WIDTH; k++)
        states[(WIDTH + k) * n + t] = x[k] % PRIME;
}

static void on_host(uint64_t *x, const std::vector<uint64_t> &round, const std::vector<uint64_t> &mix) {
    for (int r = 0; r < ROUNDS; r++) {
        __uint128_t y[WIDTH];
        for (int k = 0; k < WIDTH; k++) {
            __uint128_t z = ((__uint128_t)x[k] + round[r * WIDTH + k]) % PRIME;
            y[k] = 1;
            for (int power = 0; power < 7; power++)
                y[k] = y[k] * z % PRIME;
        }
        for (int k = 0; k < WIDTH; k++) {
            __uint128_t sum = 0;
            for (int j = 0; j < WIDTH; j++)
                sum = (sum + y[j] * mix[k * WIDTH + j]) % PRIME;
            x[k] = (uint64_t)sum;
        }
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "poseidon");
    int n = p.small ? 1 << 11 : 1 << 18;
    std::vector<uint64_t> states((size_t)2 * WIDTH * n), round(ROUNDS * WIDTH), mix(WIDTH * WIDTH);
    lcg_fill(states.data(), (size_t)WIDTH * n, 1, 1 << 24);
    lcg_fill(round.data(), round.size(), 2, 1 << 24);
    lcg_fill(mix.data(), mix.size(), 3, 1 << 24);
    CUDA_CHECK(cudaMemcpyToSymbol(c_round, round.data(), round.size() * sizeof(uint64_t)));
    CUDA_CHECK(cudaMemcpyToSymbol(c_mix, mix.data(), mix.size() * sizeof(uint64_t)));
    uint64_t *d_states = device_copy_of(states.data(), states.size());
    pair_time(&p, [&] { poseidon<<<n / BLOCK, BLOCK>>>(d_states, n); });
    std::vector<uint64_t> out = host_copy_of(d_states, states.size());
    for (int t = 0; t < n; t += 1009) {
        uint64_t x[WIDTH];
        for (int k = 0; k < WIDTH; k++)
            x[k] = states[(size_t)k * n + t];
        on_host(x, round, mix);
        for (int k = 0; k < WIDTH; k++)
            pair_near(&p, "equal", (size_t)k * n + t, 1, x[k] == out[(size_t)(WIDTH + k) * n + t], 0);
    }
    return pair_end(&p);
}
