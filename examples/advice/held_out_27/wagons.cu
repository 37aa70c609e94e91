// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the wagons are stored in the order of the trains, not looked up by their number in the yard's register.
// Why: each wagon costs two loads, one waiting for the other, and the second goes anywhere in memory.
#include "../common.h"

struct __align__(16) Wagon {
    float tonnes, metres, brake, rolling;
};

struct Coupling {
    float strongest, length, centre;
};

// The strongest pull on a coupling of each train on a slope, its length and its centre of mass; a thread for a train.
// Train t has the wagons from first[t] up to first[t + 1].
#ifdef AFTER
__global__ void couple(const int *first, const Wagon *wagons, Coupling *couplings, int trains, float slope) {
#else
__global__ void couple(const int *first, const int *numbers, const Wagon *wagons, Coupling *couplings, int trains,
                       float slope) {
#endif
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= trains)
        return;
    float pull = 0, strongest = 0, length = 0, mass = 0, moment = 0;
    int end = first[t + 1];
    for (int k = first[t]; k < end; k++) {
#ifdef AFTER
        Wagon wagon = wagons[k];
#else
        Wagon wagon = wagons[numbers[k]];
#endif
        pull += 9.81f * wagon.tonnes * (slope - wagon.rolling) - wagon.brake;
        strongest = fmaxf(strongest, fabsf(pull));
        mass += wagon.tonnes;
        moment += wagon.tonnes * (length + 0.5f * wagon.metres);
        length += wagon.metres;
    }
    couplings[t] = {strongest, length, moment / mass};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wagons");
    int trains = p.small ? 200 : 132 * 768;
    float slope = 0.012f;
    unsigned seed = 21;
    std::vector<int> first(1, 0);
    for (int t = 0; t < trains; t++)
        first.push_back(first[t] + 8 + lcg_next(&seed, 48));
    int n = first[trains];
    std::vector<Wagon> yard(n);
    std::vector<int> numbers(n);
    for (int k = 0; k < n; k++) {
        yard[k] = {15 + 0.5f * lcg_next(&seed, 150), 10 + 0.1f * lcg_next(&seed, 100), 0.01f * lcg_next(&seed, 800),
                   0.001f + 1e-5f * lcg_next(&seed, 200)};
        numbers[k] = k;
    }
    for (int k = n - 1; k > 0; k--)
        std::swap(numbers[k], numbers[lcg_next(&seed, k + 1)]);
    int *d_first = device_copy_of(first.data(), first.size());
    Coupling *d_couplings = device_array<Coupling>(trains);
    int blocks = (trains + 191) / 192;
#ifdef AFTER
    std::vector<Wagon> sorted(n);
    for (int k = 0; k < n; k++)
        sorted[k] = yard[numbers[k]];
    Wagon *d_wagons = device_copy_of(sorted.data(), n);
    pair_time(&p, [&] { couple<<<blocks, 192>>>(d_first, d_wagons, d_couplings, trains, slope); });
#else
    int *d_numbers = device_copy_of(numbers.data(), n);
    Wagon *d_wagons = device_copy_of(yard.data(), n);
    pair_time(&p, [&] { couple<<<blocks, 192>>>(d_first, d_numbers, d_wagons, d_couplings, trains, slope); });
#endif
    std::vector<Coupling> couplings = host_copy_of(d_couplings, trains);
    for (int t = 0; t < trains; t += p.small ? 1 : 17) {
        double pull = 0, strongest = 0, length = 0, mass = 0, moment = 0;
        for (int k = first[t]; k < first[t + 1]; k++) {
            const Wagon &w = yard[numbers[k]];
            pull += 9.81 * w.tonnes * ((double)slope - w.rolling) - w.brake;
            strongest = std::max(strongest, fabs(pull));
            mass += w.tonnes;
            moment += w.tonnes * (length + 0.5 * w.metres);
            length += w.metres;
        }
        pair_near(&p, "strongest", t, strongest, couplings[t].strongest, 1e-3);
        pair_near(&p, "length", t, length, couplings[t].length, 1e-4);
        pair_near(&p, "centre", t, moment / mass, couplings[t].centre, 1e-4);
    }
    return pair_end(&p);
}
