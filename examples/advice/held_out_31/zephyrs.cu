// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: a division by a size of the grid is a multiplication and a shift instead.
// Why: the sizes aren't known to the compiler; three divisions of integers a value cost more than its six bytes.
#include "../common.h"

// Divides by a number that all threads share; what is divided must be below 2^31.
struct Divider {
    unsigned by;
#ifdef AFTER
    unsigned magic, shift;
    explicit Divider(unsigned d) : by(d), shift(0) {
        while ((1u << shift) < d)
            shift++;
        magic = (unsigned)((1ull << 32) * ((1ull << shift) - d) / d + 1);
    }
    __device__ unsigned operator()(unsigned n) const { return (__umulhi(n, magic) + n) >> shift; }
#else
    explicit Divider(unsigned d) : by(d) {}
    __device__ unsigned operator()(unsigned n) const { return n / by; }
#endif
};

struct Packing {
    float scale, offset;
};

static const double earth_radius = 6.371e6, earth_rate = 7.292e-5;

// West winds as the archive packs them, [hour][level][latitude][longitude], to the angular momentum that the air of a
// cell has about the earth's axis.
__global__ void momentum(const short *packed, float *out, const Packing *packing, const float *thickness,
                         const float *axis_distance, unsigned cells, Divider longitudes, Divider latitudes,
                         Divider levels, float rate) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells) {
        unsigned circle = longitudes(i);
        unsigned message = latitudes(circle);
        unsigned latitude = circle - message * latitudes.by;
        unsigned level = message - levels(message) * levels.by;
        Packing unpack = packing[message];
        float wind = packed[i] * unpack.scale + unpack.offset;
        float r = axis_distance[latitude];
        out[i] = thickness[level] * (wind + rate * r) * r;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "zephyrs");
    unsigned hours = p.small ? 2 : 24, levels = p.small ? 3 : 13, latitudes = p.small ? 37 : 361;
    unsigned longitudes = p.small ? 144 : 720, cells = hours * levels * latitudes * longitudes;

    std::vector<short> packed(cells);
    unsigned seed = 3;
    for (short &v : packed)
        v = (short)((int)lcg_next(&seed, 60000) - 30000);
    std::vector<float> random = random_floats((size_t)hours * levels * 2, 0, 1, 4);
    std::vector<Packing> packing(hours * levels);
    for (size_t m = 0; m < packing.size(); m++)
        packing[m] = {0.0005f + 0.001f * random[2 * m], 30 * random[2 * m + 1] - 10};
    std::vector<float> thickness(levels), axis_distance(latitudes);
    for (unsigned l = 0; l < levels; l++)
        thickness[l] = 0.02f + 0.01f * l;
    for (unsigned l = 0; l < latitudes; l++)
        axis_distance[l] = (float)(earth_radius * cos(3.14159265358979 * (l / (latitudes - 1.0) - 0.5)));

    short *d_packed = device_copy_of(packed.data(), cells);
    Packing *d_packing = device_copy_of(packing.data(), packing.size());
    float *d_thickness = device_copy_of(thickness.data(), levels);
    float *d_axis_distance = device_copy_of(axis_distance.data(), latitudes), *d_out = device_array<float>(cells);
    Divider by_longitudes(longitudes), by_latitudes(latitudes), by_levels(levels);
    pair_time(&p, [&] {
        momentum<<<(cells + 255) / 256, 256>>>(d_packed, d_out, d_packing, d_thickness, d_axis_distance, cells,
                                               by_longitudes, by_latitudes, by_levels, (float)earth_rate);
    });

    std::vector<float> out = host_copy_of(d_out, cells);
    for (unsigned i = 0; i < cells; i += p.small ? 13 : 1009) {
        unsigned message = i / longitudes / latitudes;
        double wind = packed[i] * (double)packing[message].scale + packing[message].offset;
        double r = axis_distance[i / longitudes % latitudes];
        pair_near(&p, "momentum", i, thickness[message % levels] * (wind + earth_rate * r) * r, out[i], 1e-3);
    }
    return pair_end(&p);
}
