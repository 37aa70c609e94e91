// SPDX-License-Identifier: Apache-2.0
//
// GRAB, section 5, RQ2 and tables 4 and 5: Susan's principle on an image of 512 pixels a row (Smith and Brady): the pixels of
// a 3 x 3 mask that are like its middle. The image has 128 rows here, the paper's 512, to be quick.
enum { WIDTH = 512, HEIGHT = 128, LIMIT = 730 };

__device__ int likeness(const unsigned char *table, int middle, int pixel) { return table[256 + middle - pixel]; }

// Blocks of 128 threads read the image and the table in global memory.
__global__ void susan_basic(const unsigned char *image, const unsigned char *table, int *result) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x, x = pixel % WIDTH, y = pixel / WIDTH, n = 100;
    if (x < 1 || y < 1 || x >= WIDTH - 1 || y >= HEIGHT - 1)
        return;
#pragma unroll 1
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll 1
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                n += likeness(table, image[pixel], image[pixel + dy * WIDTH + dx]);
    if (n <= LIMIT)
        result[pixel] = LIMIT - n;
}

// A block for each row, with the three rows and the table in shared memory.
__global__ void susan_modified(const unsigned char *image, const unsigned char *table, int *result) {
    __shared__ unsigned char rows[3][WIDTH], copy[WIDTH];
    int x = threadIdx.x, y = blockIdx.x, n = 100;
    if (y < 1 || y >= HEIGHT - 1)
        return;
    for (int i = 0; i < 3; i++)
        rows[i][x] = image[(y + i - 1) * WIDTH + x];
    copy[x] = table[x];
    __syncthreads();
    if (x < 1 || x >= WIDTH - 1)
        return;
#pragma unroll 1
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll 1
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                n += likeness(copy, rows[1][x], rows[1 + dy][x + dx]);
    if (n <= LIMIT)
        result[y * WIDTH + x] = LIMIT - n;
}
