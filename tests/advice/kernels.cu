// SPDX-License-Identifier: Apache-2.0
// Kernels with one fault each, for advice_test.c. kernels.ptx: nvcc -arch=compute_75 -lineinfo -ptx kernels.cu

// Neighbouring lanes are a row apart.
extern "C" __global__ void strided(const float *a, float *out, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int c = 0; c < columns; c++) sum += a[row * columns + c];
    out[row] = sum;
}

// All lanes of a warp meet in one bank.
extern "C" __global__ void conflicts(const float *a, float *out, int turns) {
    __shared__ float tile[32][32];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int r = y; r < 32; r += blockDim.x / 32) tile[r][x] = a[r * 32 + x];
    __syncthreads();
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < turns; k++) sum += tile[x][(y + k) & 31];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A constant without f.
extern "C" __global__ void doubles(const float *a, float *out, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    for (int k = 0; k < turns; k++) x = 0.25 * x + 1.0;
    out[i] = x;
}

// Each turn waits for its load.
extern "C" __global__ void rolled(const float *a, float *out, int turns, int pitch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < turns; k++) sum += a[k * pitch + i];
    out[i] = sum;
}

// The load of b starts only behind the barrier.
extern "C" __global__ void late(const float *a, const float *b, float *out) {
    __shared__ float first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) first = a[blockIdx.x];
    __syncthreads();
    out[i] = b[i] * first;
}

// The sum goes through shared memory in each turn, since what is stored might be what is loaded next.
extern "C" __global__ void summed(const float *a, float *out, int turns) {
    __shared__ float tile[32][33];
    int x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < 32; r++) tile[r][x] = a[r * 32 + x];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < turns; k++) tile[x][32] += tile[x][k] * tile[k][x];
    out[blockIdx.x * blockDim.x + x] = tile[x][32];
}

// The stores keep the loads of further turns back.
extern "C" __global__ void kept_back(const float *a, float *out, int turns, int pitch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < turns; k++) out[k * pitch + i] = a[k * pitch + i] * 2;
}

// A flag of a byte decides what a thread has to do: to take four flags at once saves little.
extern "C" __global__ void flagged(const unsigned char *flags, const float *a, float *out, int turns, int pitch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!flags[i]) return;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < turns; k++) sum += a[k * pitch + i];
    out[i] = sum;
}

// The same, several turns at a time: the compiler keeps all stores, and each load behind the one before.
extern "C" __global__ void unrolled_sum(const float *a, float *out, int turns) {
    __shared__ float tile[32][33];
    int x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < 32; r++) tile[r][x] = a[r * 32 + x];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < turns; k++) tile[x][32] += tile[x][k] * tile[k][x];
    out[blockIdx.x * blockDim.x + x] = tile[x][32];
}

// Asks for the size of the grid only to number its threads; a turn needs the one before.
extern "C" __global__ void numbered(const float *a, float *out, int turns) {
    int cta = blockIdx.x + gridDim.x * blockIdx.y, i = cta * blockDim.x + threadIdx.x;
    float x = a[i];
#pragma unroll 1
    for (int k = 0; k < turns; k++) x = x * x - 0.5f;
    out[i] = x;
}

// What is read in every turn, and what is stored in every turn, are two changes.
extern "C" __global__ void twice(const float *a, float *out, const float *scale, int turns, int pitch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < turns; k++) {
        sum += a[k * pitch + i] * scale[i];
        out[i] = sum;
    }
}

// Every second lane has nothing to do.
extern "C" __global__ void odd_lanes(const float *a, float *out, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i & 1) {
        float x = a[i];
#pragma unroll 1
        for (int k = 0; k < turns; k++) x = x * x + 1;
        out[i] = x;
    }
}

__device__ __forceinline__ float row_of(const float *a, int row, int columns) {
    float x = a[row];
#pragma unroll 1
    for (int k = 0; k < columns; k++) x = x * x - 0.5f;
    return x;
}

// One CTA has all four rows: three of them could be others'.
extern "C" __global__ void four_rows(const float *a, float *out, int rows, int columns) {
    float sum = 0;
#pragma unroll 1
    for (int r = blockIdx.x * 4; r < blockIdx.x * 4 + 4; r++) {
        if (r >= rows) break;
        sum += row_of(a, r, columns);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// There is but one row: nothing can be dealt out.
extern "C" __global__ void one_row(const float *a, float *out, int rows, int columns) {
    float sum = 0;
#pragma unroll 1
    for (int r = blockIdx.x; r < rows; r += gridDim.x) sum += row_of(a, r, columns);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// All threads pass the test; of each warp they leave the loop one after the other.
extern "C" __global__ void uneven(const float *a, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
#pragma unroll 1
    for (int k = 0; k < (i & 31) * 8; k++) x = x * 0.5f + 1.0f;
    out[i] = x;
}

// Whom nobody can inline.
__device__ __noinline__ float descend(const float *a, int at, int depth) {
    if (depth == 0) return a[at & 1023];
    return a[at & 1023] + descend(a, at * 5 + 1, depth - 1) * 0.5f;
}
extern "C" __global__ void recursive(const float *a, float *out, int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = descend(a, i, depth);
}
