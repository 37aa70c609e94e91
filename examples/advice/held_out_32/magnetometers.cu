// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the warps of a block take the orders of the series in turn (0, 8, 16, ...) instead of 32 in a row each.
// Why: order m has terms from degree m on only, so that the first warp has fifteen times the work of the last one.
#include "../common.h"

enum { WARPS = 8, LANES = 32, BLOCK = WARPS * LANES };

// One term of the series: the recurrence that leads to it, and the two Gauss coefficients.
struct __align__(16) Term {
    double up, down, g, h;
};

struct Site {
    double sine, cosine;      // of the colatitude
    double longitude, ratio;  // radius of the Earth over that of the site
};

struct Series {
    const Term *terms;   // order by order, each from degree = order to the last degree
    const double *seed;  // norm of the first function of every order
    int degree;
};

static __host__ __device__ size_t first_term(int order, int degree) {
    return (size_t)order * (degree + 1) - (size_t)order * (order - 1) / 2;
}

static __host__ __device__ double whole_power(double x, int n) {
    double out = 1;
    for (; n; n >>= 1, x *= x)
        if (n & 1)
            out *= x;
    return out;
}

// All terms of one order at one site, by the three-term recurrence over the degree.
static __host__ __device__ double order_sum(const Series &s, const Site &site, int order) {
    const Term *term = s.terms + first_term(order, s.degree);
    double along = site.sine * site.ratio, forward = site.cosine * site.ratio, backward = site.ratio * site.ratio;
    double last = 0, now = s.seed[order] * whole_power(along, order), sum_g = now * term->g, sum_h = now * term->h;
    for (int k = 1; k <= s.degree - order; k++) {
        Term t = term[k];
        double next = t.up * forward * now - t.down * backward * last;
        last = now;
        now = next;
        sum_g += now * t.g;
        sum_h += now * t.h;
    }
    double turn_sine, turn_cosine;
    sincos(order * site.longitude, &turn_sine, &turn_cosine);
    return sum_g * turn_cosine + sum_h * turn_sine;
}

// The potential of the Earth's magnetic field at the sites of a survey. A block has 32 sites, one to a lane; its warps
// share the orders.
__global__ void __launch_bounds__(BLOCK) magnetometers(Series s, const Site *sites, double *potential, int count) {
    __shared__ double part[WARPS][LANES];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, i = blockIdx.x * LANES + lane;
    Site site = sites[min(i, count - 1)];
    double sum = 0;
#ifdef AFTER
    for (int order = warp; order <= s.degree; order += WARPS)
        sum += order_sum(s, site, order);
#else
    int share = (s.degree + WARPS) / WARPS, end = min((warp + 1) * share, s.degree + 1);
    for (int order = warp * share; order < end; order++)
        sum += order_sum(s, site, order);
#endif
    part[warp][lane] = sum;
    __syncthreads();
    if (warp || i >= count)
        return;
    for (int w = 1; w < WARPS; w++)
        sum += part[w][lane];
    potential[i] = site.ratio * sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "magnetometers");
    int degree = p.small ? 63 : 255, count = LANES * (p.small ? 132 : 264) - 5;
    size_t term_count = first_term(degree, degree) + 1;
    std::vector<float> random = random_floats(2 * term_count, -1, 1, 1);
    std::vector<Term> terms;
    std::vector<double> seed(degree + 1, 1.0);
    for (int m = 0; m <= degree; m++) {
        if (m)
            seed[m] = seed[m - 1] * sqrt((2.0 * m + 1) / (2.0 * m));
        for (int l = m; l <= degree; l++) {
            double span = (double)l * l - (double)m * m, fade = 1.0 / ((l + 1.0) * (l + 1.0));
            Term t = {0, 0, fade * random[2 * terms.size()], fade * random[2 * terms.size() + 1]};
            if (l > m)
                t.up = sqrt((4.0 * l * l - 1) / span);
            if (l > m + 1)
                t.down = sqrt((2.0 * l + 1) * (l + m - 1) * (l - m - 1) / (span * (2.0 * l - 3)));
            terms.push_back(t);
        }
    }
    std::vector<float> place = random_floats((size_t)3 * count, 0, 1, 2);
    std::vector<Site> sites(count);
    for (int i = 0; i < count; i++) {
        double colatitude = 0.2 + 2.7 * place[3 * i], height = 0.5 + 3 * place[3 * i + 2];  // km
        sites[i] = {sin(colatitude), cos(colatitude), 6.2831853 * place[3 * i + 1], 6371.2 / (6371.2 + height)};
    }
    Series host = {terms.data(), seed.data(), degree};
    Series device = {device_copy_of(terms.data(), terms.size()), device_copy_of(seed.data(), seed.size()), degree};
    Site *d_sites = device_copy_of(sites.data(), count);
    double *d_potential = device_array<double>(count);
    int blocks = (count + LANES - 1) / LANES;
    pair_time(&p, [&] { magnetometers<<<blocks, BLOCK>>>(device, d_sites, d_potential, count); });
    std::vector<double> potential = host_copy_of(d_potential, count);
    for (int i = 0; i < count; i += 43) {
        double sum = 0;
        for (int m = 0; m <= degree; m++)
            sum += order_sum(host, sites[i], m);
        pair_near(&p, "potential", i, sites[i].ratio * sum, potential[i], 1e-9);
    }
    return pair_end(&p);
}
