// SPDX-License-Identifier: Apache-2.0
#include "analyze/advice/interval.h"

#include <math.h>

#define NORMAL_95 1.6449  // of a normal distribution 95 % is below so many standard deviations
#define FARTHEST 12.0     // of a logarithm: what is above is not written as a figure

Interval interval_around(f64 speedup, f64 width, f64 error) {
    f64 x = log(fmax(speedup, 1)), sampling = NORMAL_95 * error * (1 - exp(-x));  // d ln(s) = (s - 1) / s d ln(s - 1)
    f64 above = hypot(INTERVAL_ABOVE * width * sqrt(x + INTERVAL_FLOOR_ABOVE), sampling);
    f64 below = hypot(INTERVAL_BELOW * width * (x + INTERVAL_FLOOR_BELOW), sampling);
    return (Interval){exp(fmax(x - below, 0)), exp(x + fmin(above, FARTHEST))};
}
