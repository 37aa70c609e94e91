// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: days, years and all that is computed from them are int instead of long long.
// Why: every division by a constant is a chain of 64-bit multiplications, made of many instructions; 31 bits suffice.
#include "../common.h"

#include <cstdint>

#ifdef AFTER
typedef int32_t Number;
#else
typedef int64_t Number;
#endif

template <typename T> struct Date {
    T year, month, day;
};

// Days since 1 January 1970 of a date of the Gregorian calendar; 29 February is 1 March where there is none.
template <typename T> __host__ __device__ inline T days_of(T year, T month, T day) {
    T y = year - (month <= 2), of_era = y % 400, shifted = month > 2 ? month - 3 : month + 9;
    T of_year = (153 * shifted + 2) / 5 + day - 1;
    return y / 400 * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

template <typename T> __host__ __device__ inline Date<T> date_of(T days) {
    T z = days + 719468, of_era = z % 146097;
    T year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    T of_year = of_era - (365 * year + year / 4 - year / 100), shifted = (5 * of_year + 2) / 153;
    T month = shifted < 10 ? shifted + 3 : shifted - 9;
    return {z / 146097 * 400 + year + (month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1};
}

template <typename T> __host__ __device__ inline T easter_of(T year) {
    T a = year % 19, b = year / 100, c = year % 100, g = (8 * b + 13) / 25;
    T h = (19 * a + b - b / 4 - g + 15) % 30, k = (32 + 2 * (b % 4) + 2 * (c / 4) - h - c % 4) % 7;
    T m = (a + 11 * h + 22 * k) / 451, n = h + k - 7 * m + 114;
    return days_of<T>(year, n / 31, n % 31 + 1);
}

struct Count {
    int weekends, easters;
};

// How many birthdays of somebody born on a day, from the first one to the year `until`, are at a weekend, and how many
// from Good Friday to Easter Monday.
template <typename T> __host__ __device__ inline Count birthdays(int born, int until) {
    Date<T> date = date_of<T>(born);
    Count count = {0, 0};
    for (T year = date.year + 1; year <= until; year++) {
        T today = days_of<T>(year, date.month, date.day), weekday = (today + 719468 + 3) % 7;  // 0: Sunday
        T after = today - easter_of<T>(year);
        count.weekends += weekday == 0 || weekday == 6;
        count.easters += after >= -2 && after <= 1;
    }
    return count;
}

__global__ void count_holidays(const int *born, Count *counts, int people, int until) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < people; i += gridDim.x * blockDim.x)
        counts[i] = birthdays<Number>(born[i], until);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "holidays");
    int people = p.small ? 512 : 132 * 2048, until = p.small ? 1965 : 2025, block = p.small ? 256 : 1024;
    std::vector<int> born(people);
    lcg_fill(born.data(), people, 11, p.small ? 1500 : 28000);
    for (int &day : born)
        day -= p.small ? 3500 : 14600;  // 1960 to 1964; 1930 to 2006
    int *d_born = device_copy_of(born.data(), people);
    Count *d_counts = device_array<Count>(people);
    pair_time(&p, [&] { count_holidays<<<(people + block - 1) / block, block>>>(d_born, d_counts, people, until); });
    std::vector<Count> counts = host_copy_of(d_counts, people);
    // Known days: Sunday 31 March 2024 was Easter, 1 January 2000 was day 10957.
    pair_near(&p, "easter", 2024, days_of<long>(2024, 3, 31), easter_of<Number>(2024), 0);
    pair_near(&p, "day", 2000, 10957, days_of<Number>(2000, 1, 1), 0);
    for (int i = 0; i < people; i += p.small ? 1 : 31) {
        Count want = birthdays<long>(born[i], until);
        pair_near(&p, "weekends", i, want.weekends, counts[i].weekends, 0);
        pair_near(&p, "easters", i, want.easters, counts[i].easters, 0);
    }
    return pair_end(&p);
}
