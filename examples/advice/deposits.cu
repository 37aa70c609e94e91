// SPDX-License-Identifier: Apache-2.0
//
// Rule: lock-contention
// Change: a deposit is one atomic addition to its account, which no longer has a lock.
// Why: threads that wait for an account's lock ask for it over and over, and its holder waits for three round trips to
// the L2.
#include "common.h"

enum { BLOCK = 256, ACCOUNTS = 4096 };

struct Account {
    unsigned long long cents;
    int lock, unused;
};

__device__ static void deposit(Account *account, unsigned cents) {
#ifdef AFTER
    atomicAdd(&account->cents, (unsigned long long)cents);
#else
    bool done = false;
    while (!done) {
        if (atomicCAS(&account->lock, 0, 1) == 0) {
            __threadfence();
            volatile unsigned long long *sum = &account->cents;
            *sum = *sum + cents;
            __threadfence();
            atomicExch(&account->lock, 0);
            done = true;
        }
    }
#endif
}

__global__ void book(const uint2 *entry, Account *accounts, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        deposit(&accounts[entry[i].x % ACCOUNTS], entry[i].y);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "deposits");
    int n = p.small ? 1 << 15 : 1 << 19;
    unsigned seed = 3;
    std::vector<uint2> entry((size_t)n);
    for (uint2 &e : entry)
        e.x = lcg_next(&seed, 1 << 20), e.y = 1 + lcg_next(&seed, 100000);
    uint2 *d_entry = device_copy_of(entry.data(), entry.size());
    Account *d_accounts = device_array<Account>(ACCOUNTS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_accounts, 0, ACCOUNTS * sizeof(Account)));
        book<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_entry, d_accounts, n);
    });
    std::vector<unsigned long long> sums(ACCOUNTS);
    for (const uint2 &e : entry)
        sums[e.x % ACCOUNTS] += e.y;
    std::vector<Account> got = host_copy_of(d_accounts, ACCOUNTS);
    for (size_t a = 0; a < ACCOUNTS; a++)
        pair_near(&p, "cents", a, (double)sums[a], (double)got[a].cents, 0);
    return pair_end(&p);
}
