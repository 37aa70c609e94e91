// SPDX-License-Identifier: Apache-2.0
// How the texels of a CUDA array lie in memory: one thread fetches texel (0, 0) and then (x, y); the second is soon there
// if it lies in the same sector. `texture_layout counted` only makes the launches that counters.sh measures (ncu): warps
// that fetch rows, columns, tiles and diagonals.
#include <cstring>

#include "micro.h"

enum { SIDE = 64, SIZE = 1024, NEAR = 200 };  // cycles: between the L1's latency and the L2's

template <typename T> static __device__ unsigned first_of(T v) { return *(unsigned char *)&v; }

template <typename T> __global__ void pairs(cudaTextureObject_t tex, int x0, int y0, int x, int y, int *cycles) {
    unsigned sum = first_of(tex2D<T>(tex, x0 + 0.5f, y0 + 0.5f));
    sum = __shfl_sync(1, sum, 0);
    i64 begin = now();
    unsigned v = first_of(tex2D<T>(tex, x + 0.5f + (sum == 255), y + 0.5f));
    i64 end = now() + (v == 255);
    *cycles = (int)(end - begin);
}

__global__ void read_all(const uint4 *data, size_t count, unsigned *out) {
    unsigned sum = 0;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i < count; i += (size_t)blockDim.x * gridDim.x) sum += __ldcg(data + i).x;
    if (sum == 12345) *out = sum;
}

template <typename T> static cudaTextureObject_t texture(cudaTextureFilterMode filter) {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    void *zeros = calloc(SIZE * SIZE, sizeof(T));
    CHECK(cudaMallocArray(&array, &format, SIZE, SIZE));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, zeros, SIZE * sizeof(T), SIZE * sizeof(T), SIZE, cudaMemcpyHostToDevice));
    free(zeros);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.filterMode = filter;
    cudaTextureObject_t tex;
    CHECK(cudaCreateTextureObject(&tex, &resource, &how, NULL));
    return tex;
}

static int *cycles;
static unsigned *sink;
static uint4 *big;

// Texels that are there soon after (x0, y0): a line of marks for each row that has some.
template <typename T> static void show_near(const char *name, int x0, int y0) {
    static int found[SIDE * SIDE];
    cudaTextureObject_t tex = texture<T>(cudaFilterModePoint);
    for (int round = 0; round < 2; round++)  // the first brings all into the L2
        for (int i = 0; i < SIDE * SIDE; i++) pairs<T><<<1, 1>>>(tex, x0, y0, i % SIDE, i / SIDE, cycles + i);
    CHECK(cudaMemcpy(found, cycles, sizeof found, cudaMemcpyDeviceToHost));
    for (int y = 0; y < SIDE; y++) {
        char row[SIDE + 1] = "";
        int any = 0, end = 0;
        for (int x = 0; x < SIDE; x++) {
            bool near = found[y * SIDE + x] < NEAR;
            row[x] = near ? '#' : '.';
            any += near;
            if (near) end = x + 1;
        }
        row[end] = 0;
        if (any) printf("texture/near/%s/%d,%d\t%d\ttexels\trow %d: %s\n", name, x0, y0, any, y, row);
    }
    printf("texture/latency/%s\t%d\tcycles\tfrom the L2; %d for the same texel\n", name, found[SIDE * SIDE - 1], found[y0 * SIDE + x0]);
}

// Which sectors come from DRAM together: latency of (x, y) after (0, 0), the L2 emptied before; a mark for each sector.
template <typename T> static void show_fetched(const char *name, int width, int height) {
    cudaTextureObject_t tex = texture<T>(cudaFilterModePoint);
    for (int y = 0; y < 32; y += height) {
        char row[SIDE + 1] = "";
        int any = 0, n = 0;
        for (int x = 0; x < width * 8; x += width) {
            int t;
            read_all<<<264, 1024>>>(big, (96u << 20) / 16, sink);
            pairs<T><<<1, 1>>>(tex, 0, 0, x, y, cycles);
            CHECK(cudaMemcpy(&t, cycles, sizeof t, cudaMemcpyDeviceToHost));
            row[n++] = t < NEAR ? '#' : t < 500 ? '+' : '.';
            any += t < 500;
        }
        printf("texture/fetched/%s\t%d\tsectors\trow %d: %s\n", name, any, y, row);
    }
}

