// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: loop-unrolling
// Change: the order of the predictor is a template parameter, so that all loops unroll.
// Why: places in the arrays are known only at run time, so that these are in local memory instead of in registers.
#include "../common.h"

enum { BLOCK = 128, HIGHEST = 16, USUAL = 10 };

// The linear predictor of a frame of speech from its autocorrelation (Levinson and Durbin), for a voice codec.
#ifdef AFTER
template <int order> __global__ void levinson(const float *lags, float *predictors, float *errors, int frames) {
#else
__global__ void levinson(const float *lags, float *predictors, float *errors, int frames, int order) {
#endif
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float lag[HIGHEST + 1], predictor[HIGHEST], before[HIGHEST];
#pragma unroll
    for (int k = 0; k <= order; k++)
        lag[k] = lags[k * frames + i];
    float error = lag[0];
#pragma unroll
    for (int k = 0; k < order; k++) {
        float sum = lag[k + 1];
#pragma unroll
        for (int j = 0; j < k; j++)
            sum -= predictor[j] * lag[k - j];
        float reflection = sum / error;
#pragma unroll
        for (int j = 0; j < k; j++)
            before[j] = predictor[j];
#pragma unroll
        for (int j = 0; j < k; j++)
            predictor[j] = before[j] - reflection * before[k - 1 - j];
        predictor[k] = reflection;
        error *= 1.0f - reflection * reflection;
    }
#pragma unroll
    for (int k = 0; k < order; k++)
        predictors[k * frames + i] = predictor[k];
    errors[i] = error;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "levinson");
    int frames = p.small ? 1 << 11 : 1 << 19, order = USUAL;
    std::vector<float> lags = random_floats((size_t)frames * (order + 1), -0.07f, 0.07f, 1);
    for (int i = 0; i < frames; i++)
        lags[i] = 1 + fabsf(lags[i]);
    float *d_lags = device_copy_of(lags.data(), lags.size()), *d_errors = device_array<float>(frames),
          *d_predictors = device_array<float>((size_t)frames * order);
    pair_time(&p, [&] {
#ifdef AFTER
        levinson<USUAL><<<frames / BLOCK, BLOCK>>>(d_lags, d_predictors, d_errors, frames);
#else
        levinson<<<frames / BLOCK, BLOCK>>>(d_lags, d_predictors, d_errors, frames, order);
#endif
    });
    std::vector<float> errors = host_copy_of(d_errors, frames),
                       predictors = host_copy_of(d_predictors, (size_t)frames * order);
    for (int i = 0; i < frames; i += 67) {
        double predictor[USUAL] = {}, error = lags[i];
        for (int k = 0; k < order; k++) {
            double sum = lags[(size_t)(k + 1) * frames + i], before[USUAL];
            for (int j = 0; j < k; j++)
                sum -= predictor[j] * lags[(size_t)(k - j) * frames + i];
            double reflection = sum / error;
            std::copy(predictor, predictor + USUAL, before);
            for (int j = 0; j < k; j++)
                predictor[j] = before[j] - reflection * before[k - 1 - j];
            predictor[k] = reflection;
            error *= 1 - reflection * reflection;
        }
        pair_near(&p, "error", i, error, errors[i], 1e-4);
        for (int k = 0; k < order; k++)
            pair_near(&p, "predictor", (size_t)k * frames + i, predictor[k], predictors[(size_t)k * frames + i], 1e-4);
    }
    return pair_end(&p);
}
