// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the four steps of the payroll are one kernel.
// Why: each step writes an array that the next one reads again; nobody else wants it.
#include "../common.h"

enum { BLOCK = 256 };

__device__ float gross_of(float hours, float rate) {
    float overtime = fmaxf(hours - 160, 0.0f);
    return (hours + 0.25f * overtime) * rate;
}

__device__ float insurance_of(float gross) {
    return 0.093f * fminf(gross, 7550.0f) + 0.0805f * fminf(gross, 5175.0f);
}

__device__ float tax_of(float taxable) {
    float a = fminf(fmaxf(taxable - 1000, 0.0f), 500.0f), b = fminf(fmaxf(taxable - 1500, 0.0f), 4000.0f),
          c = fmaxf(taxable - 5500, 0.0f);
    return 0.14f * a + (0.24f + 0.00004f * b) * b + 0.42f * c;
}

__device__ float net_of(float gross, float insurance, float tax, float extras) {
    return gross - insurance - tax + (extras > 0 ? 0.7f * extras : extras);
}

#ifdef AFTER
__global__ void payroll(const float *hours, const float *rates, const float *extras, float *net, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count)
        return;
    float gross = gross_of(hours[i], rates[i]);
    float insurance = insurance_of(gross);
    float tax = tax_of(gross - insurance);
    net[i] = net_of(gross, insurance, tax, extras[i]);
}
#else
__global__ void add_up_hours(const float *hours, const float *rates, float *gross, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        gross[i] = gross_of(hours[i], rates[i]);
}

__global__ void insure(const float *gross, float *insurance, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        insurance[i] = insurance_of(gross[i]);
}

__global__ void tax_income(const float *gross, const float *insurance, float *tax, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        tax[i] = tax_of(gross[i] - insurance[i]);
}

__global__ void pay_out(const float *gross, const float *insurance, const float *tax, const float *extras, float *net,
                        int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        net[i] = net_of(gross[i], insurance[i], tax[i], extras[i]);
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "payslips");
    int n = p.small ? 2048 : 12000000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<float> hours = random_floats(n, 40, 200, 1), rates = random_floats(n, 12, 60, 2),
                       extras = random_floats(n, -100, 400, 3);
    float *d_hours = device_copy_of(hours.data(), n), *d_rates = device_copy_of(rates.data(), n),
          *d_extras = device_copy_of(extras.data(), n), *d_net = device_array<float>(n);
#ifdef AFTER
    pair_time(&p, [&] { payroll<<<blocks, BLOCK>>>(d_hours, d_rates, d_extras, d_net, n); });
#else
    float *d_gross = device_array<float>(n), *d_insurance = device_array<float>(n), *d_tax = device_array<float>(n);
    pair_time(&p, [&] {
        add_up_hours<<<blocks, BLOCK>>>(d_hours, d_rates, d_gross, n);
        insure<<<blocks, BLOCK>>>(d_gross, d_insurance, n);
        tax_income<<<blocks, BLOCK>>>(d_gross, d_insurance, d_tax, n);
        pay_out<<<blocks, BLOCK>>>(d_gross, d_insurance, d_tax, d_extras, d_net, n);
    });
#endif
    std::vector<float> net = host_copy_of(d_net, n);
    for (int i = 0; i < n; i += p.small ? 1 : 53) {
        double gross = (hours[i] + 0.25 * std::max(hours[i] - 160.0, 0.0)) * rates[i];
        double insurance = 0.093 * std::min(gross, 7550.0) + 0.0805 * std::min(gross, 5175.0);
        double taxable = gross - insurance, a = std::min(std::max(taxable - 1000, 0.0), 500.0),
               b = std::min(std::max(taxable - 1500, 0.0), 4000.0), c = std::max(taxable - 5500, 0.0);
        double tax = 0.14 * a + (0.24 + 0.00004 * b) * b + 0.42 * c;
        pair_near(&p, "net", i, gross - insurance - tax + (extras[i] > 0 ? 0.7 : 1.0) * extras[i], net[i], 1e-4);
    }
    return pair_end(&p);
}
