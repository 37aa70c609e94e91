// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: the 16 bytes of a label are loaded as one uint4, not byte by byte.
// Why: 16 loads of a byte, each of them for a warp spread over 512 bytes, keep the load units busy; the compiler may
// not join them as it does not know that the labels are aligned.
#include "../common.h"

enum { DIGITS = 13, LABEL = 16, BLOCK = 192 };

struct Scan {
    unsigned long long number;  // the 12 digits without the check digit; 0 if that is wrong
    unsigned shelf;
    unsigned check;
};

// Reads labels of goods: 13 digits of which the last is a check digit, then three bytes telling aisle, shelf and place.
__global__ void __launch_bounds__(BLOCK) read_labels(const unsigned char *__restrict__ labels,
                                                     const int *__restrict__ first_shelf, Scan *__restrict__ scans,
                                                     int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    union {
        uint4 vector;
        unsigned char byte[LABEL];
    } label;
#ifdef AFTER
    label.vector = reinterpret_cast<const uint4 *>(labels)[i];
#else
#pragma unroll
    for (int k = 0; k < LABEL; k++)
        label.byte[k] = labels[(size_t)LABEL * i + k];
#endif
    unsigned sum = 0;
    unsigned long long number = 0;
#pragma unroll
    for (int k = 0; k < DIGITS - 1; k++) {
        unsigned digit = label.byte[k] - '0';
        sum += k & 1 ? 3 * digit : digit;
        number = 10 * number + digit;
    }
    unsigned check = (10 - sum % 10) % 10;
    Scan scan = {check == label.byte[DIGITS - 1] - (unsigned)'0' ? number : 0, 0, check};
    scan.shelf = first_shelf[label.byte[13]] + 16 * label.byte[14] + label.byte[15];
    scans[i] = scan;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "barcodes");
    int n = p.small ? 5000 : 6000000;
    std::vector<unsigned char> labels((size_t)n * LABEL);
    std::vector<unsigned> expected_check(n);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        unsigned char *label = &labels[(size_t)LABEL * i];
        unsigned sum = 0;
        for (int half = 0; half < 2; half++) {
            unsigned value = lcg_next(&seed, 1000000);
            for (int k = 6 * half; k < 6 * half + 6; k++, value /= 10) {
                label[k] = '0' + value % 10;
                sum += value % 10 * (k & 1 ? 3 : 1);
            }
        }
        expected_check[i] = (1000 - sum) % 10;
        unsigned where = lcg_next(&seed, 1 << 24);
        label[12] = '0' + (where % 8 ? expected_check[i] : (expected_check[i] + 1) % 10);  // every eighth is wrong
        label[13] = where >> 4 & 63;
        label[14] = where >> 10 & 255;
        label[15] = where >> 18 & 15;
    }
    std::vector<int> first_shelf(64);
    for (int k = 0; k < 64; k++)
        first_shelf[k] = 5000 * k + k * k;
    unsigned char *d_labels = device_copy_of(labels.data(), labels.size());
    int *d_first_shelf = device_copy_of(first_shelf.data(), 64);
    Scan *d_scans = device_array<Scan>(n);
    pair_time(&p, [&] { read_labels<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_labels, d_first_shelf, d_scans, n); });
    std::vector<Scan> scans = host_copy_of(d_scans, n);
    for (int i = 0; i < n; i += p.small ? 1 : 11) {
        const unsigned char *label = &labels[(size_t)LABEL * i];
        double number = 0;  // below 10^12: exact
        for (int k = 0; k < DIGITS - 1; k++)
            number = 10 * number + (label[k] - '0');
        if (label[12] - '0' != (int)expected_check[i])
            number = 0;
        pair_near(&p, "number", i, number, (double)scans[i].number, 0);
        pair_near(&p, "check", i, expected_check[i], scans[i].check, 0);
        pair_near(&p, "shelf", i, first_shelf[label[13]] + 16 * label[14] + label[15], scans[i].shelf, 0);
    }
    return pair_end(&p);
}
