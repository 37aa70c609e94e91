// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: each block has an equal part of all customers instead of all customers of one depot.
// Why: the largest depot has eight times as many customers as a usual one, and its block works alone at the end.
#include "../common.h"

enum { BLOCK = 256, TOURS = 64 };

// Cheapest tour of its depot for each customer: the detour from a tour's present end and how full the van is.
__global__ void deliveries(const int *first, const int *depot_of, const float2 *customers, const float *loads,
                           const float4 *tours, int *chosen, int customer_count) {
#ifdef AFTER
    int share = (customer_count + gridDim.x - 1) / gridDim.x;
    int from = blockIdx.x * share, to = min(from + share, customer_count);
#else
    int from = first[blockIdx.x], to = first[blockIdx.x + 1];
#endif
    for (int c = from + threadIdx.x; c < to; c += BLOCK) {
        float2 place = customers[c];
        const float4 *own = tours + depot_of[c] * TOURS;
        float load = loads[c], best = 1e30f;
        int best_tour = 0;
        for (int t = 0; t < TOURS; t++) {
            float4 tour = own[t];  // place of its end, load, distance from there to the depot
            float dx = place.x - tour.x, dy = place.y - tour.y, over = fmaxf(0.0f, tour.z + load - 1.0f);
            float cost = sqrtf(dx * dx + dy * dy) + 0.25f * tour.w + 20.0f * over * over;
            if (cost < best) {
                best = cost;
                best_tour = t;
            }
        }
        chosen[c] = best_tour;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "deliveries");
    int depots = p.small ? 8 : 264, wanted = p.small ? 1 << 9 : 1 << 20;
    double weight = 0;
    for (int d = 0; d < depots; d++)
        weight += 1.0 / (d + 10);
    std::vector<int> first(1, 0), depot_of;
    for (int d = 0; d < depots; d++) {
        int rank = (d * 35) % depots;  // large depots are not all among the first
        first.push_back(first.back() + 1 + (int)(wanted / weight / (rank + 10)));
        depot_of.resize(first.back(), d);
    }
    int n = first.back();
    std::vector<float> places = random_floats((size_t)n * 2, 0, 100, 1), loads = random_floats(n, 0, 0.2f, 2),
                       tours = random_floats((size_t)depots * TOURS * 4, 0, 100, 3);
    for (size_t t = 2; t < tours.size(); t += 4)
        tours[t] *= 0.01f;
    int *d_first = device_copy_of(first.data(), first.size()), *d_depot_of = device_copy_of(depot_of.data(), n),
        *d_chosen = device_array<int>(n);
    float2 *d_places = (float2 *)device_copy_of(places.data(), places.size());
    float *d_loads = device_copy_of(loads.data(), n);
    float4 *d_tours = (float4 *)device_copy_of(tours.data(), tours.size());
    pair_time(&p, [&] { deliveries<<<depots, BLOCK>>>(d_first, d_depot_of, d_places, d_loads, d_tours, d_chosen, n); });
    std::vector<int> chosen = host_copy_of(d_chosen, n);
    for (int c = 0; c < n; c += p.small ? 3 : 307) {
        double best = 1e30, taken = -1;
        for (int t = 0; t < TOURS; t++) {
            const float *tour = &tours[((size_t)depot_of[c] * TOURS + t) * 4];
            double dx = places[2 * c] - tour[0], dy = places[2 * c + 1] - tour[1];
            double over = std::max(0.0, (double)tour[2] + loads[c] - 1);
            double cost = sqrt(dx * dx + dy * dy) + 0.25 * tour[3] + 20 * over * over;
            best = std::min(best, cost);
            if (t == chosen[c])
                taken = cost;
        }
        pair_near(&p, "cost", c, best, taken, 1e-5);
    }
    return pair_end(&p);
}
