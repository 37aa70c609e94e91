// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the bookings come sorted by their length, the longest first.
// Why: a thread goes through the nights of its booking, and a warp takes as long as the longest of its 32.
#include "../common.h"

enum { BLOCK = 256, DAYS = 366, ROOMS = 16 };

struct Booking {
    unsigned short arrival, lead;  // day of the year; days between booking and arrival
    unsigned char nights, room, guests, board;
};

// Price of one night of a stay.
template <typename Real>
static __host__ __device__ Real night_price(const Booking &b, const float *season, const float *rooms, int night) {
    int day = (b.arrival + night) % DAYS, weekday = (day + 2) % 7;
    Real price = rooms[b.room] * season[day];
    if (weekday == 4 || weekday == 5)  // Friday, Saturday
        price *= (Real)1.18f;
    Real early = (Real)1 - (Real)0.25f * b.lead / ((Real)60 + b.lead);
    Real stay = (Real)1 / ((Real)1 + (Real)0.03f * night);
    return price * early * stay + b.guests * ((Real)2.5f + b.board * (Real)9);
}

// What each booking of a chain of hotels brings, and its dearest night.
__global__ void revenue(const Booking *bookings, const float *season, const float *rooms, float2 *result, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    Booking booking = bookings[i];
    float total = 0, dearest = 0;
    for (int night = 0; night < booking.nights; night++) {
        float price = night_price<float>(booking, season, rooms, night);
        total += price;
        dearest = fmaxf(dearest, price);
    }
    result[i] = make_float2(total, dearest);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hotel_nights");
    int count = p.small ? 8000 : 6000000;
    std::vector<Booking> bookings(count);
    unsigned seed = 1;
    for (Booking &b : bookings) {
        unsigned kind = lcg_next(&seed, 100);
        int nights = kind < 50   ? 1 + lcg_next(&seed, 2)
                     : kind < 82 ? 3 + lcg_next(&seed, 3)
                     : kind < 97 ? 6 + lcg_next(&seed, 9)
                                 : 15 + lcg_next(&seed, 7);
        b.arrival = lcg_next(&seed, DAYS);
        b.lead = lcg_next(&seed, 200);
        b.nights = nights;
        b.room = lcg_next(&seed, ROOMS);
        b.guests = 1 + lcg_next(&seed, 4);
        b.board = lcg_next(&seed, 4);
    }
#ifdef AFTER
    std::stable_sort(bookings.begin(), bookings.end(),
                     [](const Booking &a, const Booking &b) { return a.nights > b.nights; });
#endif
    std::vector<float> season = random_floats(DAYS, 0.6f, 1.8f, 2), rooms = random_floats(ROOMS, 60, 320, 3);
    Booking *d_bookings = device_copy_of(bookings.data(), count);
    float *d_season = device_copy_of(season.data(), DAYS), *d_rooms = device_copy_of(rooms.data(), ROOMS);
    float2 *d_result = device_array<float2>(count);
    pair_time(&p,
              [&] { revenue<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(d_bookings, d_season, d_rooms, d_result, count); });
    std::vector<float2> result = host_copy_of(d_result, count);
    for (int i = 0; i < count; i += 13) {
        double total = 0, dearest = 0;
        for (int night = 0; night < bookings[i].nights; night++) {
            double price = night_price<double>(bookings[i], season.data(), rooms.data(), night);
            total += price;
            dearest = std::max(dearest, price);
        }
        pair_near(&p, "total", i, total, result[i].x, 1e-4);
        pair_near(&p, "dearest", i, dearest, result[i].y, 1e-4);
    }
    return pair_end(&p);
}