// --- counted ---------------------------------------------------------------------------------------------------------
typedef struct Walk {
    int dx, dy, wrap, row;  // lane l: (l % wrap * dx, l / wrap * row + l % wrap * dy)
    int steps, sx, sy;
} Walk;

template <typename T> __global__ void walk(cudaTextureObject_t tex, Walk w, unsigned *out) {
    int l = threadIdx.x, x = l % w.wrap * w.dx, y = l / w.wrap * w.row + l % w.wrap * w.dy;
    unsigned sum = 0;
    for (int i = 0; i < w.steps; i++) {
        sum += first_of(tex2D<T>(tex, x + i * w.sx + 0.5f + (sum == 12345), y + i * w.sy + 0.5f));
        sum = __reduce_add_sync(~0u, sum);
    }
    if (sum == 12345) *out = sum;
}

template <typename T> static void walks(const char *name, cudaTextureFilterMode filter) {
    static const struct { const char *name; Walk walk; } forms[] = {
        {"row", {1, 0, 32, 0, 1, 0, 0}}, {"column", {0, 1, 32, 0, 1, 0, 0}}, {"8x4", {1, 0, 8, 1, 1, 0, 0}}, {"4x8", {1, 0, 4, 1, 1, 0, 0}},
        {"16x2", {1, 0, 16, 1, 1, 0, 0}}, {"2x16", {1, 0, 2, 1, 1, 0, 0}}, {"diagonal", {1, 1, 32, 0, 1, 0, 0}}, {"every_16th", {16, 0, 32, 0, 1, 0, 0}},
        {"one_texel", {0, 0, 32, 0, 1, 0, 0}}, {"row_16_down", {1, 0, 32, 0, 16, 0, 1}}, {"column_16_right", {0, 1, 32, 0, 16, 1, 0}},
        {"column_8_right_by_8", {0, 1, 32, 0, 8, 8, 0}}, {"one_texel_32_right", {0, 0, 32, 0, 32, 1, 0}}, {"diagonal_16_right", {1, 1, 32, 0, 16, 1, 0}}};
    cudaTextureObject_t tex = texture<T>(filter);
    for (auto &f : forms) {
        walk<T><<<1, 32>>>(tex, f.walk, sink);
        CHECK(cudaDeviceSynchronize());
        printf("walk\t%s\t%s\t%s\n", name, filter == cudaFilterModePoint ? "point" : "linear", f.name);
    }
}

int main(int argc, char **argv) {
    CHECK(cudaMalloc(&cycles, SIDE * SIDE * sizeof *cycles));
    CHECK(cudaMalloc(&sink, 4096));
    if (argc > 1 && !strcmp(argv[1], "counted")) {
        walks<float>("4", cudaFilterModePoint);
        walks<float>("4", cudaFilterModeLinear);
        walks<float4>("16", cudaFilterModePoint);
        walks<unsigned char>("1", cudaFilterModePoint);
        walks<float2>("8", cudaFilterModePoint);
        return 0;
    }
    CHECK(cudaMalloc(&big, 96 << 20));
    CHECK(cudaMemset(big, 0, 96 << 20));
    show_near<unsigned char>("1_byte", 0, 0);
    show_near<unsigned short>("2_bytes", 0, 0);
    show_near<float>("4_bytes", 0, 0);
    show_near<float>("4_bytes", 21, 13);
    show_near<float2>("8_bytes", 0, 0);
    show_near<float4>("16_bytes", 0, 0);
    show_fetched<float>("4_bytes", 4, 1);
    show_fetched<float4>("16_bytes", 1, 1);
    return 0;
}
