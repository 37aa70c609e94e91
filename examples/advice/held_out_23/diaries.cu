// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 26 blocks share a diary, not one block a diary.
// Why: there are only 40 diaries, and 40 blocks leave most of the SMs idle and the memory waiting.
#include "../common.h"

enum { BLOCK = 256, KEY = 32 };

#ifdef AFTER
enum { SHARES = 26 };
#else
enum { SHARES = 1 };
#endif

// One character, written with one letter of the key; all but small letters stands as it is.
__host__ __device__ inline unsigned char read_one(unsigned char c, unsigned char key) {
    unsigned letter = c - 'a';
    if (letter >= 26)
        return c;
    letter = letter >= key ? letter - key : letter + 26 - key;
    return (unsigned char)('a' + letter);
}

// Deciphers diaries, each of which was written with a key word of its own.
__global__ void decipher(const uchar4 *secret, uchar4 *plain, const unsigned char *keys, int quads) {
    __shared__ unsigned char key[KEY];
    if (threadIdx.x < KEY)
        key[threadIdx.x] = keys[blockIdx.x * KEY + threadIdx.x];
    __syncthreads();
    const uchar4 *from = secret + (size_t)blockIdx.x * quads;
    uchar4 *to = plain + (size_t)blockIdx.x * quads;
    for (int i = blockIdx.y * BLOCK + threadIdx.x; i < quads; i += gridDim.y * BLOCK) {
        uchar4 c = from[i];
        int k = i % (KEY / 4) * 4;
        c.x = read_one(c.x, key[k]);
        c.y = read_one(c.y, key[k + 1]);
        c.z = read_one(c.z, key[k + 2]);
        c.w = read_one(c.w, key[k + 3]);
        to[i] = c;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "diaries");
    int diaries = p.small ? 3 : 40, length = p.small ? 32768 : 3000000, quads = length / 4;
    size_t n = (size_t)diaries * length;
    std::vector<unsigned char> secret(n), keys(diaries * KEY);
    unsigned seed = 1;
    for (unsigned char &c : secret) {
        unsigned any = lcg_next(&seed, 32);
        c = (unsigned char)(any < 26 ? 'a' + any : any < 31 ? ' ' : '\n');
    }
    lcg_fill(keys.data(), keys.size(), 2, 26);
    unsigned char *d_secret = device_copy_of(secret.data(), n), *d_keys = device_copy_of(keys.data(), keys.size()),
                  *d_plain = device_array<unsigned char>(n);
    dim3 grid(diaries, SHARES);
    pair_time(&p, [&] { decipher<<<grid, BLOCK>>>((const uchar4 *)d_secret, (uchar4 *)d_plain, d_keys, quads); });
    std::vector<unsigned char> plain = host_copy_of(d_plain, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 7) {
        size_t diary = i / length, k = i % length % KEY;
        pair_near(&p, "plain", i, read_one(secret[i], keys[diary * KEY + k]), plain[i], 0);
    }
    return pair_end(&p);
}
