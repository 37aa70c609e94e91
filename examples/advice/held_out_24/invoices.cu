// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: one kernel adds up the lines of an invoice and taxes the sums, instead of one kernel for each step.
// Why: the net sums of both tax rates stay in registers; between two kernels they are written to memory and read again.
#include "../common.h"

enum { BLOCK = 512, LINES = 4 };

// Sums in cents, of goods at the full and at the reduced tax rate.
struct Net {
    long long full, reduced;
};

struct Line {
    const unsigned char *pieces;  // 0: no such line; top bit: at the reduced rate
    const int *cents;             // of one piece
};

struct Lines {
    Line line[LINES];
};

__host__ __device__ inline Net net_of(const Lines &lines, const unsigned char *discount, int i) {
    Net net = {0, 0};
    int percent = 100 - discount[i];
    for (int k = 0; k < LINES; k++) {
        int pieces = lines.line[k].pieces[i];
        if (pieces == 0)
            break;
        long long amount = ((long long)(pieces & 127) * lines.line[k].cents[i] * percent + 50) / 100;
        if (pieces & 128)
            net.reduced += amount;
        else
            net.full += amount;
    }
    return net;
}

// Tax, each rate rounded for itself; the amount to pay.
__host__ __device__ inline void tax_of(Net net, int *tax, long long *due) {
    long long full = (net.full * 19 + 50) / 100, reduced = (net.reduced * 7 + 50) / 100;
    *tax = (int)(full + reduced);
    *due = net.full + net.reduced + full + reduced;
}

#ifdef AFTER
__global__ void bill(Lines lines, const unsigned char *discount, int *tax, long long *due, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        tax_of(net_of(lines, discount, i), &tax[i], &due[i]);
}
#else
__global__ void add_lines(Lines lines, const unsigned char *discount, long long *full, long long *reduced, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    Net net = net_of(lines, discount, i);
    full[i] = net.full;
    reduced[i] = net.reduced;
}

__global__ void add_tax(const long long *full, const long long *reduced, int *tax, long long *due, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    Net net = {full[i], reduced[i]};
    tax_of(net, &tax[i], &due[i]);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "invoices");
    int n = p.small ? 3000 : 6000000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<unsigned char> pieces[LINES], discount(n);
    std::vector<int> cents[LINES];
    Lines host, device;
    for (int k = 0; k < LINES; k++) {
        pieces[k].resize(n);
        cents[k].resize(n);
        lcg_fill(pieces[k].data(), n, 10 + k, 256);
        lcg_fill(cents[k].data(), n, 20 + k, 50000);
        for (int i = 0; i < n; i++)  // on average, every fourth line is the last one
            if (cents[k][i] % 4 == 0)
                pieces[k][i] = 0;
        host.line[k] = {pieces[k].data(), cents[k].data()};
        device.line[k] = {device_copy_of(pieces[k].data(), n), device_copy_of(cents[k].data(), n)};
    }
    lcg_fill(discount.data(), n, 3, 16);
    unsigned char *d_discount = device_copy_of(discount.data(), n);
    int *d_tax = device_array<int>(n);
    long long *d_due = device_array<long long>(n);
#ifdef AFTER
    pair_time(&p, [&] { bill<<<blocks, BLOCK>>>(device, d_discount, d_tax, d_due, n); });
#else
    long long *d_full = device_array<long long>(n), *d_reduced = device_array<long long>(n);
    pair_time(&p, [&] {
        add_lines<<<blocks, BLOCK>>>(device, d_discount, d_full, d_reduced, n);
        add_tax<<<blocks, BLOCK>>>(d_full, d_reduced, d_tax, d_due, n);
    });
#endif
    std::vector<int> tax = host_copy_of(d_tax, n);
    std::vector<long long> due = host_copy_of(d_due, n);
    for (int i = 0; i < n; i += p.small ? 1 : 17) {
        int want_tax;
        long long want_due;
        tax_of(net_of(host, discount.data(), i), &want_tax, &want_due);
        pair_near(&p, "tax", i, want_tax, tax[i], 0);
        pair_near(&p, "due", i, (double)want_due, (double)due[i], 0);
    }
    return pair_end(&p);
}
