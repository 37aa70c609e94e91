// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Change: which colours the neighbours have is a mask of bits instead of an array of flags.
// Why: an array that is indexed by a loaded colour lies in local memory.
#include "../common.h"

enum { BLOCK = 128, DEGREE = 12, COLOURS = 32 };

// Speculative first-fit colouring: the least colour that no neighbour has.
__global__ void first_fit_colour(const int *neighbours, const unsigned char *colour, unsigned char *next,
                                 int vertices) {
    int v = blockIdx.x * BLOCK + threadIdx.x;
    if (v >= vertices)
        return;
#ifdef AFTER
    unsigned taken = 0;
    for (int k = 0; k < DEGREE; k++)
        taken |= 1u << colour[neighbours[k * vertices + v]];
    next[v] = __ffs(~taken) - 1;
#else
    bool taken[COLOURS];
    for (int c = 0; c < COLOURS; c++)
        taken[c] = false;
    for (int k = 0; k < DEGREE; k++)
        taken[colour[neighbours[k * vertices + v]]] = true;
    int c = 0;
    while (taken[c])
        c++;
    next[v] = c;
#endif
}

// One round of graph colouring of a mesh whose vertices have twelve neighbours each.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "first_fit_colour");
    int side = p.small ? 256 : 2048, vertices = side * side;
    static const int dx[DEGREE] = {1, -1, 0, 0, 1, 1, -1, -1, 2, -2, 0, 0},
                     dy[DEGREE] = {0, 0, 1, -1, 1, -1, 1, -1, 0, 0, 2, -2};
    std::vector<int> neighbours((size_t)DEGREE * vertices);
    std::vector<unsigned char> colour(vertices);
    unsigned seed = 1;
    for (int v = 0; v < vertices; v++) {
        colour[v] = lcg_next(&seed, 14);
        for (int k = 0; k < DEGREE; k++)
            neighbours[(size_t)k * vertices + v] =
                (v / side + dy[k] + side) % side * side + (v % side + dx[k] + side) % side;
    }
    int *d_neighbours = device_copy_of(neighbours.data(), neighbours.size());
    unsigned char *d_colour = device_copy_of(colour.data(), vertices), *d_next = device_array<unsigned char>(vertices);
    pair_time(&p, [&] {
        first_fit_colour<<<(vertices + BLOCK - 1) / BLOCK, BLOCK>>>(d_neighbours, d_colour, d_next, vertices);
    });
    std::vector<unsigned char> next = host_copy_of(d_next, vertices);
    for (int v = 0; v < vertices; v += 53) {
        unsigned taken = 0;
        for (int k = 0; k < DEGREE; k++)
            taken |= 1u << colour[neighbours[(size_t)k * vertices + v]];
        int c = 0;
        while (taken >> c & 1)
            c++;
        pair_near(&p, "colour", v, c, next[v], 0);
    }
    return pair_end(&p);
}
