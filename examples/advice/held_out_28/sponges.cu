// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: a voxel's phase is a byte instead of an int.
// Why: there are six phases; the scan, which is all that the kernel reads, has a quarter of the bytes.
#include "../common.h"

#ifdef AFTER
typedef unsigned char Phase;
#else
typedef int Phase;
#endif

enum { PORE = 0, WIDE = 64, HIGH = 4 };

// For each column of a tomogram: how many faces between pore and solid its voxels have, to +x, +y and +z.
__global__ void __launch_bounds__(WIDE *HIGH)
    sponges(const Phase *__restrict__ scan, unsigned short *__restrict__ faces, int nx, int ny, int nz) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (x >= nx - 1 || y >= ny - 1)
        return;
    size_t slice = (size_t)nx * ny, at = (size_t)y * nx + x;
    unsigned count = 0;
    bool pore = scan[at] == PORE;
#pragma unroll 4
    for (int z = 0; z < nz - 1; z++) {
        bool right = scan[at + 1] == PORE, above = scan[at + nx] == PORE, behind = scan[at + slice] == PORE;
        count += (pore != right) + (pore != above) + (pore != behind);
        pore = behind;
        at += slice;
    }
    faces[y * nx + x] = (unsigned short)count;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sponges");
    int nx = p.small ? 70 : 704, ny = p.small ? 30 : 384, nz = p.small ? 12 : 280;
    size_t slice = (size_t)nx * ny;
    std::vector<Phase> scan(slice * nz);
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                unsigned h = (x / 5) * 73856093u ^ (y / 4) * 19349663u ^ (z / 3) * 83492791u;
                h = (h ^ h >> 13) * 2654435761u;
                scan[z * slice + (size_t)y * nx + x] = (Phase)((h >> 20) % 6);
            }
    Phase *d_scan = device_copy_of(scan.data(), scan.size());
    unsigned short *d_faces = device_array<unsigned short>(slice);
    CUDA_CHECK(cudaMemset(d_faces, 0, slice * sizeof(unsigned short)));
    dim3 block(WIDE, HIGH), grid((nx + WIDE - 1) / WIDE, (ny + HIGH - 1) / HIGH);
    pair_time(&p, [&] { sponges<<<grid, block>>>(d_scan, d_faces, nx, ny, nz); });
    std::vector<unsigned short> faces = host_copy_of(d_faces, slice);
    for (int y = 0; y < ny - 1; y += 1 + ny / 40)
        for (int x = 0; x < nx - 1; x += 1 + nx / 60) {
            int count = 0;
            for (int z = 0; z < nz - 1; z++) {
                size_t at = z * slice + (size_t)y * nx + x;
                bool pore = scan[at] == PORE;
                count += (pore != (scan[at + 1] == PORE)) + (pore != (scan[at + nx] == PORE)) +
                         (pore != (scan[at + slice] == PORE));
            }
            pair_near(&p, "faces", (size_t)y * nx + x, count, faces[(size_t)y * nx + x], 0);
        }
    return pair_end(&p);
}
