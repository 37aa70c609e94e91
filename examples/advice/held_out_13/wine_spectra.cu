// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: sums are kept in local variables and stored once.
// Why: the sums are loaded and stored at each wavelength, because they might overlap what is loaded there.
#include "../common.h"

enum { BLOCK = 128, PROPERTIES = 4 };

// Sugar, acid, alcohol and tannin of each wine from its infrared spectrum (partial least squares on its slope).
__global__ void wine_spectra(const float *absorbance, const float *coefficients, float *properties, int wines,
                             int wavelengths) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float last = absorbance[i];
#ifdef AFTER
    float sums[PROPERTIES] = {0};
#else
    for (int k = 0; k < PROPERTIES; k++)
        properties[k * wines + i] = 0;
#endif
    for (int w = 1; w < wavelengths; w++) {
        float here = absorbance[(size_t)w * wines + i], slope = here - last;
        for (int k = 0; k < PROPERTIES; k++)
#ifdef AFTER
            sums[k] += slope * coefficients[w * PROPERTIES + k];
#else
            properties[k * wines + i] += slope * coefficients[w * PROPERTIES + k];
#endif
        last = here;
    }
#ifdef AFTER
    for (int k = 0; k < PROPERTIES; k++)
        properties[k * wines + i] = sums[k];
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wine_spectra");
    int wines = p.small ? 512 : 1 << 16, wavelengths = p.small ? 32 : 200;
    std::vector<float> absorbance = random_floats((size_t)wines * wavelengths, 0, 2, 1),
                       coefficients = random_floats(wavelengths * PROPERTIES, -1, 1, 2);
    float *d_absorbance = device_copy_of(absorbance.data(), absorbance.size()),
          *d_coefficients = device_copy_of(coefficients.data(), coefficients.size()),
          *d_properties = device_array<float>(wines * PROPERTIES);
    pair_time(&p, [&] {
        wine_spectra<<<wines / BLOCK, BLOCK>>>(d_absorbance, d_coefficients, d_properties, wines, wavelengths);
    });
    std::vector<float> properties = host_copy_of(d_properties, wines * PROPERTIES);
    for (int i = 0; i < wines; i += 89)
        for (int k = 0; k < PROPERTIES; k++) {
            double sum = 0;
            for (int w = 1; w < wavelengths; w++)
                sum += ((double)absorbance[(size_t)w * wines + i] - absorbance[(size_t)(w - 1) * wines + i]) *
                       coefficients[w * PROPERTIES + k];
            pair_near(&p, "property", (size_t)k * wines + i, sum, properties[k * wines + i], 1e-4);
        }
    return pair_end(&p);
}
