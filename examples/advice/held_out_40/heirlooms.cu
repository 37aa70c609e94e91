// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: the residues are computed with 32-bit integers, not 64-bit ones.
// Why: the prime is below 2^16, so a product and a sum of residues fit 32 bits; the remainder of a 64-bit division
//      is a long piece of code at every step, that of a 32-bit one a few instructions.
#include "../common.h"

enum { BLOCK = 256, NEEDED = 8 };

#ifdef AFTER
typedef unsigned residue;
#else
typedef unsigned long long residue;
#endif

// Shamir's secret sharing modulo a prime below 65536: the share of heir x is the polynomial's value there, any NEEDED
// shares give back its constant, the secret.
struct Polynomial {
    residue coefficient[NEEDED];

    __device__ residue at(residue x, residue prime) const {
        residue value = coefficient[NEEDED - 1];
#pragma unroll
        for (int k = NEEDED - 2; k >= 0; k--)
            value = (value * x + coefficient[k]) % prime;
        return value;
    }
};

// A thread splits one 16-bit word of the will; noise holds the other coefficients, words of each together.
__global__ void __launch_bounds__(BLOCK) split(const unsigned short *secret, const unsigned short *noise,
                                               unsigned short *shares, int words, int heirs, unsigned prime) {
    for (int w = blockIdx.x * BLOCK + threadIdx.x; w < words; w += gridDim.x * BLOCK) {
        Polynomial polynomial;
        polynomial.coefficient[0] = secret[w];
#pragma unroll
        for (int k = 1; k < NEEDED; k++)
            polynomial.coefficient[k] = noise[(size_t)(k - 1) * words + w];
        for (int heir = 0; heir < heirs; heir++)
            shares[(size_t)heir * words + w] = (unsigned short)polynomial.at(heir + 1, prime);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "heirlooms");
    int words = p.small ? 3000 : 132 * 2048 * 4, heirs = p.small ? 5 : 24;
    unsigned prime = 65521, seed = 8;
    std::vector<unsigned short> secret(words), noise((size_t)words * (NEEDED - 1));
    for (unsigned short &s : secret)
        s = (unsigned short)lcg_next(&seed, prime);
    for (unsigned short &s : noise)
        s = (unsigned short)lcg_next(&seed, prime);
    unsigned short *d_secret = device_copy_of(secret.data(), secret.size());
    unsigned short *d_noise = device_copy_of(noise.data(), noise.size());
    unsigned short *d_shares = device_array<unsigned short>((size_t)words * heirs);
    int blocks = std::min(132 * 8, (words + BLOCK - 1) / BLOCK);
    pair_time(&p, [&] { split<<<blocks, BLOCK>>>(d_secret, d_noise, d_shares, words, heirs, prime); });
    std::vector<unsigned short> shares = host_copy_of(d_shares, (size_t)words * heirs);
    for (int w = 0; w < words; w += p.small ? 1 : 37)
        for (int heir = 0; heir < heirs; heir++) {
            unsigned long long value = 0;
            for (int k = NEEDED - 1; k >= 0; k--)
                value = (value * (heir + 1) + (k ? noise[(size_t)(k - 1) * words + w] : secret[w])) % prime;
            size_t at = (size_t)heir * words + w;
            pair_near(&p, "share", at, (double)value, shares[at], 0);
        }
    return pair_end(&p);
}
