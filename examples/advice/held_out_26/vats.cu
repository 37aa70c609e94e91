// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: a thread reads the fill and the size of all its vats first; it read each vat's after writing the last one's.
// Why: a store may change what a later load reads, as far as the compiler knows, so that loads waited one by one.
#include "../common.h"

enum { BLOCK = 256, VATS = 10 };

// Rows of vats in a dye works, each vat higher than the next one: what does not fit flows over into the next vat. In
// each vat some of the liquid is lost to the air. Arrays are by vat, then by row.
__global__ void flow_over(const double *fill, const float *size, const double *inflow, double *new_fill, double *spilt,
                          double loss, int rows) {
    int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    double arriving = inflow[row];
#ifdef AFTER
    double was[VATS];
    float fits[VATS];
#pragma unroll
    for (int v = 0; v < VATS; v++) {
        was[v] = fill[(size_t)v * rows + row];
        fits[v] = size[(size_t)v * rows + row];
    }
#pragma unroll
    for (int v = 0; v < VATS; v++) {
        double level = was[v] * (1 - loss) + arriving, most = fits[v];
        arriving = fmax(0.0, level - most);
        new_fill[(size_t)v * rows + row] = level - arriving;
    }
#else
#pragma unroll
    for (int v = 0; v < VATS; v++) {
        double was = fill[(size_t)v * rows + row];
        float fits = size[(size_t)v * rows + row];
        double level = was * (1 - loss) + arriving, most = fits;
        arriving = fmax(0.0, level - most);
        new_fill[(size_t)v * rows + row] = level - arriving;
    }
#endif
    spilt[row] = arriving;
}

static std::vector<double> random_doubles(size_t count, double high, unsigned seed) {
    std::vector<double> out(count);
    for (double &d : out)
        d = high * lcg_next(&seed, 1 << 20) / (1 << 20);
    return out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "vats");
    int rows = p.small ? 3000 : 1500000;
    size_t count = (size_t)rows * VATS;
    double loss = 0.03;
    std::vector<double> fill = random_doubles(count, 900, 1), inflow = random_doubles(rows, 800, 2);
    std::vector<float> size = random_floats(count, 500, 950, 3);
    double *d_fill = device_copy_of(fill.data(), count), *d_inflow = device_copy_of(inflow.data(), rows);
    double *d_new_fill = device_array<double>(count), *d_spilt = device_array<double>(rows);
    float *d_size = device_copy_of(size.data(), count);
    pair_time(&p, [&] {
        flow_over<<<(rows + BLOCK - 1) / BLOCK, BLOCK>>>(d_fill, d_size, d_inflow, d_new_fill, d_spilt, loss, rows);
    });
    std::vector<double> new_fill = host_copy_of(d_new_fill, count), spilt = host_copy_of(d_spilt, rows);
    for (int row = 0; row < rows; row += p.small ? 1 : 29) {
        double arriving = inflow[row];
        for (size_t at = row; at < count; at += rows) {
            double level = fill[at] * (1 - loss) + arriving;
            arriving = std::max(0.0, level - size[at]);
            pair_near(&p, "new fill", at, level - arriving, new_fill[at], 1e-10);
        }
        pair_near(&p, "spilt", row, arriving, spilt[row], 1e-10);
    }
    return pair_end(&p);
}
