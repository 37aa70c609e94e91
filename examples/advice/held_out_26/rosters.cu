// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: a person's row of days in shared memory has one unused word at its end.
// Why: rows of 32 words begin in the same bank, so that the 32 threads of a warp, each in its row, wait for each other.
#include "../common.h"

enum { BLOCK = 128, DAYS = 32, WEEK = 7 };

#ifdef AFTER
enum { ROW = DAYS + 1 };
#else
enum { ROW = DAYS };
#endif

struct Rules {
    int most_minutes_a_week, night_start, bonus_percent;
};

struct Account {
    int paid_minutes, worst_week, days_in_a_row;
};

// A day is minutes worked, and above them the minute of the day when work began.
static __host__ __device__ int minutes_of(unsigned day) { return day & 0xfff; }

static __host__ __device__ void add_day(Account *account, int *week, int *row_of_days, unsigned today, unsigned gone,
                                        const Rules &rules) {
    int minutes = minutes_of(today), begin = today >> 12;
    *week += minutes - minutes_of(gone);
    *row_of_days = minutes > 0 ? *row_of_days + 1 : 0;
    account->paid_minutes += begin >= rules.night_start ? minutes * rules.bonus_percent / 100 : minutes;
    account->paid_minutes += *week > rules.most_minutes_a_week ? minutes / 4 : 0;
    account->worst_week = account->worst_week > *week ? account->worst_week : *week;
    account->days_in_a_row = account->days_in_a_row > *row_of_days ? account->days_in_a_row : *row_of_days;
}

// The accounts of a hospital's people: a block reads the days of BLOCK of them together, then each thread takes one.
__global__ void settle(const unsigned *days, Account *accounts, Rules rules, int people) {
    __shared__ unsigned tile[BLOCK * ROW];
    int first = blockIdx.x * BLOCK, here = min(BLOCK, people - first);
    for (int k = threadIdx.x; k < here * DAYS; k += BLOCK)
        tile[k / DAYS * ROW + k % DAYS] = days[(size_t)first * DAYS + k];
    __syncthreads();
    if ((int)threadIdx.x >= here)
        return;
    const unsigned *mine = tile + threadIdx.x * ROW;
    Account account = {0, 0, 0};
    int week = 0, row_of_days = 0;
    for (int d = 0; d < DAYS; d++)
        add_day(&account, &week, &row_of_days, mine[d], d >= WEEK ? mine[d - WEEK] : 0, rules);
    accounts[first + threadIdx.x] = account;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rosters");
    int people = p.small ? 1000 : 1000000;
    size_t count = (size_t)people * DAYS;
    Rules rules = {2400, 20 * 60, 125};
    unsigned seed = 17;
    std::vector<unsigned> days(count);
    for (unsigned &day : days) {
        unsigned r = lcg_next(&seed, 1 << 20);
        day = r % 10 < 3 ? 0 : 240 + r % 360 | (r >> 5) % 1440 << 12;
    }
    unsigned *d_days = device_copy_of(days.data(), count);
    Account *d_accounts = device_array<Account>(people);
    pair_time(&p, [&] { settle<<<(people + BLOCK - 1) / BLOCK, BLOCK>>>(d_days, d_accounts, rules, people); });
    std::vector<Account> accounts = host_copy_of(d_accounts, people);
    for (int i = 0; i < people; i += p.small ? 1 : 19) {
        Account account = {0, 0, 0};
        int week = 0, row_of_days = 0;
        const unsigned *mine = &days[(size_t)i * DAYS];
        for (int d = 0; d < DAYS; d++)
            add_day(&account, &week, &row_of_days, mine[d], d >= WEEK ? mine[d - WEEK] : 0, rules);
        pair_near(&p, "paid", i, account.paid_minutes, accounts[i].paid_minutes, 0);
        pair_near(&p, "worst week", i, account.worst_week, accounts[i].worst_week, 0);
        pair_near(&p, "days in a row", i, account.days_in_a_row, accounts[i].days_in_a_row, 0);
    }
    return pair_end(&p);
}
