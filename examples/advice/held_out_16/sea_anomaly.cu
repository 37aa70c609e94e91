// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: a warp lies along a parallel of the map instead of along a meridian.
// Why: neighbours in longitude are neighbours in memory; those in latitude are a row apart, so each lane's load is an
// access of its own.
#include "../common.h"

struct Normals {
    const float *mean, *deviation;  // of each cell of the map, over thirty years
};

// Marine heatwaves: on how many days the sea's surface was more than two deviations too warm, and the worst of them.
__global__ void heatwaves(const float *surface, Normals normals, int *hot_days, float *worst, int lons, int lats,
                          int days) {
#ifdef AFTER
    int lon = blockIdx.x * blockDim.x + threadIdx.x, lat = blockIdx.y * blockDim.y + threadIdx.y;
#else
    int lat = blockIdx.x * blockDim.x + threadIdx.x, lon = blockIdx.y * blockDim.y + threadIdx.y;
#endif
    if (lon >= lons || lat >= lats)
        return;
    int cell = lat * lons + lon, hot = 0;
    float mean = normals.mean[cell], per_deviation = 1.0f / normals.deviation[cell], most = 0;
    for (int day = 0; day < days; day++) {
        float celsius = surface[(size_t)day * lons * lats + cell];
        if (celsius < -10.0f)  // land or cloud
            continue;
        float anomaly = (celsius - mean) * per_deviation;
        hot += anomaly > 2.0f;
        most = fmaxf(most, anomaly);
    }
    hot_days[cell] = hot;
    worst[cell] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sea_anomaly");
    int lons = p.small ? 144 : 1440, lats = p.small ? 72 : 720, days = p.small ? 8 : 60;
    size_t cells = (size_t)lons * lats;
    std::vector<float> surface = random_floats(cells * days, -3, 3, 1), mean = random_floats(cells, 0, 28, 2),
                       deviation = random_floats(cells, 0.5f, 1.5f, 3);
    for (size_t i = 0; i < surface.size(); i++)
        surface[i] = i % 11 == 0 ? -32.0f : surface[i] + mean[i % cells];
    float *d_surface = device_copy_of(surface.data(), surface.size()), *d_mean = device_copy_of(mean.data(), cells),
          *d_deviation = device_copy_of(deviation.data(), cells), *d_worst = device_array<float>(cells);
    int *d_hot = device_array<int>(cells);
    dim3 block(32, 8);
#ifdef AFTER
    dim3 grid((lons + 31) / 32, (lats + 7) / 8);
#else
    dim3 grid((lats + 31) / 32, (lons + 7) / 8);
#endif
    Normals normals = {d_mean, d_deviation};
    pair_time(&p, [&] { heatwaves<<<grid, block>>>(d_surface, normals, d_hot, d_worst, lons, lats, days); });
    std::vector<float> worst = host_copy_of(d_worst, cells);
    std::vector<int> hot = host_copy_of(d_hot, cells);
    for (size_t cell = 0; cell < cells; cell += 17) {
        int least = 0, most_days = 0;  // a day just at the limit may count or not
        double most = 0;
        for (int day = 0; day < days; day++) {
            double celsius = surface[day * cells + cell], anomaly = (celsius - mean[cell]) / deviation[cell];
            if (celsius < -10)
                continue;
            least += anomaly > 2.0001;
            most_days += anomaly > 1.9999;
            most = std::max(most, anomaly);
        }
        pair_near(&p, "worst", cell, most, worst[cell], 1e-4);
        pair_near(&p, "hot days", cell, std::min(std::max(hot[cell], least), most_days), hot[cell], 0);
    }
    return pair_end(&p);
}
