// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread takes sixteen letters with one load and one store, not one letter.
// Why: a warp that loads single bytes asks for 32 bytes at a time; with one such request of each warp under way there
// is far too little in flight to keep the memory busy.
#include "../common.h"

enum { BLOCK = 256 };

__host__ __device__ inline unsigned plain(unsigned letter) {
    unsigned lower = letter | 0x20;
    return lower - 'a' < 26u ? lower : ' ';
}

#ifdef AFTER
typedef uint4 Piece;

__device__ inline unsigned plain_four(unsigned four) {
    return plain(four & 255) | plain(four >> 8 & 255) << 8 | plain(four >> 16 & 255) << 16 | plain(four >> 24) << 24;
}

__device__ inline uint4 plain_piece(uint4 piece) {
    return make_uint4(plain_four(piece.x), plain_four(piece.y), plain_four(piece.z), plain_four(piece.w));
}
#else
typedef unsigned char Piece;

__device__ inline unsigned char plain_piece(unsigned char piece) {
    return (unsigned char)plain(piece);
}
#endif

// Before quotations are looked for in a library: all letters become small ones, all else becomes a blank.
__global__ void fold_text(const Piece *text, Piece *folded, size_t pieces) {
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < pieces)
        folded[i] = plain_piece(text[i]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quotations");
    size_t n = p.small ? 16384 : 1 << 27, pieces = n / sizeof(Piece);
    std::vector<unsigned char> text(n);
    lcg_fill(text.data(), n, 1, 128);
    unsigned char *d_text = device_copy_of(text.data(), n), *d_folded = device_array<unsigned char>(n);
    unsigned blocks = (unsigned)((pieces + BLOCK - 1) / BLOCK);
    pair_time(&p, [&] { fold_text<<<blocks, BLOCK>>>((const Piece *)d_text, (Piece *)d_folded, pieces); });
    std::vector<unsigned char> folded = host_copy_of(d_folded, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 11)
        pair_near(&p, "folded", i, plain(text[i]), folded[i], 0);
    return pair_end(&p);
}
