// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: the grid has a block for every 256 relics, instead of 40 blocks that go over all of them in strides.
// Why: 40 blocks use 40 of 132 SMs, with 8 warps each.
#include "../common.h"

enum { BLOCK = 256, FEW_BLOCKS = 40 };

// A radiocarbon measurement: conventional age and its error, in years.
struct Measurement {
    float age, error;
};

// A year of the calibration curve: what a relic that old measures, and the variance of that.
struct CurvePoint {
    float age, variance;
};

struct Curve {
    const CurvePoint *points;
    int count;
    float first_year, step;
};

// The calibrated date: mean and standard deviation of the posterior, and how probable it is before a given year.
struct Date {
    float mean, deviation, before;
};

template <typename T> struct Moments {
    T weight, first, second, early;
};

// Moments about the measured age, so that the squares stay small.
static __device__ void add_year(Moments<float> *m, const Measurement &relic, const CurvePoint &point, float year,
                                float limit) {
    float variance = point.variance + relic.error * relic.error, scale = rsqrtf(variance);
    float apart = (relic.age - point.age) * scale, offset = year - relic.age;
    float weight = expf(-0.5f * apart * apart) * scale;
    m->weight += weight;
    m->first += weight * offset;
    m->second += weight * offset * offset;
    m->early += year > limit ? weight : 0.0f;
}

__global__ void __launch_bounds__(BLOCK) calibrate(const Measurement *__restrict__ relics, const Curve curve,
                                                   Date *__restrict__ dates, float limit, int count) {
    const CurvePoint *__restrict__ points = curve.points;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        Measurement relic = relics[i];
        Moments<float> m = {0, 0, 0, 0};
        for (int k = 0; k < curve.count; k++)
            add_year(&m, relic, points[k], curve.first_year + curve.step * k, limit);
        float mean = m.first / m.weight;
        dates[i] = {relic.age + mean, sqrtf(fmaxf(m.second / m.weight - mean * mean, 0.0f)), m.early / m.weight};
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "relics");
    int count = p.small ? 132 * 128 - 50 : 132 * 512 - 50, years = p.small ? 128 : 1600;
    float step = p.small ? 80 : 8, limit = 5000;
    std::vector<CurvePoint> points(years);
    for (int k = 0; k < years; k++) {
        float year = step * k;
        points[k] = {0.92f * year + 60 * sinf(year / 210) + 25 * cosf(year / 67), 150 + 0.02f * year};
    }
    std::vector<Measurement> relics(count);
    std::vector<float> age = random_floats(count, 600, 0.88f * step * years, 1),
                       error = random_floats(count, p.small ? 120 : 20, p.small ? 200 : 90, 2);
    for (int i = 0; i < count; i++)
        relics[i] = {age[i], error[i]};
    Curve curve = {device_copy_of(points.data(), years), years, 0, step};
    Measurement *d_relics = device_copy_of(relics.data(), count);
    Date *d_dates = device_array<Date>(count);
#ifdef AFTER
    int blocks = (count + BLOCK - 1) / BLOCK;
#else
    int blocks = FEW_BLOCKS;
#endif
    pair_time(&p, [&] { calibrate<<<blocks, BLOCK>>>(d_relics, curve, d_dates, limit, count); });
    std::vector<Date> dates = host_copy_of(d_dates, count);
    for (int i = 0; i < count; i += count / 151) {
        Moments<double> m = {0, 0, 0, 0};
        for (int k = 0; k < years; k++) {
            double variance = points[k].variance + (double)relics[i].error * relics[i].error;
            double apart = (double)relics[i].age - points[k].age, offset = (double)step * k - relics[i].age;
            double weight = exp(-0.5 * apart * apart / variance) / sqrt(variance);
            m.weight += weight;
            m.first += weight * offset;
            m.second += weight * offset * offset;
            m.early += step * k > limit ? weight : 0;
        }
        double mean = m.first / m.weight, variance = m.second / m.weight - mean * mean;
        pair_near(&p, "mean", i, relics[i].age + mean, dates[i].mean, 1e-4);
        pair_near(&p, "deviation", i, sqrt(std::max(variance, 0.0)), dates[i].deviation, 1e-2);
        pair_near(&p, "before", i, m.early / m.weight, dates[i].before, 1e-3);
    }
    return pair_end(&p);
}
