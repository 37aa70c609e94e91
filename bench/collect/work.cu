// SPDX-License-Identifier: Apache-2.0
// Programs whose run time is measured with and without the collector (overhead.py), as long as their count says:
//   work [-c] products N      products of matrices of 1024 x 1024, one after the other, each waited for
//   work [-c] launches N      launches of about 48 us (H200) on one stream, not waited for
//   work [-c] waited N        the same, each waited for
//   work [-c] streams N       steps of stencils on four streams, two launches a stream and step
//   work [-c] short N         the same with stencils of 5 us (H200), as fast as the host can launch them
// -c: the context is made first of all, as frameworks do; otherwise when the inputs are filled. The times at which main
// begins, the context is there, the inputs are on the GPU, the first launch has ended, the last one has and main ends
// (seconds, CLOCK_MONOTONIC) come last.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum { SIDE = 1024, TILE = 32, STREAMS = 4, GRID = 768, ROUNDS = 17000, SHORT = 24, LONG = 480 };

static void check(cudaError_t result) {
    if (result == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(result));
    exit(1);
}

static std::vector<double> times;

static void mark() {
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

__global__ void product(const float *a, const float *b, float *c) {
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < SIDE; k += TILE) {
        ta[threadIdx.y][threadIdx.x] = a[y * SIDE + k + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * SIDE + x];
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        __syncthreads();
    }
    c[y * SIDE + x] = sum;
}

__global__ void iterate(float *values, int rounds) {
    float x = values[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < rounds; i++) x = x * 0.999f + 0.001f;
    values[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void stencil(const float *from, float *to, int rounds) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x == GRID - 1 || y == GRID - 1) return;
    const float *at = from + y * GRID + x;
    float sum = at[0];
    for (int i = 0; i < rounds; i++) sum = 0.2f * (sum + at[-1] + at[1] + at[-GRID] + at[GRID]) + 0.001f * sum;
    to[y * GRID + x] = sum;
}

static std::vector<float> filled(size_t count) {
    std::vector<float> values(count);
    unsigned state = 1;
    for (float &value : values) value = (float)((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f;
    return values;
}

static float *on_device(const std::vector<float> &values) {
    float *copy;
    check(cudaMalloc(&copy, values.size() * sizeof(float)));
    check(cudaMemcpy(copy, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    return copy;
}

static double sum_of(const float *device, size_t count) {
    std::vector<float> values(count);
    double sum = 0;
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (float value : values) sum += value;
    return sum;
}

// The first launch is waited for: what it takes to begin is not the loop's.
template <typename Launch> static void run(int count, bool waited, Launch launch) {
    mark();
    for (int i = 0; i < count; i++) {
        launch();
        if (waited || i == 0) check(cudaDeviceSynchronize());
        if (i == 0) mark();
    }
    check(cudaDeviceSynchronize());
    mark();
}

static void make_context() {
    check(cudaFree(0));
    mark();
}

static double products(int count, bool first) {
    std::vector<float> a = filled(SIDE * SIDE);
    if (!first) make_context();
    float *da = on_device(a), *db = on_device(a), *dc = on_device(a);
    run(count, true, [&] { product<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(da, db, dc); });
    return sum_of(dc, a.size());
}

static double launches(int count, bool first, bool waited) {
    std::vector<float> values = filled(264 * 256);
    if (!first) make_context();
    float *device = on_device(values);
    run(count, waited, [&] { iterate<<<264, 256>>>(device, ROUNDS); });
    return sum_of(device, values.size());
}

static double streams(int count, bool first, int rounds) {
    cudaStream_t of[STREAMS];
    float *grids[STREAMS][2];
    std::vector<float> values = filled(GRID * GRID);
    if (!first) make_context();
    dim3 block(32, 8), blocks(GRID / 32, GRID / 8);
    for (int s = 0; s < STREAMS; s++) {
        check(cudaStreamCreateWithFlags(&of[s], cudaStreamNonBlocking));
        for (float *&grid : grids[s]) grid = on_device(values);
    }
    run(count, false, [&] {
        for (int s = 0; s < STREAMS; s++)
            for (int k = 0; k < 2; k++) stencil<<<blocks, block, 0, of[s]>>>(grids[s][k], grids[s][1 - k], rounds);
    });
    double sum = 0;
    for (auto &grid : grids) sum += sum_of(grid[0], values.size());
    return sum;
}

int main(int argc, char **argv) {
    mark();
    bool first = argc > 1 && strcmp(argv[1], "-c") == 0;
    const char *what = argc > 1 + first ? argv[1 + first] : "";
    int count = argc > 2 + first ? atoi(argv[2 + first]) : 1;
    if (first) make_context();
    double sum = strcmp(what, "products") == 0   ? products(count, first)
                 : strcmp(what, "launches") == 0 ? launches(count, first, false)
                 : strcmp(what, "waited") == 0   ? launches(count, first, true)
                 : strcmp(what, "streams") == 0  ? streams(count, first, LONG)
                 : strcmp(what, "short") == 0    ? streams(count, first, SHORT)
                                                 : -1;
    if (sum < 0) return fprintf(stderr, "products, launches, waited, streams or short\n"), 2;
    check(cudaGetLastError());
    mark();
    printf("%.9g\ntimes", sum);
    for (double time : times) printf(" %.6f", time);
    printf("\n");
    return 0;
}
