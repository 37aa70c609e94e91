// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: days and what follows from them are int instead of long long.
// Why: only the seconds need 64 bits; a division by a constant takes several times the instructions with them.
#include "../common.h"

#ifdef AFTER
typedef int Whole;
#else
typedef long long Whole;
#endif

struct Date {
    Whole year, month, day, weekday;
};

// The date of the day that comes so many days after 1 January 1970, counted in eras of 400 years from March.
static __device__ Date date_of(Whole days) {
    Whole shifted = days + 719468;
    Whole era = shifted / 146097, in_era = shifted - era * 146097;
    Whole year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    Whole in_year = in_era - (365 * year + year / 4 - year / 100);
    Whole month = (5 * in_year + 2) / 153;  // 0 is March
    Date d;
    d.day = in_year - (153 * month + 2) / 5 + 1;
    d.month = month < 10 ? month + 3 : month - 9;
    d.year = year + era * 400 + (d.month <= 2);
    d.weekday = (days + 4) % 7;
    return d;
}

// The code of each appointment: year, month, day, weekday and quarter of an hour in the bits of one word.
__global__ void encode(const long long *seconds, unsigned *codes, int count, int zone_seconds) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        long long local = seconds[i] + zone_seconds;
        Whole days = local / 86400;
        Whole quarter = (Whole)(local - 86400ll * days) / 900;
        Date d = date_of(days);
        codes[i] = (unsigned)(d.year - 1900) << 19 | (unsigned)d.month << 15 | (unsigned)d.day << 10 |
                   (unsigned)d.weekday << 7 | (unsigned)quarter;
    }
}

// The same, by counting years and months.
static unsigned expected_code(long long seconds) {
    static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int days = (int)(seconds / 86400), quarter = (int)(seconds % 86400 / 900), weekday = (days + 4) % 7;
    int year = 1970, month = 0;
    for (;; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        if (days < 365 + leap) {
            while (days >= lengths[month] + (leap && month == 1)) {
                days -= lengths[month] + (leap && month == 1);
                month++;
            }
            break;
        }
        days -= 365 + leap;
    }
    return (year - 1900) << 19 | (month + 1) << 15 | (days + 1) << 10 | weekday << 7 | quarter;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "calendars");
    int count = p.small ? 3000 : 12000000, zone_seconds = 3600;
    std::vector<long long> seconds(count);
    unsigned seed = 11;
    for (int i = 0; i < count; i++)  // the years 1970 to 2102
        seconds[i] = lcg_next(&seed, 1 << 24) * 250ll + i % 250;
    long long *d_seconds = device_copy_of(seconds.data(), count);
    unsigned *d_codes = device_array<unsigned>(count);
    int block = 192, grid = p.small ? 4 : 132 * 10;
    pair_time(&p, [&] { encode<<<grid, block>>>(d_seconds, d_codes, count, zone_seconds); });
    std::vector<unsigned> codes = host_copy_of(d_codes, count);
    for (int i = 0; i < count; i += p.small ? 1 : 37)
        pair_near(&p, "code", i, expected_code(seconds[i] + zone_seconds), codes[i], 0);
    return pair_end(&p);
}
