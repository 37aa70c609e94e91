// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the record of a station is declared to lie on a 16 byte boundary.
// Why: the four values of a record then come with one wide load; before, each of the four loads of a warp goes to
//      the same 32 scattered sectors again.
#include "../common.h"

enum { BLOCK = 256, NEIGHBOURS = 12, CELL_STATIONS = 4 };

#ifdef AFTER
#define RECORD __align__(16)
#else
#define RECORD
#endif

// A station in the field: where it is, the water it finds in the soil (per cent) and how far to trust it.
struct RECORD Station {
    float x, y, water, trust;
};

struct Parcel {
    float x, y;
};

// How much a station says about a place: less the farther it is, very little beyond the range.
__host__ __device__ inline float kernel_weight(float dx, float dy, float trust, float per_range2) {
    float rest = fmaxf(1 - (dx * dx + dy * dy) * per_range2, 0.05f);
    return trust * rest * rest;
}

// Water in the soil of each parcel of the land register from the stations around it, and how much those disagree.
__global__ void soil_water(const Station *__restrict__ station, const Parcel *__restrict__ parcel,
                           const int *__restrict__ neighbour, int parcels, float per_range2, float wilting,
                           float capacity, float *available, float *spread) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= parcels)
        return;
    Parcel here = parcel[i];
    float weights = 0, sum = 0, squares = 0;
    for (int k = 0; k < NEIGHBOURS; k++) {
        Station s = station[neighbour[(size_t)k * parcels + i]];
        float w = kernel_weight(s.x - here.x, s.y - here.y, s.trust, per_range2);
        weights += w;
        sum += w * s.water;
        squares += w * s.water * s.water;
    }
    float mean = sum / weights;
    spread[i] = fmaxf(squares / weights - mean * mean, 0.0f);
    available[i] = fminf(fmaxf((mean - wilting) / (capacity - wilting), 0.0f), 1.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tensiometers");
    int side = p.small ? 16 : 64, stations = side * side * CELL_STATIONS, parcels = p.small ? 16384 : 2000000;
    float per_range2 = 0.25f, wilting = 8, capacity = 32;
    std::vector<float> random = random_floats((size_t)stations * 4, 0, 1, 1);
    // Stations have their numbers in the order in which they were set up, not by place.
    std::vector<int> number(stations);
    unsigned seed = 2;
    for (int i = 0; i < stations; i++)
        number[i] = i;
    for (int i = stations - 1; i > 0; i--)
        std::swap(number[i], number[lcg_next(&seed, i + 1)]);
    std::vector<Station> station(stations);
    for (int i = 0; i < stations; i++) {
        const float *r = &random[(size_t)i * 4];
        int cell = i / CELL_STATIONS;
        station[number[i]] = {cell % side + r[0], cell / side + r[1], 5 + 30 * r[2], 0.2f + 0.8f * r[3]};
    }
    std::vector<Parcel> parcel;
    std::vector<int> neighbour((size_t)parcels * NEIGHBOURS);
    for (int i = 0; i < parcels; i++) {
        int cx = 1 + lcg_next(&seed, side - 2), cy = 1 + lcg_next(&seed, side - 2);
        parcel.push_back({cx + lcg_next(&seed, 1024) / 1024.0f, cy + lcg_next(&seed, 1024) / 1024.0f});
        int first = lcg_next(&seed, 9 * CELL_STATIONS);
        for (int k = 0; k < NEIGHBOURS; k++) {
            int place = (first + 5 * k) % (9 * CELL_STATIONS), cell = place / CELL_STATIONS;
            int at = (cy - 1 + cell / 3) * side + cx - 1 + cell % 3;
            neighbour[(size_t)k * parcels + i] = number[at * CELL_STATIONS + place % CELL_STATIONS];
        }
    }
    Station *d_station = device_copy_of(station.data(), stations);
    Parcel *d_parcel = device_copy_of(parcel.data(), parcels);
    int *d_neighbour = device_copy_of(neighbour.data(), neighbour.size());
    float *d_available = device_array<float>(parcels), *d_spread = device_array<float>(parcels);
    pair_time(&p, [&] {
        soil_water<<<(parcels + BLOCK - 1) / BLOCK, BLOCK>>>(d_station, d_parcel, d_neighbour, parcels, per_range2,
                                                             wilting, capacity, d_available, d_spread);
    });
    std::vector<float> available = host_copy_of(d_available, parcels), spread = host_copy_of(d_spread, parcels);
    for (int i = 0; i < parcels; i += 7) {
        double weights = 0, sum = 0, squares = 0;
        for (int k = 0; k < NEIGHBOURS; k++) {
            const Station &s = station[neighbour[(size_t)k * parcels + i]];
            double w = kernel_weight(s.x - parcel[i].x, s.y - parcel[i].y, s.trust, per_range2);
            weights += w;
            sum += w * s.water;
            squares += w * s.water * s.water;
        }
        double mean = sum / weights;
        pair_near(&p, "spread", i, squares / weights - mean * mean, spread[i], 1e-3);
        pair_near(&p, "available", i, std::min(std::max((mean - wilting) / (capacity - wilting), 0.0), 1.0),
                  available[i], 1e-4);
    }
    return pair_end(&p);
}
