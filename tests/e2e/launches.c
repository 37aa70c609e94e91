// SPDX-License-Identifier: Apache-2.0
// A CUDA program as nvcc -cudart shared would make it from `__global__ void scale(float *x, float f, int n)`, but
// written against the ABI, so that the tests need no nvcc.
//     launches FATBIN COUNT [N]   COUNT launches of scale() over N of 1000 elements, "launch K PID" after each
//     launches echo [ARGS...]     its arguments and then its standard input, after one CUDA call
// N beyond 1000 reads out of bounds. Exit code: 0, 3 when a CUDA call failed (its error number is printed).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Dim3 {
    unsigned x, y, z;
} Dim3;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                            void *tid, void *bid, void *block, void *grid, int *warp_size);
int cudaLaunchKernel(const void *host, Dim3 grid, Dim3 block, void **args, size_t shared, void *stream);
int cudaMalloc(void **at, size_t size);
int cudaMemset(void *at, int value, size_t size);
int cudaDeviceSynchronize(void);
int cudaGetDeviceCount(int *count);

enum { ELEMENTS = 1000, BLOCK = 128 };

static struct {
    int magic, version;
    const void *data;
    void *extra;
} wrapper = {0x466243b1, 1, NULL, NULL};

static void check(int error) {
    if (!error) return;
    printf("cuda error %d\n", error);
    exit(3);
}

static void scale(void) {}  // its address stands for the kernel

static void load(const char *path) {
    static char name[] = "_Z5scalePffi";
    FILE *file = fopen(path, "rb");
    void *data = aligned_alloc(8, 1 << 16);
    if (!file || !data || !fread(data, 1, 1 << 16, file)) exit(4);
    fclose(file);
    wrapper.data = data;
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)scale, name, name, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

static void launch(float *x, int n) {
    float factor = 2;
    void *args[] = {&x, &factor, &n};
    Dim3 grid = {(unsigned)(n + BLOCK - 1) / BLOCK, 1, 1}, block = {BLOCK, 1, 1};
    check(cudaLaunchKernel((const void *)scale, grid, block, args, 0, NULL));
    check(cudaDeviceSynchronize());
}

static int echo(int argc, char **argv) {
    int count;
    char buffer[4096];
    size_t size;
    check(cudaGetDeviceCount(&count));
    for (int i = 2; i < argc; i++) printf("<%s>\n", argv[i]);
    while ((size = fread(buffer, 1, sizeof buffer, stdin)) > 0) fwrite(buffer, 1, size, stdout);
    fputs("on stderr\n", stderr);
    return 0;
}

int main(int argc, char **argv) {
    if (argc >= 2 && !strcmp(argv[1], "echo")) return echo(argc, argv);
    if (argc < 3) return 2;
    int count = atoi(argv[2]), n = argc > 3 ? atoi(argv[3]) : ELEMENTS;
    void *x = NULL;
    load(argv[1]);
    check(cudaMalloc(&x, ELEMENTS * sizeof(float)));
    check(cudaMemset(x, 0, ELEMENTS * sizeof(float)));
    for (int i = 1; i <= count; i++) {
        launch(x, n);
        printf("launch %d %d\n", i, (int)getpid());
        fflush(stdout);
    }
    return 0;
}
