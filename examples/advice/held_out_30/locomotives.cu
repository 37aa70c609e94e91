// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bound no longer asks for 16 CTAs an SM.
// Why: 16 CTAs of 128 threads leave 32 registers a thread, too few for the cars, which spill to local memory.
#include "../common.h"

enum { BLOCK = 128, CARS = 7 };

#ifdef AFTER
#define BOUNDS __launch_bounds__(BLOCK)
#else
#define BOUNDS __launch_bounds__(BLOCK, 16)
#endif

struct Train {
    float stiffness, damping, pull, drag;
};

template <typename T> struct State {
    T place[CARS], speed[CARS];  // place: how far from where the car stands when the couplings are at rest
};

template <typename T> __host__ __device__ inline void slope(const Train &t, const State<T> &s, State<T> *d) {
    T behind = 0;  // force of the coupling to the car before
    for (int c = 0; c < CARS; c++) {
        T ahead = behind;
        behind = 0;
        if (c + 1 < CARS) {
            T stretch = s.place[c] - s.place[c + 1];
            behind = t.stiffness * stretch * (1 + stretch * stretch) + t.damping * (s.speed[c] - s.speed[c + 1]);
        }
        d->place[c] = s.speed[c];
        d->speed[c] = (c == 0 ? t.pull : 0) + ahead - behind - t.drag * s.speed[c];
    }
}

// Runge-Kutta of fourth order; returns the largest stretch of a coupling and, in *final, the speed of the last car.
template <typename T> __host__ __device__ inline T drive(const Train &t, int steps, T h, T *final) {
    State<T> s, middle, d, sum;
    T largest = 0;
    for (int c = 0; c < CARS; c++)
        s.place[c] = s.speed[c] = 0;
    for (int k = 0; k < steps; k++) {
        slope(t, s, &d);
        for (int c = 0; c < CARS; c++) {
            sum.place[c] = d.place[c], sum.speed[c] = d.speed[c];
            middle.place[c] = s.place[c] + h / 2 * d.place[c], middle.speed[c] = s.speed[c] + h / 2 * d.speed[c];
        }
        slope(t, middle, &d);
        for (int c = 0; c < CARS; c++) {
            sum.place[c] += 2 * d.place[c], sum.speed[c] += 2 * d.speed[c];
            middle.place[c] = s.place[c] + h / 2 * d.place[c], middle.speed[c] = s.speed[c] + h / 2 * d.speed[c];
        }
        slope(t, middle, &d);
        for (int c = 0; c < CARS; c++) {
            sum.place[c] += 2 * d.place[c], sum.speed[c] += 2 * d.speed[c];
            middle.place[c] = s.place[c] + h * d.place[c], middle.speed[c] = s.speed[c] + h * d.speed[c];
        }
        slope(t, middle, &d);
        for (int c = 0; c < CARS; c++) {
            s.place[c] += h / 6 * (sum.place[c] + d.place[c]);
            s.speed[c] += h / 6 * (sum.speed[c] + d.speed[c]);
        }
        for (int c = 0; c + 1 < CARS; c++) {
            T stretch = s.place[c] - s.place[c + 1];
            largest = stretch > largest ? stretch : largest;
        }
    }
    *final = s.speed[CARS - 1];
    return largest;
}

__global__ void BOUNDS locomotives(const Train *trains, float2 *results, int count, int steps, float h) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    Train t = trains[i];
    float2 r;
    r.x = drive<float>(t, steps, h, &r.y);
    results[i] = r;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "locomotives");
    int count = p.small ? 700 : 270000, steps = p.small ? 6 : 80;
    float h = 0.05f;
    std::vector<float> random = random_floats(4 * (size_t)count, 0, 1, 9);
    std::vector<Train> trains(count);
    for (int i = 0; i < count; i++)
        trains[i] = {4 + 4 * random[4 * i], 0.3f + random[4 * i + 1], 1 + random[4 * i + 2], 0.1f * random[4 * i + 3]};
    Train *d_trains = device_copy_of(trains.data(), count);
    float2 *d_results = device_array<float2>(count);
    pair_time(&p, [&] { locomotives<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_trains, d_results, count, steps, h); });
    std::vector<float2> results = host_copy_of(d_results, count);
    for (int i = 0; i < count; i += 331) {
        double speed, stretch = drive<double>(trains[i], steps, h, &speed);
        pair_near(&p, "stretch", i, stretch, results[i].x, 1e-3);
        pair_near(&p, "speed", i, speed, results[i].y, 1e-3);
    }
    return pair_end(&p);
}
