// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the test whether an atom lies inside the receptor's box is left out; the margin around the box holds zeros.
// Why: six comparisons and a branch go with each multiplication, and an atom's voxel cannot be fetched before the
// branch is decided.
#include "../common.h"

enum { MARGIN = 12 };

// The receptor as voxels of half an angstrom: 1 in the layer at its surface, -15 inside, 0 in the solvent. `voxels`
// points at the first one inside the margin.
struct Receptor {
    const signed char *voxels;
    int nx, ny, nz;    // the box around the receptor
    int pitch, plane;  // from row to row and from plane to plane, margins included
};

// Rigid docking of a toxin in one orientation: its shape complementarity to the receptor (Katchalski-Katzir) for every
// translation. atoms: voxel offsets from the toxin's centre, at most MARGIN each way, and a weight.
__global__ void venoms(Receptor receptor, const int4 *__restrict__ atoms, int count, short *__restrict__ score) {
    const int tx = blockIdx.x * blockDim.x + threadIdx.x;
    const int ty = blockIdx.y * blockDim.y + threadIdx.y;
    const int tz = blockIdx.z * blockDim.z + threadIdx.z;
    if (tx >= receptor.nx || ty >= receptor.ny || tz >= receptor.nz)
        return;
    int fit = 0;
    for (int i = 0; i < count; i++) {
        const int4 atom = atoms[i];
        const int x = tx + atom.x, y = ty + atom.y, z = tz + atom.z;
#ifndef AFTER
        if (x < 0 || x >= receptor.nx || y < 0 || y >= receptor.ny || z < 0 || z >= receptor.nz)
            continue;
#endif
        fit += atom.w * receptor.voxels[z * receptor.plane + y * receptor.pitch + x];
    }
    score[(tz * receptor.ny + ty) * receptor.nx + tx] = (short)max(fit, -32768);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "venoms");
    const int nx = p.small ? 20 : 150, ny = p.small ? 14 : 142, nz = p.small ? 10 : 126, count = p.small ? 17 : 131;

    // The receptor: overlapping spheres along a folded chain.
    Receptor receptor = {NULL, nx, ny, nz, nx + 2 * MARGIN, (nx + 2 * MARGIN) * (ny + 2 * MARGIN)};
    const size_t all = (size_t)receptor.plane * (nz + 2 * MARGIN);
    const size_t origin = (size_t)MARGIN * (receptor.plane + receptor.pitch + 1);
    std::vector<signed char> voxels(all, 0);
    unsigned seed = 1992;
    std::vector<int4> residues(p.small ? 5 : 220);
    int4 chain = {nx / 2, ny / 2, nz / 2, 0};
    for (int4 &r : residues) {
        auto step = [&](int at, int size) {
            const int moved = at + (int)lcg_next(&seed, 17) - 8;
            return std::min(std::max(moved, size / 7), size - 1 - size / 7);
        };
        chain = {step(chain.x, nx), step(chain.y, ny), step(chain.z, nz), p.small ? 4 : 8 + (int)lcg_next(&seed, 3)};
        r = chain;
    }
    for (int shell = 1; shell >= 0; shell--)
        for (const int4 &r : residues) {
            const int radius = r.w - 2 * !shell;
            for (int z = std::max(0, r.z - radius); z <= std::min(nz - 1, r.z + radius); z++)
                for (int y = std::max(0, r.y - radius); y <= std::min(ny - 1, r.y + radius); y++)
                    for (int x = std::max(0, r.x - radius); x <= std::min(nx - 1, r.x + radius); x++) {
                        const int dx = x - r.x, dy = y - r.y, dz = z - r.z;
                        if (dx * dx + dy * dy + dz * dz <= radius * radius)
                            voxels[origin + (size_t)z * receptor.plane + y * receptor.pitch + x] = shell ? 1 : -15;
                    }
        }

    // The toxin: a small knot of atoms; the heavier ones carry more of the shape.
    std::vector<int4> atoms(count);
    for (int4 &a : atoms) {
        auto offset = [&] { return (int)lcg_next(&seed, MARGIN + 1) + (int)lcg_next(&seed, MARGIN + 1) - MARGIN; };
        a = {offset(), offset(), offset(), 1 + (int)lcg_next(&seed, 3) / 2};
    }

    signed char *d_voxels = device_copy_of(voxels.data(), all);
    receptor.voxels = d_voxels + origin;
    int4 *d_atoms = device_copy_of(atoms.data(), count);
    const size_t poses = (size_t)nx * ny * nz;
    short *d_score = device_array<short>(poses);
    const dim3 block(32, 4, 2), grid((nx + 31) / 32, (ny + 3) / 4, (nz + 1) / 2);
    pair_time(&p, [&] { venoms<<<grid, block>>>(receptor, d_atoms, count, d_score); });

    std::vector<short> score = host_copy_of(d_score, poses);
    for (size_t i = 0; i < poses; i += p.small ? 7 : 1009) {
        int fit = 0;
        for (const int4 &a : atoms) {
            const int x = (int)(i % nx) + a.x, y = (int)(i / nx % ny) + a.y, z = (int)(i / nx / ny) + a.z;
            if (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz)
                fit += a.w * voxels[origin + (ptrdiff_t)z * receptor.plane + y * receptor.pitch + x];
        }
        pair_near(&p, "score", i, fit, score[i], 0);
    }
    return pair_end(&p);
}
