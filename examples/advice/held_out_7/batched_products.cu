// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the matrices lie one after the other, and where one begins is computed, no longer loaded.
// Why: three pointers are loaded and waited for before the first number of a product can be.
#include "../common.h"

enum { BLOCK = 256, SIDE = 8, WORDS = SIDE * SIDE };

// Products of many 8 x 8 matrices, a number by each thread.
#ifdef AFTER
__global__ void batched_products(const float *as, const float *bs, float *cs) {
#else
__global__ void batched_products(const float *const *as, const float *const *bs, float *const *cs) {
#endif
    int i = blockIdx.x * BLOCK + threadIdx.x, matrix = i / WORDS, row = i % WORDS / SIDE, column = i % SIDE;
#ifdef AFTER
    const float *a = as + matrix * WORDS, *b = bs + matrix * WORDS;
    float *c = cs + matrix * WORDS;
#else
    const float *a = as[matrix], *b = bs[matrix];
    float *c = cs[matrix];
#endif
    float sum = 0;
    for (int k = 0; k < SIDE; k++)
        sum += a[row * SIDE + k] * b[k * SIDE + column];
    c[row * SIDE + column] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "batched_products");
    int matrices = p.small ? 1 << 10 : 1 << 18, n = matrices * WORDS;
    std::vector<float> a = random_floats(n, -1, 1, 1), b = random_floats(n, -1, 1, 2);
    float *d_a = device_copy_of(a.data(), n), *d_b = device_copy_of(b.data(), n), *d_c = device_array<float>(n);
#ifdef AFTER
    float *as = d_a, *bs = d_b, *cs = d_c;
#else
    std::vector<float *> pointers(3 * matrices);
    for (int m = 0; m < matrices; m++) {
        pointers[m] = d_a + (size_t)m * WORDS;
        pointers[matrices + m] = d_b + (size_t)m * WORDS;
        pointers[2 * matrices + m] = d_c + (size_t)m * WORDS;
    }
    float **as = device_copy_of(pointers.data(), pointers.size()), **bs = as + matrices, **cs = bs + matrices;
#endif
    pair_time(&p, [&] { batched_products<<<n / BLOCK, BLOCK>>>(as, bs, cs); });
    std::vector<float> c = host_copy_of(d_c, n);
    for (int i = 0; i < n; i += 1009) {
        int first = i / WORDS * WORDS, row = i % WORDS / SIDE, column = i % SIDE;
        double sum = 0;
        for (int k = 0; k < SIDE; k++)
            sum += a[first + row * SIDE + k] * b[first + k * SIDE + column];
        pair_near(&p, "c", i, sum, c[i], 1e-5);
    }
    return pair_end(&p);
}
