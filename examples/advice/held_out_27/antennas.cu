// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: __sincosf and __log2f take the place of sincosf and log2f.
// Why: phases are at most a few turns and a plot in decibels needs three digits; sincosf reduces its argument with care
// and has a slow path for huge ones.
#include "../common.h"

struct Element {
    float x, y;        // in wavelengths
    float phase, gain;  // how it is fed
};

struct Exact {
    static __device__ void turn(float angle, float *s, float *c) { sincosf(angle, s, c); }
    static __device__ float log_2(float x) { return log2f(x); }
};

struct Fast {
    static __device__ void turn(float angle, float *s, float *c) { __sincosf(angle, s, c); }
    static __device__ float log_2(float x) { return __log2f(x); }
};

// Power in decibels that arrays of antennas send into each direction (u, v); the elements of array blockIdx.z are
// elements[first[z]] to elements[first[z + 1]] - 1.
template <typename Math>
__global__ void far_field(const Element *elements, const int *first, float *decibels, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x >= width || y >= width)
        return;
    float u = 6.2831853f * (2.0f * x / width - 1), v = 6.2831853f * (2.0f * y / width - 1);
    float real = 0, imaginary = 0, total = 0;
    for (int k = first[z]; k < first[z + 1]; k++) {
        Element e = elements[k];
        float s, c;
        Math::turn(u * e.x + v * e.y + e.phase, &s, &c);
        real += e.gain * c;
        imaginary += e.gain * s;
        total += e.gain;
    }
    float power = (real * real + imaginary * imaginary) / (total * total);
    decibels[((size_t)z * width + y) * width + x] = 3.0103f * Math::log_2(power + 1e-4f);
}

int main(int argc, char **argv) {
#ifdef AFTER
    typedef Fast Math;
#else
    typedef Exact Math;
#endif
    Pair p = pair_begin(argc, argv, "antennas");
    int width = p.small ? 24 : 520, arrays = p.small ? 2 : 9;
    std::vector<int> first(arrays + 1);
    for (int z = 0; z < arrays; z++)
        first[z + 1] = first[z] + (p.small ? 9 : 33) + 5 * z % 17;
    int count = first[arrays];
    std::vector<float> raw = random_floats((size_t)4 * count, 0, 1, 7);
    std::vector<Element> elements(count);
    for (int k = 0; k < count; k++)
        elements[k] = {3 * raw[4 * k] - 1.5f, 3 * raw[4 * k + 1] - 1.5f, 6 * raw[4 * k + 2], 0.5f + raw[4 * k + 3]};
    Element *d_elements = device_copy_of(elements.data(), count);
    int *d_first = device_copy_of(first.data(), arrays + 1);
    size_t n = (size_t)arrays * width * width;
    float *d_decibels = device_array<float>(n);
    dim3 block(16, 16), grid((width + 15) / 16, (width + 15) / 16, arrays);
    pair_time(&p, [&] { far_field<Math><<<grid, block>>>(d_elements, d_first, d_decibels, width); });
    std::vector<float> decibels = host_copy_of(d_decibels, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 79) {
        int x = i % width, y = i / width % width, z = i / width / width;
        double u = 6.283185307 * (2.0 * x / width - 1), v = 6.283185307 * (2.0 * y / width - 1);
        double real = 0, imaginary = 0, total = 0;
        for (int k = first[z]; k < first[z + 1]; k++) {
            double angle = u * elements[k].x + v * elements[k].y + elements[k].phase;
            real += elements[k].gain * cos(angle);
            imaginary += elements[k].gain * sin(angle);
            total += elements[k].gain;
        }
        double power = (real * real + imaginary * imaginary) / (total * total);
        pair_near(&p, "decibels", i, 10 * log10(power + 1e-4), decibels[i], 2e-3);
    }
    return pair_end(&p);
}
