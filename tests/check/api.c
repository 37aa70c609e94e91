// SPDX-License-Identifier: Apache-2.0
// Planted errors of host programs: `api CASE`, where CASE is one of those below. Written against the ABI of the CUDA
// runtime; the kernel is scale() of tests/binary/one_none.fatbin. Exit code 0, whatever CUDA says.
#include <string.h>

#include "../e2e/scale_kernel.h"

int cudaMallocHost(void **at, size_t size);
int cudaFree(void *at);
int cudaFreeHost(void *at);
int cudaMallocAsync(void **at, size_t size, void *stream);
int cudaFreeAsync(void *at, void *stream);
int cudaMemcpy(void *to, const void *from, size_t size, int kind);

enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, BYTES = 4000 };

static char host[2 * BYTES];

static void scale(float *x, int n) { scale_launch(x, n); }

__attribute__((noinline)) void *make_buffer(size_t bytes) {
    void *at = NULL;
    cudaMalloc(&at, bytes);
    return at;
}

static void good(void) {
    void *a = make_buffer(BYTES), *b = make_buffer(BYTES);
    cudaMemset(a, 0, BYTES);
    cudaMemcpy(b, a, BYTES, ON_DEVICE);
    scale(b, BYTES / 4);
    cudaMemcpy(host, b, BYTES, TO_HOST);
    cudaFree(a);
    cudaFree(b);
}
static void double_free(void) {
    void *a = make_buffer(BYTES);
    cudaFree(a);
    cudaFree(a);
}
static void free_inside(void) {
    char *a = make_buffer(BYTES);
    cudaFree(a + 256);
    cudaFree(a);
}
static void free_of_host_memory(void) { cudaFree(host); }
static void free_async_twice(void) {
    void *a = NULL;
    cudaMallocAsync(&a, BYTES, NULL);
    cudaFreeAsync(a, NULL);
    cudaFreeAsync(a, NULL);
}
static void free_host_twice(void) {
    void *a = NULL;
    cudaMallocHost(&a, BYTES);
    cudaFreeHost(a);
    cudaFreeHost(a);
}
static void copy_too_much(void) {
    void *a = make_buffer(BYTES);
    cudaMemcpy(a, host, BYTES + 4, TO_DEVICE);
    cudaFree(a);
}
static void read_back_too_much(void) {
    void *a = make_buffer(BYTES);
    cudaMemset(a, 0, BYTES);
    cudaMemcpy(host, a, BYTES + 1, TO_HOST);
    cudaFree(a);
}
static void fill_too_much(void) {
    void *a = make_buffer(BYTES);
    cudaMemset(a, 0, BYTES + 256);
    cudaFree(a);
}
static void copy_to_wrong_side(void) { cudaMemcpy(host, host + BYTES, BYTES, TO_DEVICE); }
static void copy_after_free(void) {
    void *a = make_buffer(BYTES);
    cudaFree(a);
    cudaMemcpy(a, host, BYTES, TO_DEVICE);
}
static void launch_after_free(void) {
    void *a = make_buffer(BYTES);
    cudaMemset(a, 0, BYTES);
    cudaFree(a);
    void *b = make_buffer(BYTES);  // must not get the address of the first
    cudaMemset(b, 0, BYTES);
    scale(a, BYTES / 4);
    cudaFree(b);
}
static void launch_on_host_memory(void) { scale((float *)host, 4); }
static void launch_past_end(void) {
    void *a = make_buffer(BYTES);
    cudaMemset(a, 0, BYTES);
    scale(a, BYTES / 4 + 1);
    cudaFree(a);
}
static void uninitialised(void) {
    void *a = make_buffer(BYTES);
    cudaMemset(a, 0, BYTES / 2);
    scale(a, BYTES / 4);
    cudaFree(a);
}
static void uninitialised_copy(void) {
    void *a = make_buffer(BYTES), *b = make_buffer(BYTES);
    cudaMemset(b, 0, BYTES);
    cudaMemcpy(b, a, BYTES, ON_DEVICE);  // b is now as unwritten as a
    scale(b, BYTES / 4);
    cudaFree(a);
    cudaFree(b);
}
static void leak(void) {
    void *a = make_buffer(BYTES), *b = make_buffer(8);
    cudaMemset(a, 0, BYTES);
    cudaFree(b);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"good", good},
             {"double_free", double_free},
             {"free_inside", free_inside},
             {"free_of_host_memory", free_of_host_memory},
             {"free_async_twice", free_async_twice},
             {"free_host_twice", free_host_twice},
             {"copy_too_much", copy_too_much},
             {"read_back_too_much", read_back_too_much},
             {"fill_too_much", fill_too_much},
             {"copy_to_wrong_side", copy_to_wrong_side},
             {"copy_after_free", copy_after_free},
             {"launch_after_free", launch_after_free},
             {"launch_on_host_memory", launch_on_host_memory},
             {"launch_past_end", launch_past_end},
             {"uninitialised", uninitialised},
             {"uninitialised_copy", uninitialised_copy},
             {"leak", leak}};

int main(int argc, char **argv) {
    scale_load("tests/binary/one_none.fatbin");
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name)) return cases[i].run(), 0;
    return 2;
}
