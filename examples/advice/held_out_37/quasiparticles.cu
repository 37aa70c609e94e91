// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the eight neighbours of a lattice site are computed from its coordinates instead of read from a table.
// Why: the table is as large as the field and the links that one application reads, and every load of the field has
// to wait for the load of its index; on a regular periodic lattice a few integer instructions give the same number.
#include "../common.h"

// Fermionic quasiparticles in a U(1) gauge field on a periodic four-dimensional lattice (x fastest, t slowest).
constexpr int LX = 32, LY = 32;
constexpr int ROWS = 8;  // rows of x in a CTA

struct Lattice {
    int lz, lt, sites;
    const int *neighbours;  // [8][sites]: forward x, y, z, t, backward x, y, z, t
};

__host__ __device__ inline float2 add_times(float2 sum, float scale, float2 a, float2 b) {
    sum.x += scale * (a.x * b.x - a.y * b.y);
    sum.y += scale * (a.x * b.y + a.y * b.x);
    return sum;
}

__host__ __device__ inline float2 add_conjugate_times(float2 sum, float scale, float2 a, float2 b) {
    sum.x += scale * (a.x * b.x + a.y * b.y);
    sum.y += scale * (a.x * b.y - a.y * b.x);
    return sum;
}

// out = mass * field + 1/2 sum over mu of eta_mu(s) (U_mu(s) field(s + mu) - U_mu(s - mu)^* field(s - mu))
__global__ void __launch_bounds__(LX *ROWS)
    apply_dirac(float2 *__restrict__ out, const float2 *__restrict__ field, const float2 *__restrict__ links,
                Lattice lattice, float mass) {
    int x = threadIdx.x, y = blockIdx.x * ROWS + threadIdx.y, z = blockIdx.y, t = blockIdx.z;
    int site = ((t * lattice.lz + z) * LY + y) * LX + x;
#ifdef AFTER
    const int strides[4] = {1, LX, LX * LY, LX * LY * lattice.lz};
    const int extents[4] = {LX, LY, lattice.lz, lattice.lt};
    const int coordinates[4] = {x, y, z, t};
#endif
    const float eta[4] = {1.0f, x & 1 ? -1.0f : 1.0f, (x + y) & 1 ? -1.0f : 1.0f, (x + y + z) & 1 ? -1.0f : 1.0f};
    float2 here = field[site];
    float2 sum = make_float2(mass * here.x, mass * here.y);
#pragma unroll
    for (int mu = 0; mu < 4; mu++) {
#ifdef AFTER
        int wrap = (extents[mu] - 1) * strides[mu];
        int forward = coordinates[mu] == extents[mu] - 1 ? site - wrap : site + strides[mu];
        int backward = coordinates[mu] == 0 ? site + wrap : site - strides[mu];
#else
        int forward = lattice.neighbours[mu * lattice.sites + site];
        int backward = lattice.neighbours[(4 + mu) * lattice.sites + site];
#endif
        const float2 *link = links + (size_t)mu * lattice.sites;
        sum = add_times(sum, 0.5f * eta[mu], link[site], field[forward]);
        sum = add_conjugate_times(sum, -0.5f * eta[mu], link[backward], field[backward]);
    }
    out[site] = sum;
}

static std::vector<int> make_neighbours(int lz, int lt) {
    const int extents[4] = {LX, LY, lz, lt};
    int sites = LX * LY * lz * lt;
    std::vector<int> table(8 * (size_t)sites);
    for (int mu = 0, stride = 1; mu < 4; stride *= extents[mu++]) {
        for (int site = 0; site < sites; site++) {
            int at = site / stride % extents[mu], wrap = (extents[mu] - 1) * stride;
            table[(size_t)mu * sites + site] = at == extents[mu] - 1 ? site - wrap : site + stride;
            table[(size_t)(4 + mu) * sites + site] = at == 0 ? site + wrap : site - stride;
        }
    }
    return table;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quasiparticles");
    Lattice lattice = {p.small ? 2 : 64, p.small ? 2 : 64, 0, NULL};
    lattice.sites = LX * LY * lattice.lz * lattice.lt;
    size_t sites = lattice.sites;
    const float mass = 0.25f;

    unsigned seed = 11;
    std::vector<float2> phases(4096), links(4 * sites), field(sites);
    for (size_t i = 0; i < phases.size(); i++)
        phases[i] = make_float2(cosf(6.2831853f * i / phases.size()), sinf(6.2831853f * i / phases.size()));
    for (float2 &link : links)
        link = phases[lcg_next(&seed, 4096)];
    for (float2 &value : field)
        value = make_float2(lcg_next(&seed, 2000) / 1000.0f - 1, lcg_next(&seed, 2000) / 1000.0f - 1);
    std::vector<int> neighbours = make_neighbours(lattice.lz, lattice.lt);

    float2 *d_links = device_copy_of(links.data(), links.size());
    float2 *d_field = device_copy_of(field.data(), sites);
    float2 *d_out = device_array<float2>(sites);
    int *d_neighbours = device_copy_of(neighbours.data(), neighbours.size());
    lattice.neighbours = d_neighbours;

    dim3 grid(LY / ROWS, lattice.lz, lattice.lt), block(LX, ROWS);
    pair_time(&p, [&] { apply_dirac<<<grid, block>>>(d_out, d_field, d_links, lattice, mass); });

    std::vector<float2> out = host_copy_of(d_out, sites);
    for (size_t site = 0; site < sites; site += p.small ? 1 : 997) {
        int x = site % LX, y = site / LX % LY, z = site / (LX * LY) % lattice.lz;
        const int parity[4] = {0, x, x + y, x + y + z};
        float2 sum = make_float2(mass * field[site].x, mass * field[site].y);
        for (int mu = 0; mu < 4; mu++) {
            float half = parity[mu] & 1 ? -0.5f : 0.5f;
            int forward = neighbours[mu * sites + site], backward = neighbours[(4 + mu) * sites + site];
            sum = add_times(sum, half, links[mu * sites + site], field[forward]);
            sum = add_conjugate_times(sum, -half, links[mu * sites + backward], field[backward]);
        }
        pair_near(&p, "real", site, sum.x, out[site].x, 1e-4);
        pair_near(&p, "imaginary", site, sum.y, out[site].y, 1e-4);
    }
    CUDA_CHECK(cudaFree(d_links));
    CUDA_CHECK(cudaFree(d_field));
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_neighbours));
    return pair_end(&p);
}
