// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the 64 rounds of the hash are unrolled.
// Why: which word a round takes is then known when compiling: the message is in registers, not in local memory.
#include "../common.h"

enum { BLOCK = 192, ROUNDS = 64 };

#ifdef AFTER
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

static const unsigned round_words[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__constant__ unsigned device_round_words[ROUNDS];

static __host__ __device__ unsigned turn(unsigned v, int bits) { return v >> bits | v << (32 - bits); }

// One block of SHA-256: changes the state h and the message w.
static __host__ __device__ void sha256_block(unsigned *h, unsigned *w, const unsigned *constants) {
    unsigned a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], last = h[7];
    UNROLL
    for (int t = 0; t < ROUNDS; t++) {
        if (t >= 16) {
            unsigned x = w[(t + 1) % 16], y = w[(t + 14) % 16];
            w[t % 16] += (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[(t + 9) % 16] +
                         (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
        }
        unsigned one = last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g));
        one += constants[t] + w[t % 16];
        unsigned two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        last = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += last;
}

struct Report {
    unsigned last_code;
    int weak;
};

// Electronic padlocks: each day's code comes from a hash of the maker's secret, the padlock's number and the day. A
// code is weak if it has few digits or its second half is its first one.
static __host__ __device__ Report codes_of(unsigned number, int days, const uint4 &secret, const unsigned *constants) {
    Report report = {0, 0};
    for (int day = 0; day < days; day++) {
        unsigned h[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                         0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
        unsigned w[16] = {secret.x, secret.y, secret.z, secret.w, number, (unsigned)day, 1u << 31};
        w[15] = 192;  // bits of the message
        sha256_block(h, w, constants);
        report.last_code = (h[0] ^ h[7]) % 1000000;
        report.weak += report.last_code < 1000 || report.last_code / 1000 == report.last_code % 1000;
    }
    return report;
}

__global__ void __launch_bounds__(BLOCK)
    check_codes(const unsigned *numbers, Report *reports, int padlocks, int days, uint4 secret) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < padlocks)
        reports[i] = codes_of(numbers[i], days, secret, device_round_words);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "padlocks");
    int padlocks = p.small ? 300 : 200000, days = p.small ? 2 : 14;
    uint4 secret = make_uint4(0x27f917b1u, 0xc1da8993u, 0x60e2acaau, 0xa6eb923du);
    std::vector<unsigned> numbers(padlocks);
    lcg_fill(numbers.data(), padlocks, 8, 1 << 24);
    CUDA_CHECK(cudaMemcpyToSymbol(device_round_words, round_words, sizeof round_words));
    unsigned *d_numbers = device_copy_of(numbers.data(), padlocks);
    Report *d_reports = device_array<Report>(padlocks);
    pair_time(&p, [&] {
        check_codes<<<(padlocks + BLOCK - 1) / BLOCK, BLOCK>>>(d_numbers, d_reports, padlocks, days, secret);
    });
    std::vector<Report> reports = host_copy_of(d_reports, padlocks);
    for (int i = 0; i < padlocks; i += p.small ? 1 : 19) {
        Report want = codes_of(numbers[i], days, secret, round_words);
        pair_near(&p, "last code", i, want.last_code, reports[i].last_code, 0);
        pair_near(&p, "weak", i, want.weak, reports[i].weak, 0);
    }
    return pair_end(&p);
}
