// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the division by an extent that only the host knows becomes a multiplication by a reciprocal computed there.
// Why: there is no instruction for integer division; it is a sequence of some twenty, with a trip through the XU unit.
#include "common.h"

enum { RANK = 5, BLOCK = 256 };

struct Extent {
    unsigned size, magic;  // floor(i / size) == (i * magic) >> 32 >> shift for every i below 2^31
    unsigned shift;
};

struct Shape {
    Extent extent[RANK];    // of the output, fastest first
    unsigned stride[RANK];  // of the input, in the order of the output's dimensions
};

static __device__ unsigned divide(unsigned i, const Extent &e) {
#ifdef AFTER
    return (unsigned)(((unsigned long long)i * e.magic >> 32) + i) >> e.shift;
#else
    return i / e.size;
#endif
}

__global__ void permute(const float *in, float *out, Shape shape, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned rest = i, from = 0;
#pragma unroll
        for (int d = 0; d < RANK; d++) {
            unsigned next = divide(rest, shape.extent[d]);
            from += (rest - next * shape.extent[d].size) * shape.stride[d];
            rest = next;
        }
        out[i] = in[from];
    }
}

// Granlund and Montgomery's round-up multiplier of 33 bits, whose top bit is the "+ i" above.
static Extent extent_of(unsigned size) {
    Extent e = {size, 0, 0};
    while ((1ull << e.shift) < size)
        e.shift++;
    e.magic = (unsigned)(((1ull << 32) * ((1ull << e.shift) - size)) / size + 1);
    return e;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tensor_permute");
    unsigned size[RANK] = {p.small ? 24u : 48u, 15, p.small ? 5u : 27u, 11, 40};  // of the input, fastest first
    int order[RANK] = {0, 3, 1, 4, 2};                                            // out's d is in's order[d]
    unsigned stride[RANK], n = 1;
    for (int d = 0; d < RANK; d++) {
        stride[d] = n;
        n *= size[d];
    }
    Shape shape;
    for (int d = 0; d < RANK; d++) {
        shape.extent[d] = extent_of(size[order[d]]);
        shape.stride[d] = stride[order[d]];
    }
    std::vector<float> in = random_floats(n, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
    pair_time(&p, [&] { permute<<<p.small ? 264 : 1056, BLOCK>>>(d_in, d_out, shape, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (unsigned i = 0; i < n; i += 101) {
        unsigned rest = i, from = 0;
        for (int d = 0; d < RANK; d++) {
            from += rest % size[order[d]] * stride[order[d]];
            rest /= size[order[d]];
        }
        pair_near(&p, "out", i, in[from], out[i], 0);
    }
    return pair_end(&p);
}
