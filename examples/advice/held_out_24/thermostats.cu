// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the room is copied into registers before the hours are gone through (a value instead of a reference).
// Why: the temperatures written each hour could overlay the rooms for all the compiler knows, so it loads six again.
#include "../common.h"

enum { BLOCK = 1024 };

// A room and its thermostat; temperatures are in thousandths of a degree.
struct Room {
    int loss, window, heater;  // heat through the walls per degree, of the sun, of the heater when it is on
    int target, band;          // switched on below target - band, off above target + band
    int mass;                  // as a power of two
};

struct Weather {
    int outside, sun;
};

// Temperatures of all rooms through the hours, and how many of these the heater was on. One thread per room.
__global__ void heat_rooms(const Room *rooms, const Weather *weather, int *curves, int *hours_on, int n, int hours) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
#ifdef AFTER
    const Room room = rooms[i];
#else
    const Room &room = rooms[i];
#endif
    int now = room.target, total = 0;
    bool on = false;
    for (int h = 0; h < hours; h++) {
        if (now < room.target - room.band)
            on = true;
        else if (now > room.target + room.band)
            on = false;
        int flow = (weather[h].outside - now) * room.loss + weather[h].sun * room.window + (on ? room.heater : 0);
        now += flow >> room.mass;
        total += on;
        curves[(size_t)h * n + i] = now;
    }
    hours_on[i] = total;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "thermostats");
    int n = p.small ? 1500 : 132 * 2048, hours = p.small ? 8 : 168;
    std::vector<Room> rooms(n);
    std::vector<Weather> weather(hours);
    unsigned seed = 9;
    for (Room &room : rooms) {
        room.loss = 4 + lcg_next(&seed, 20);
        room.window = lcg_next(&seed, 30);
        room.heater = 200000 + lcg_next(&seed, 500000);
        room.target = 18000 + lcg_next(&seed, 4000);
        room.band = 200 + lcg_next(&seed, 800);
        room.mass = 6 + lcg_next(&seed, 3);
    }
    for (int h = 0; h < hours; h++) {
        int noon = 12 - std::abs(h % 24 - 12);
        weather[h].outside = 400 * noon + lcg_next(&seed, 3000);
        weather[h].sun = std::max(0, noon - 5) * lcg_next(&seed, 1000);
    }
    Room *d_rooms = device_copy_of(rooms.data(), n);
    Weather *d_weather = device_copy_of(weather.data(), hours);
    int *d_curves = device_array<int>((size_t)n * hours), *d_hours_on = device_array<int>(n);
    pair_time(&p, [&] {
        heat_rooms<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_rooms, d_weather, d_curves, d_hours_on, n, hours);
    });
    std::vector<int> curves = host_copy_of(d_curves, (size_t)n * hours), hours_on = host_copy_of(d_hours_on, n);
    for (int i = 0; i < n; i += p.small ? 1 : 31) {
        const Room &room = rooms[i];
        int now = room.target, total = 0;
        bool on = false;
        for (int h = 0; h < hours; h++) {
            on = now < room.target - room.band || (on && now <= room.target + room.band);
            int flow = (weather[h].outside - now) * room.loss + weather[h].sun * room.window;
            now += (flow + on * room.heater) >> room.mass;
            total += on;
            pair_near(&p, "curve", (size_t)h * n + i, now, curves[(size_t)h * n + i], 0);
        }
        pair_near(&p, "hours_on", i, total, hours_on[i], 0);
    }
    return pair_end(&p);
}
