// SPDX-License-Identifier: Apache-2.0
// A CUDA program as nvcc -cudart shared would make it from `__global__ void scale(float *x, float f, int n)`, but
// written against the ABI, so that the tests need no nvcc.
//     launches FATBIN COUNT [N [abort]]   COUNT launches of scale() over N of 1000 elements, "launch K PID" after each
//     launches echo [ARGS...]             its arguments and then its standard input, after one CUDA call
// N beyond 1000 reads out of bounds. Exit code: 0, 3 when a CUDA call failed (its error number is printed).
#include <string.h>
#include <unistd.h>

#include "scale_kernel.h"

int cudaGetDeviceCount(int *count);

enum { ELEMENTS = 1000 };

static void check(int error) {
    if (!error) return;
    printf("cuda error %d\n", error);
    exit(3);
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
    scale_load(argv[1]);
    check(cudaMalloc(&x, ELEMENTS * sizeof(float)));
    check(cudaMemset(x, 0, ELEMENTS * sizeof(float)));
    for (int i = 1; i <= count; i++) {
        check(scale_launch(x, n));
        printf("launch %d %d\n", i, (int)getpid());
        fflush(stdout);
    }
    if (argc > 4) abort();
    return 0;
}
