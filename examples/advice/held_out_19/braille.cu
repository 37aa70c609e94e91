// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread loads and stores its four characters at once.
// Why: it does so one by one, each time with an instruction that moves just a byte per lane.
// Also: memory-transactions
#include "../common.h"

enum { BLOCK = 256, EACH = 4, CHUNKS = 4 };

// Text to Braille cells (a bit per dot), and how many dots each warp has to emboss.
__global__ void emboss(const unsigned char *text, unsigned char *cells, const unsigned char *alphabet, unsigned *dots) {
    __shared__ unsigned char letters[256];
    letters[threadIdx.x] = alphabet[threadIdx.x];
    __syncthreads();
    unsigned raised = 0;
    for (int c = 0; c < CHUNKS; c++) {
        size_t i = ((size_t)blockIdx.x * CHUNKS + c) * BLOCK + threadIdx.x;
#ifdef AFTER
        uchar4 four = ((const uchar4 *)text)[i], embossed;
        embossed.x = letters[four.x];
        embossed.y = letters[four.y];
        embossed.z = letters[four.z];
        embossed.w = letters[four.w];
        raised += __popc(embossed.x) + __popc(embossed.y) + __popc(embossed.z) + __popc(embossed.w);
        ((uchar4 *)cells)[i] = embossed;
#else
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            unsigned char cell = letters[text[i * EACH + k]];
            raised += __popc(cell);
            cells[i * EACH + k] = cell;
        }
#endif
    }
    raised = __reduce_add_sync(~0u, raised);
    if (threadIdx.x % 32 == 0)
        dots[blockIdx.x * (BLOCK / 32) + threadIdx.x / 32] = raised;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "braille");
    int blocks = p.small ? 3 : 132 * 128, warps = blocks * (BLOCK / 32);
    size_t n = (size_t)blocks * BLOCK * EACH * CHUNKS;
    std::vector<unsigned char> text(n), alphabet(256);
    unsigned seed = 1;
    for (unsigned char &letter : alphabet)
        letter = lcg_next(&seed, 1 << 16) >> 3 & 255;
    for (unsigned char &character : text) {
        unsigned draw = lcg_next(&seed, 1 << 16);
        character = draw % 6 ? 'a' + (draw >> 4) % 26 : ' ';
    }
    unsigned char *d_text = device_copy_of(text.data(), n), *d_alphabet = device_copy_of(alphabet.data(), 256),
                  *d_cells = device_array<unsigned char>(n);
    unsigned *d_dots = device_array<unsigned>(warps);
    pair_time(&p, [&] { emboss<<<blocks, BLOCK>>>(d_text, d_cells, d_alphabet, d_dots); });
    std::vector<unsigned char> cells = host_copy_of(d_cells, n);
    std::vector<unsigned> dots = host_copy_of(d_dots, warps);
    for (size_t i = 0; i < n; i += p.small ? 1 : 41)
        pair_near(&p, "cell", i, alphabet[text[i]], cells[i], 0);
    for (int w = 0; w < warps; w += p.small ? 1 : 97) {
        unsigned raised = 0;
        for (int c = 0; c < CHUNKS; c++)
            for (int k = 0; k < 32 * EACH; k++) {
                size_t thread = ((size_t)(w / (BLOCK / 32)) * CHUNKS + c) * BLOCK + w % (BLOCK / 32) * 32;
                raised += __builtin_popcount(alphabet[text[thread * EACH + k]]);
            }
        pair_near(&p, "dots", w, raised, dots[w], 0);
    }
    return pair_end(&p);
}
