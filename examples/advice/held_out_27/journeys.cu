// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: seconds and days are counted in unsigned (good until 2106), not in long long as time_t is.
// Why: each of the divisions by a constant takes a few instructions with 32 bits, but a long sequence with 64 bits.
#include "../common.h"

#include <ctime>

#ifdef AFTER
typedef unsigned Count;
#else
typedef long long Count;
#endif

// Year, month, day, day of the week and tenth of an hour of a moment (seconds since 1970), in the bits of one word.
__device__ unsigned civil(Count seconds) {
    Count days = seconds / 86400, rest = seconds % 86400;
    Count shifted = days + 719468, era = shifted / 146097;  // eras of 400 years that begin in March
    Count of_era = shifted % 146097;
    Count year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    Count of_year = of_era - (365 * year + year / 4 - year / 100);
    Count march = (5 * of_year + 2) / 153;  // months since March
    Count day = of_year - (153 * march + 2) / 5 + 1;
    Count month = march < 10 ? march + 3 : march - 9;
    year += 400 * era + (month <= 2);
    return (unsigned)(year << 20 | month << 16 | day << 11 | (days + 4) % 7 << 8 | rest / 360);
}

// When journeys begin and end, from the minutes since the timetable's first moment and how long they take.
__global__ void __launch_bounds__(256)
    print_tickets(const unsigned *__restrict__ departures, const unsigned short *__restrict__ lasting,
                  uint2 *__restrict__ tickets, int n, Count begin) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Count departure = begin + (Count)departures[i] * 60;
        Count arrival = departure + (Count)lasting[i] * 60;
        tickets[i] = make_uint2(civil(departure), civil(arrival));
    }
}

static unsigned civil_on_host(long long seconds) {
    time_t moment = (time_t)seconds;
    struct tm t;
    gmtime_r(&moment, &t);
    unsigned year = t.tm_year + 1900, month = t.tm_mon + 1;
    return year << 20 | month << 16 | (unsigned)t.tm_mday << 11 | (unsigned)t.tm_wday << 8 |
           (unsigned)(t.tm_hour * 10 + t.tm_min / 6);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "journeys");
    int n = p.small ? 1000 : 12 * 1000 * 1000;
    long long begin = 951782400 - 86400 * 40;  // forty days before 29 February 2000
    std::vector<unsigned> departures(n);
    std::vector<unsigned short> lasting(n);
    lcg_fill(departures.data(), n, 1, 60 * 24 * 365 * 30);
    lcg_fill(lasting.data(), n, 2, 3000);
    unsigned *d_departures = device_copy_of(departures.data(), n);
    unsigned short *d_lasting = device_copy_of(lasting.data(), n);
    uint2 *d_tickets = device_array<uint2>(n);
    pair_time(&p, [&] {
        print_tickets<<<(n + 255) / 256, 256>>>(d_departures, d_lasting, d_tickets, n, (Count)begin);
    });
    std::vector<uint2> tickets = host_copy_of(d_tickets, n);
    for (int i = 0; i < n; i += p.small ? 1 : 31) {
        long long departure = begin + 60LL * departures[i];
        pair_near(&p, "departure", i, civil_on_host(departure), tickets[i].x, 0);
        pair_near(&p, "arrival", i, civil_on_host(departure + 60LL * lasting[i]), tickets[i].y, 0);
    }
    return pair_end(&p);
}
