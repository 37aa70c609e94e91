// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: blocks of 128 threads instead of 1024.
// Why: 264 of the 296 large blocks run at once on 132 multiprocessors; then 32 multiprocessors have one more each while
// all others are idle. Small blocks spread what is left at the end over all of them.
#include "../common.h"

#include <cstdint>

#ifdef AFTER
enum { BLOCK = 128 };
#else
enum { BLOCK = 1024 };
#endif
enum { THREADS_PER_SM = 2048 };

struct Key {
    uint64_t left, right;
};

__host__ __device__ inline uint64_t rotated(uint64_t v, int by) { return v << by | v >> (64 - by); }

// The password's two words stretched: rounds of addition, rotation and exclusive or, of the words with a round key that
// changes in the same way.
__host__ __device__ inline Key stretched(Key word, Key salt, int rounds) {
    uint64_t a = word.left ^ salt.right, b = word.right, k = salt.left, l = salt.right ^ word.right;
    for (int r = 0; r < rounds; r++) {
        a = (rotated(a, 56) + b) ^ k;
        b = rotated(b, 3) ^ a;
        l = (rotated(l, 56) + k) ^ (uint64_t)r;
        k = rotated(k, 3) ^ l;
    }
    Key key = {a ^ salt.left, b ^ l};
    return key;
}

// One thread per password; all the same number of rounds.
__global__ void __launch_bounds__(BLOCK, THREADS_PER_SM / BLOCK)
    stretch(const uint64_t *left, const uint64_t *right, Key salt, uint64_t *keys, unsigned *weak, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Key word = {left[i], right[i]};
    Key key = stretched(word, salt, rounds);
    keys[2 * i] = key.left;
    keys[2 * i + 1] = key.right;
    weak[i] = word.right == 0;  // no more than eight characters
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "passwords");
    int n = p.small ? 2048 : 296 * 1024, rounds = p.small ? 12 : 500;
    Key salt = {0x5bd1e9955bd1e995ull, 0x9e3779b97f4a7c15ull};
    std::vector<uint64_t> left(n), right(n);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        int length = 5 + lcg_next(&seed, 12);  // 5 to 16 characters
        for (int c = 0; c < length; c++)
            (c < 8 ? left : right)[i] |= (uint64_t)('a' + lcg_next(&seed, 26)) << c % 8 * 8;
    }
    uint64_t *d_left = device_copy_of(left.data(), n), *d_right = device_copy_of(right.data(), n);
    uint64_t *d_keys = device_array<uint64_t>(2 * (size_t)n);
    unsigned *d_weak = device_array<unsigned>(n);
    pair_time(&p, [&] {
        stretch<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_left, d_right, salt, d_keys, d_weak, n, rounds);
    });
    std::vector<uint64_t> keys = host_copy_of(d_keys, 2 * (size_t)n);
    std::vector<unsigned> weak = host_copy_of(d_weak, n);
    for (int i = 0; i < n; i += p.small ? 1 : 37) {
        Key want = stretched({left[i], right[i]}, salt, rounds);
        // In halves, which a double holds exactly.
        pair_near(&p, "left high", i, (double)(want.left >> 32), (double)(keys[2 * i] >> 32), 0);
        pair_near(&p, "left low", i, (double)(uint32_t)want.left, (double)(uint32_t)keys[2 * i], 0);
        pair_near(&p, "right high", i, (double)(want.right >> 32), (double)(keys[2 * i + 1] >> 32), 0);
        pair_near(&p, "right low", i, (double)(uint32_t)want.right, (double)(uint32_t)keys[2 * i + 1], 0);
        pair_near(&p, "weak", i, right[i] == 0, weak[i], 0);
    }
    return pair_end(&p);
}
