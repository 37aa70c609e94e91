// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the volume is one array and a voxel's place is computed, instead of being looked up in a table of bricks.
// Why: each sample waits for its brick's offset before its own load can start.
#include "../common.h"

enum { BLOCK_X = 32, BLOCK_Y = 4, BRICK = 8 };

// Maximum intensity projection along slanted rays through a volume of bytes.
__global__ void mip_bricks(const unsigned char *voxels, const int *bricks, unsigned char *out, int side, float slant) {
    int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    unsigned top = 0;
    for (int z = 0; z < side; z++) {
        int sx = (x + (int)(slant * z)) & (side - 1);
#ifdef AFTER
        size_t at = ((size_t)z * side + y) * side + sx;
#else
        int per_side = side / BRICK;
        int brick = bricks[(z / BRICK * per_side + y / BRICK) * per_side + sx / BRICK];
        size_t at = (size_t)brick * BRICK * BRICK * BRICK + (z % BRICK * BRICK + y % BRICK) * BRICK + sx % BRICK;
#endif
        top = max(top, (unsigned)voxels[at]);
    }
    out[y * side + x] = top;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "mip_bricks");
    int side = p.small ? 64 : 512, per_side = side / BRICK, bricks = per_side * per_side * per_side;
    size_t n = (size_t)side * side * side;
    std::vector<unsigned char> volume(n);
    lcg_fill(volume.data(), n, 1, 250);
    std::vector<int> table(bricks);
    for (int b = 0; b < bricks; b++)
        table[b] = b;
    unsigned seed = 2;
    for (int b = bricks - 1; b > 0; b--)
        std::swap(table[b], table[lcg_next(&seed, b + 1)]);
    std::vector<unsigned char> voxels(n);
#ifdef AFTER
    voxels = volume;
#else
    for (size_t i = 0; i < n; i++) {
        int x = i % side, y = i / side % side, z = (int)(i / side / side);
        int brick = table[(z / BRICK * per_side + y / BRICK) * per_side + x / BRICK];
        voxels[(size_t)brick * BRICK * BRICK * BRICK + (z % BRICK * BRICK + y % BRICK) * BRICK + x % BRICK] = volume[i];
    }
#endif
    unsigned char *d_voxels = device_copy_of(voxels.data(), n), *d_out = device_array<unsigned char>(side * side);
    int *d_table = device_copy_of(table.data(), bricks);
    const float slant = 0.4375f;
    pair_time(&p, [&] {
        mip_bricks<<<dim3(side / BLOCK_X, side / BLOCK_Y), dim3(BLOCK_X, BLOCK_Y)>>>(d_voxels, d_table, d_out, side,
                                                                                     slant);
    });
    std::vector<unsigned char> out = host_copy_of(d_out, side * side);
    for (int i = 0; i < side * side; i += 331) {
        int top = 0;
        for (int z = 0; z < side; z++)
            top = std::max(
                top, (int)volume[((size_t)z * side + i / side) * side + ((i % side + (int)(slant * z)) & (side - 1))]);
        pair_near(&p, "pixel", i, top, out[i], 0);
    }
    return pair_end(&p);
}
