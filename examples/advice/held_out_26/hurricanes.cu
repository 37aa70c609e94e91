// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: blocks of 128 threads instead of 1024, so that there are eight times as many of them.
// Why: the ensemble has 40000 members; in blocks of 1024 they occupy 40 SMs and the others have nothing to do.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 128 };
#else
enum { BLOCK = 1024 };
#endif
enum { LATITUDES = 64, MOST_STEPS = 400 };

struct Storm {
    double east, north, deficit;  // degrees, degrees, how many hPa lower the pressure is than around it
};

struct Landfall {
    double north, worst_wind;
    int steps;
};

// One member of the ensemble, until it reaches the coast, dies out or the time is over. coast[k] is the coast's
// longitude at k degrees north.
static __host__ __device__ Landfall follow(Storm s, const double *coast) {
    const double hours = 0.5;
    Landfall end = {0, 0, 0};
    while (end.steps < MOST_STEPS && s.deficit > 2) {
        int k = s.north < 0 ? 0 : s.north > LATITUDES - 1 ? LATITUDES - 1 : (int)s.north;
        if (s.east < coast[k])
            break;
        double turn = s.north / (1 + 0.04 * s.north), warm = 30 / (1 + 0.0009 * s.north * s.north);
        double west = 0.35 - 0.02 * turn, up = 0.05 + 0.006 * turn + 0.3 / (20 + s.deficit);
        double sheared = sqrt(west * west + up * up);
        s.east -= hours * west;
        s.north += hours * up;
        s.deficit += hours * (0.02 * (warm - 18) * sqrt(s.deficit) / (1 + 0.01 * s.deficit) - 0.9 * sheared);
        double wind = sqrt(fmax(0.0, s.deficit)) * 7 / (1 + 0.002 * s.north);
        end.worst_wind = fmax(end.worst_wind, wind);
        end.steps++;
    }
    end.north = s.north;
    return end;
}

__global__ void __launch_bounds__(1024)
    follow_all(const Storm *storms, const double *given_coast, Landfall *ends, int count) {
    __shared__ double coast[LATITUDES];
    for (int k = threadIdx.x; k < LATITUDES; k += BLOCK)
        coast[k] = given_coast[k];
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        ends[i] = follow(storms[i], coast);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hurricanes");
    int count = p.small ? 300 : 40000;
    unsigned seed = 1;
    double coast[LATITUDES];
    for (int k = 0; k < LATITUDES; k++)
        coast[k] = (p.small ? -33 : -58) + 0.5 * k + lcg_next(&seed, 300) / 100.0;
    std::vector<Storm> storms(count);
    for (Storm &s : storms) {
        s.east = -30 + lcg_next(&seed, 1000) / 100.0;
        s.north = 8 + lcg_next(&seed, 1000) / 200.0;
        s.deficit = 15 + lcg_next(&seed, 1000) / 50.0;
    }
    Storm *d_storms = device_copy_of(storms.data(), count);
    double *d_coast = device_copy_of(coast, LATITUDES);
    Landfall *d_ends = device_array<Landfall>(count);
    pair_time(&p, [&] { follow_all<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_storms, d_coast, d_ends, count); });
    std::vector<Landfall> ends = host_copy_of(d_ends, count);
    for (int i = 0; i < count; i += p.small ? 1 : 9) {
        Landfall expected = follow(storms[i], coast);
        pair_near(&p, "north", i, expected.north, ends[i].north, 1e-9);
        pair_near(&p, "worst wind", i, expected.worst_wind, ends[i].worst_wind, 1e-9);
        pair_near(&p, "steps", i, expected.steps, ends[i].steps, 0);
    }
    return pair_end(&p);
}
