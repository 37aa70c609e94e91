// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: gate, product and quantisation are computed by one kernel instead of three.
// Why: what lies between the three is written to memory and read again, with hardly any arithmetic.
#include "../common.h"

#include <cuda_fp16.h>

enum { BLOCK = 256 };

static __device__ inline float gated(__half gate) {
    float g = __half2float(gate);
    return g / (1.0f + __expf(-g));
}

static __device__ inline signed char quantised(float value, float scale) {
    return (signed char)max(-127, min(127, __float2int_rn(value * scale)));
}

// Between the two products of a language model's layer: the one half of the numbers opens gates for the other half, and
// the result goes on as bytes.
#ifdef AFTER
__global__ void swiglu(const __half *gates, const __half *values, signed char *out, float scale) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = quantised(gated(gates[i]) * __half2float(values[i]), scale);
}
#else
__global__ void open_gates(const __half *gates, __half *opened) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    opened[i] = __float2half(gated(gates[i]));
}

__global__ void multiply(__half *opened, const __half *values) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    opened[i] = __float2half(__half2float(opened[i]) * __half2float(values[i]));
}

__global__ void quantise(const __half *products, signed char *out, float scale) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = quantised(__half2float(products[i]), scale);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "swiglu");
    int tokens = p.small ? 4 : 2048, n = tokens * 11008;
    std::vector<float> numbers = random_floats(2 * (size_t)n, -4, 4, 1);
    std::vector<__half> inputs(numbers.size());
    for (size_t i = 0; i < inputs.size(); i++)
        inputs[i] = __float2half(numbers[i]);
    __half *d_inputs = device_copy_of(inputs.data(), inputs.size()), *d_values = d_inputs + n;
    signed char *d_out = device_array<signed char>(n);
    float scale = 9.0f;
#ifdef AFTER
    pair_time(&p, [&] { swiglu<<<n / BLOCK, BLOCK>>>(d_inputs, d_values, d_out, scale); });
#else
    __half *d_opened = device_array<__half>(n);
    pair_time(&p, [&] {
        open_gates<<<n / BLOCK, BLOCK>>>(d_inputs, d_opened);
        multiply<<<n / BLOCK, BLOCK>>>(d_opened, d_values);
        quantise<<<n / BLOCK, BLOCK>>>(d_opened, d_out, scale);
    });
#endif
    std::vector<signed char> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 97) {
        double g = __half2float(inputs[i]), value = g / (1 + exp(-g)) * __half2float(inputs[(size_t)n + i]) * scale;
        value = std::min(std::max(value, -127.0), 127.0);
        // A value halfway between two bytes may be rounded either way, and products of 16 bits are not exact.
        pair_near(&p, "rounding", i, 0, std::max(fabs(value - out[i]), 0.6) - 0.6, 1e-2);
    }
    return pair_end(&p);
}
