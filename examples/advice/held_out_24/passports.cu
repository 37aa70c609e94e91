// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: all characters are compared and the result collected; the loop is not left at the first that differs.
// Why: most passports match, so the way out saves little, but no load can start before the branch ahead of it.
#include "../common.h"

enum { BLOCK = 512, CHARACTERS = 20 };

// Whether the line that was read contradicts the register; what the reader could not make out ('?') never does.
__host__ __device__ inline bool contradicts(unsigned char read, unsigned char known) {
    return read != known && read != '?';
}

// One thread per passport. The characters are kept by column: all first characters, all second ones, and so on.
__global__ void __launch_bounds__(BLOCK) verify(const unsigned char *lines, const unsigned char *known,
                                                unsigned char *valid, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    bool ok = true;
    for (int c = 0; c < CHARACTERS; c++) {
        size_t at = (size_t)c * n + i;
#ifdef AFTER
        ok &= !contradicts(lines[at], known[at]);
#else
        if (contradicts(lines[at], known[at])) {
            ok = false;
            break;
        }
#endif
    }
    valid[i] = ok;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "passports");
    int n = p.small ? 3000 : 2500 * 1000;
    size_t count = (size_t)n * CHARACTERS;
    std::vector<unsigned char> known(count), lines;
    lcg_fill(known.data(), count, 1, 26);
    for (unsigned char &c : known)
        c += 'A';
    lines = known;
    unsigned seed = 2;
    for (int i = 0; i < n; i++) {  // every eighth has a smudge, every thirtieth a false character
        if (lcg_next(&seed, 8) == 0)
            lines[(size_t)lcg_next(&seed, CHARACTERS) * n + i] = '?';
        if (lcg_next(&seed, 30) == 0)
            lines[(size_t)lcg_next(&seed, CHARACTERS) * n + i] = '0' + lcg_next(&seed, 10);
    }
    unsigned char *d_lines = device_copy_of(lines.data(), count), *d_known = device_copy_of(known.data(), count);
    unsigned char *d_valid = device_array<unsigned char>(n);
    pair_time(&p, [&] { verify<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_lines, d_known, d_valid, n); });
    std::vector<unsigned char> valid = host_copy_of(d_valid, n);
    for (int i = 0; i < n; i += p.small ? 1 : 7) {
        bool ok = true;
        for (int c = 0; c < CHARACTERS; c++)
            ok = ok && !contradicts(lines[(size_t)c * n + i], known[(size_t)c * n + i]);
        pair_near(&p, "valid", i, ok, valid[i], 0);
    }
    return pair_end(&p);
}
