// SPDX-License-Identifier: Apache-2.0
//
// AerialVision, section III-C, figures 2 and 9: the transposition of NVIDIA's SDK of that time, 256 x 4096 elements in tiles
// of 16 x 16. A row of the result takes 16 KiB, so the writes of all tiles of one column of tiles meet in one channel
// when the channel is bits 8-10 of the address, and move to the next one a tile later when it is bits 6-8.
enum { TILE = 16 };

__global__ void transpose_tiled(float *out, const float *in, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    tile[ty][tx] = in[(y + ty) * width + x + tx];
    __syncthreads();
    out[(x + ty) * height + y + tx] = tile[tx][ty];
}

// The cure in the program instead of the address map: tiles in the order of diagonals.
__global__ void transpose_diagonal(float *out, const float *in, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, block = blockIdx.x + gridDim.x * blockIdx.y;
    int row = block % gridDim.y, x = (block / gridDim.y + row) % gridDim.x * TILE, y = row * TILE;
    tile[ty][tx] = in[(y + ty) * width + x + tx];
    __syncthreads();
    out[(x + ty) * height + y + tx] = tile[tx][ty];
}
