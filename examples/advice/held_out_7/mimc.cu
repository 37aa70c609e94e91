// SPDX-License-Identifier: Apache-2.0
//
// Rule: function-split
// Change: the 91 rounds are a loop instead of being written out.
// Why: written out they are far larger than the caches for instructions.
#include "../common.h"

#include <cstdint>

enum { BLOCK = 256, ROUNDS = 91 };
#ifdef AFTER
enum { UNROLLED = 1 };
#else
enum { UNROLLED = ROUNDS };
#endif

#define PRIME 0xffffffff00000001u

__constant__ uint64_t c_round[ROUNDS];

// A product modulo 2^64 - 2^32 + 1, of which 2^64 is 2^32 - 1 and 2^96 is -1.
__device__ uint64_t product(uint64_t a, uint64_t b) {
    uint64_t low = a * b, high = __umul64hi(a, b), top = high >> 32, middle = (high & 0xffffffffu) * 0xffffffffu;
    uint64_t sum = low - top;
    if (low < top)
        sum -= 0xffffffffu;
    uint64_t all = sum + middle;
    return all < sum ? all + 0xffffffffu : all;
}

// The permutation of MiMC: x -> (x + key + constant)^7, round after round.
__global__ void mimc(const uint64_t *in, uint64_t *out, uint64_t key) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    uint64_t x = in[t];
#pragma unroll UNROLLED
    for (int r = 0; r < ROUNDS; r++) {
        uint64_t y = x + key + c_round[r], squared = product(y, y), cubed = product(squared, y);
        x = product(product(cubed, cubed), y);
    }
    out[t] = x % PRIME;
}

static uint64_t on_host(uint64_t x, uint64_t key, const std::vector<uint64_t> &round) {
    for (int r = 0; r < ROUNDS; r++) {
        __uint128_t y = (x + key + round[r]) % PRIME, power = 1;
        for (int k = 0; k < 7; k++)
            power = power * y % PRIME;
        x = (uint64_t)power;
    }
    return x;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mimc");
    int n = p.small ? 1 << 12 : 1 << 20;
    // Numbers below 2^24, so that a sum does not leave 64 bits once products are below the prime (nearly always).
    std::vector<uint64_t> in(n), round(ROUNDS);
    lcg_fill(in.data(), n, 1, 1 << 24);
    lcg_fill(round.data(), ROUNDS, 2, 1 << 24);
    CUDA_CHECK(cudaMemcpyToSymbol(c_round, round.data(), ROUNDS * sizeof(uint64_t)));
    uint64_t *d_in = device_copy_of(in.data(), n), *d_out = device_array<uint64_t>(n), key = 123456;
    pair_time(&p, [&] { mimc<<<n / BLOCK, BLOCK>>>(d_in, d_out, key); });
    std::vector<uint64_t> out = host_copy_of(d_out, n);
    for (int t = 0; t < n; t += 1009)
        pair_near(&p, "equal", t, 1, on_host(in[t], key, round) == out[t], 0);
    return pair_end(&p);
}
