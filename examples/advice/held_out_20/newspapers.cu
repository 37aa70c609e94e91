// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the houses are stored in the order of the rounds; the list of house numbers is no longer needed.
// Why: every stop first loads the number of a house and then, from anywhere in the register, the house.
#include "../common.h"

enum { BLOCK = 128 };

struct __align__(16) House {
    float east, north, climb, copies;
};

// How long a paper round takes and how heavy the bag is on the way; one thread per round.
__global__ void rounds(const House *houses, const int *stops, float2 *results, int n, int length) {
    int r = blockIdx.x * BLOCK + threadIdx.x;
    if (r >= n)
        return;
    float minutes = 0, weight = 0, carried = 0, bag = 12.0f, east = 0, north = 0;
    for (int k = 0; k < length; k++) {
#ifdef AFTER
        House h = houses[(size_t)k * n + r];
#else
        House h = houses[stops[(size_t)k * n + r]];
#endif
        float de = h.east - east, dn = h.north - north, way = sqrtf(de * de + dn * dn + 1e-6f);
        float pace = 11.0f + 0.25f * bag + 3.0f * fmaxf(0.0f, h.climb);
        minutes += pace * way + 0.1f + 0.05f * h.copies;
        carried += bag * way;
        weight = 0.18f * h.copies;
        bag -= weight;
        bag += bag < 1.0f ? 12.0f : 0.0f;  // a new bundle waits at the corner
        east = h.east;
        north = h.north;
    }
    results[r] = make_float2(minutes, carried);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "newspapers");
    int n = p.small ? 256 : 132 * 512, length = p.small ? 28 : 64;
    size_t count = (size_t)n * length;
    // Stops of a round lie near each other; the register of houses is in another order altogether.
    std::vector<House> in_order(count), houses(count);
    std::vector<int> stops(count);
    std::vector<float> east = random_floats(count, 0, 0.3f, 1), north = random_floats(count, 0, 0.3f, 2),
                       climb = random_floats(count, -0.5f, 0.5f, 3);
    unsigned seed = 4;
    for (size_t i = 0; i < count; i++) {
        in_order[i] = {east[i] + 0.001f * (i % n), north[i], climb[i], 1.0f + lcg_next(&seed, 3)};
        stops[i] = (int)i;
    }
    for (size_t i = count - 1; i > 0; i--)
        std::swap(stops[i], stops[lcg_next(&seed, (unsigned)std::min<size_t>(i + 1, 1 << 24))]);
    for (size_t i = 0; i < count; i++)
        houses[stops[i]] = in_order[i];
#ifdef AFTER
    House *d_houses = device_copy_of(in_order.data(), count);
    int *d_stops = NULL;
#else
    House *d_houses = device_copy_of(houses.data(), count);
    int *d_stops = device_copy_of(stops.data(), count);
#endif
    float2 *d_results = device_array<float2>(n);
    pair_time(&p, [&] { rounds<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_houses, d_stops, d_results, n, length); });
    std::vector<float2> results = host_copy_of(d_results, n);
    for (int r = 0; r < n; r += p.small ? 1 : 29) {
        double minutes = 0, carried = 0, e = 0, no = 0;
        float bag = 12.0f;
        for (int k = 0; k < length; k++) {
            House h = houses[stops[(size_t)k * n + r]];
            double way = sqrt((h.east - e) * (h.east - e) + (h.north - no) * (h.north - no) + 1e-6);
            minutes += (11 + 0.25 * bag + 3 * std::max(0.0f, h.climb)) * way + 0.1 + 0.05 * h.copies;
            carried += bag * way;
            bag -= 0.18f * h.copies;
            bag += bag < 1.0f ? 12.0f : 0.0f;
            e = h.east;
            no = h.north;
        }
        pair_near(&p, "minutes", r, minutes, results[r].x, 1e-3);
        pair_near(&p, "carried", r, carried, results[r].y, 1e-3);
    }
    return pair_end(&p);
}
