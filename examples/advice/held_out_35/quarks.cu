// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the neighbours of a site are computed from its coordinates, no longer looked up in a table.
// Why: the table is 32 bytes a site, twice as much as all the fields together, and each value of the field waits for
// its entry; in a box with periodic edges a neighbour is one addition and one comparison away.
#include "../common.h"

// The box of space and time, periodic in all four directions; sites are numbered with x fastest.
struct Lattice {
    int length[4];
    int sites;
};

// The number of the neighbour one step up (1) or down (0) in direction mu. neighbours[2 * mu + up][site]
__device__ inline int neighbour(const Lattice &box, const int *__restrict__ neighbours, int site, int at, int mu,
                                int stride, int up) {
#ifdef AFTER
    if (up)
        return at + 1 < box.length[mu] ? site + stride : site - at * stride;
    return at > 0 ? site - stride : site + (box.length[mu] - 1) * stride;
#else
    return neighbours[(size_t)(2 * mu + up) * box.sites + site];
#endif
}

// Staggered quarks in a Z2 gauge field: out = (mass + D) in, D the covariant difference of the neighbours. links[site]:
// bit mu is set where the link up in direction mu turns the sign.
__global__ void quarks(Lattice box, const int *__restrict__ neighbours, const unsigned char *__restrict__ links,
                       const float2 *__restrict__ in, float2 *__restrict__ out, float mass) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z % box.length[2], t = blockIdx.z / box.length[2];
    if (x >= box.length[0] || y >= box.length[1])
        return;
    const int at[4] = {x, y, z, t};
    int site = 0;
    for (int mu = 3; mu >= 0; mu--)
        site = site * box.length[mu] + at[mu];

    const int link = links[site];
    float2 sum = {0, 0};
    int stride = 1, before = 0;
#pragma unroll
    for (int mu = 0; mu < 4; mu++) {
        const int up = neighbour(box, neighbours, site, at[mu], mu, stride, 1);
        const int down = neighbour(box, neighbours, site, at[mu], mu, stride, 0);
        const float phase = before & 1 ? -0.5f : 0.5f;  // the staggered one
        const float along = link >> mu & 1 ? -phase : phase, back = links[down] >> mu & 1 ? -phase : phase;
        const float2 ahead = in[up], behind = in[down];
        sum.x += along * ahead.x - back * behind.x;
        sum.y += along * ahead.y - back * behind.y;
        before += at[mu];
        stride *= box.length[mu];
    }
    const float2 own = in[site];
    out[site] = {mass * own.x + sum.x, mass * own.y + sum.y};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quarks");
    Lattice box = {{p.small ? 12 : 48, p.small ? 8 : 48, p.small ? 4 : 48, p.small ? 6 : 96}, 1};
    const float mass = 0.05f;
    int stride[4];
    for (int mu = 0; mu < 4; mu++) {
        stride[mu] = box.sites;
        box.sites *= box.length[mu];
    }

    auto step = [&](int site, int mu, int by) {
        const int n = box.length[mu], at = site / stride[mu] % n;
        return site + ((at + by + n) % n - at) * stride[mu];
    };
    std::vector<int> neighbours((size_t)8 * box.sites);
    for (int mu = 0; mu < 4; mu++)
        for (int site = 0; site < box.sites; site++) {
            neighbours[(size_t)(2 * mu) * box.sites + site] = step(site, mu, -1);
            neighbours[(size_t)(2 * mu + 1) * box.sites + site] = step(site, mu, 1);
        }
    std::vector<unsigned char> links(box.sites);
    std::vector<float2> in(box.sites);
    unsigned seed = 1964;
    for (int site = 0; site < box.sites; site++) {
        links[site] = (unsigned char)lcg_next(&seed, 16);
        in[site] = {lcg_next(&seed, 4096) / 2048.0f - 1, lcg_next(&seed, 4096) / 2048.0f - 1};
    }

    int *d_neighbours = device_copy_of(neighbours.data(), neighbours.size());
    unsigned char *d_links = device_copy_of(links.data(), box.sites);
    float2 *d_in = device_copy_of(in.data(), box.sites), *d_out = device_array<float2>(box.sites);
    const dim3 block(box.length[0], 4), grid(1, (box.length[1] + 3) / 4, box.length[2] * box.length[3]);
    pair_time(&p, [&] { quarks<<<grid, block>>>(box, d_neighbours, d_links, d_in, d_out, mass); });

    std::vector<float2> out = host_copy_of(d_out, box.sites);
    for (int site = 0; site < box.sites; site += p.small ? 7 : 4999) {
        double re = (double)mass * in[site].x, im = (double)mass * in[site].y;
        int before = 0;
        for (int mu = 0; mu < 4; mu++) {
            for (int by = -1; by <= 1; by += 2) {
                const int other = step(site, mu, by);
                const int link = links[by > 0 ? site : other] >> mu & 1;
                const double sign = ((before + link) & 1 ? -0.5 : 0.5) * by;
                re += sign * in[other].x;
                im += sign * in[other].y;
            }
            before += site / stride[mu] % box.length[mu];
        }
        pair_near(&p, "re", site, re, out[site].x, 1e-4);
        pair_near(&p, "im", site, im, out[site].y, 1e-4);
    }
    return pair_end(&p);
}
