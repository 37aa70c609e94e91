// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: threadIdx.x counts the longitudes and threadIdx.y the latitudes, not the other way round.
// Why: longitudes are neighbours in memory, so that a warp then loads whole lines instead of a sector for each lane.
#include "../common.h"

enum { WIDE = 32, HIGH = 4 };

// Water vapour of each column of air in kg/m2. Both fields are [level][latitude][longitude]: specific humidity and
// thickness of the layer in Pa.
__global__ void column_water(const float *humidity, const float *thickness, float *water, int levels, int latitudes,
                             int longitudes) {
#ifdef AFTER
    int longitude = blockIdx.x * WIDE + threadIdx.x, latitude = blockIdx.y * HIGH + threadIdx.y;
#else
    int longitude = blockIdx.y * HIGH + threadIdx.y, latitude = blockIdx.x * WIDE + threadIdx.x;
#endif
    if (longitude >= longitudes || latitude >= latitudes)
        return;
    float sum = 0;
    for (int l = 0; l < levels; l++) {
        size_t at = ((size_t)l * latitudes + latitude) * longitudes + longitude;
        sum += humidity[at] * thickness[at];
    }
    water[(size_t)latitude * longitudes + longitude] = sum / 9.80665f;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "monsoons");
    int levels = p.small ? 5 : 37, latitudes = p.small ? 45 : 721, longitudes = p.small ? 90 : 1440;
    size_t layer = (size_t)latitudes * longitudes, count = levels * layer;
    std::vector<float> humidity = random_floats(count, 0, 0.02f, 1), thickness = random_floats(count, 1000, 5000, 2);
    float *d_humidity = device_copy_of(humidity.data(), count), *d_thickness = device_copy_of(thickness.data(), count);
    float *d_water = device_array<float>(layer);
#ifdef AFTER
    dim3 grid((longitudes + WIDE - 1) / WIDE, (latitudes + HIGH - 1) / HIGH);
#else
    dim3 grid((latitudes + WIDE - 1) / WIDE, (longitudes + HIGH - 1) / HIGH);
#endif
    pair_time(&p, [&] {
        column_water<<<grid, dim3(WIDE, HIGH)>>>(d_humidity, d_thickness, d_water, levels, latitudes, longitudes);
    });
    std::vector<float> water = host_copy_of(d_water, layer);
    for (size_t c = 0; c < layer; c += 103) {
        double sum = 0;
        for (int l = 0; l < levels; l++)
            sum += (double)humidity[l * layer + c] * thickness[l * layer + c];
        pair_near(&p, "water", c, sum / 9.80665, water[c], 1e-4);
    }
    return pair_end(&p);
}
