// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds name the 256 threads that the kernel is really started with, not the 1024 that a block may
// have at most.
// Why: a bound of 1024 leaves 64 registers a thread, too few for the 65 sums and what they are made of; with 256 they
// all stay in registers and the loop over the points has no traffic to local memory.
#include "../common.h"

// Calibration of magnetometers: in a sensor without errors all readings lie on a sphere, in a real one on an ellipsoid
//   a xx + b yy + c zz + 2 d xy + 2 e xz + 2 f yz + 2 g x + 2 h y + 2 i z + j t = 1,
// t being the temperature, with which the sensor's gain drifts. For each sensor of a production run, the ten
// coefficients are fitted to its readings by least squares.

constexpr int THREADS = 256;
constexpr int UNKNOWNS = 10;
constexpr int PAIRS = UNKNOWNS * (UNKNOWNS + 1) / 2;
constexpr float DAMPING = 1e-3f;
#ifdef AFTER
constexpr int MOST_THREADS = THREADS;
#else
constexpr int MOST_THREADS = 1024;
#endif

__host__ __device__ constexpr int at(int row, int column) { return row * (row + 1) / 2 + column; }

// readings: [x, y, z, t][reading][sensor]; coefficients: [unknown][sensor].
__global__ void __launch_bounds__(MOST_THREADS)
    fit_ellipsoids(const float *__restrict__ readings, int sensors, int count, float *__restrict__ coefficients) {
    int sensor = blockIdx.x * blockDim.x + threadIdx.x;
    if (sensor >= sensors)
        return;
    const float *px = readings + sensor;
    const float *py = px + (size_t)count * sensors, *pz = py + (size_t)count * sensors;
    const float *pt = pz + (size_t)count * sensors;

    // The normal equations.
    float m[PAIRS], v[UNKNOWNS];
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        m[i] = 0;
#pragma unroll
    for (int i = 0; i < UNKNOWNS; i++)
        v[i] = 0;
    for (int k = 0; k < count; k++) {
        size_t offset = (size_t)k * sensors;
        float x = px[offset], y = py[offset], z = pz[offset], t = pt[offset];
        float term[UNKNOWNS] = {x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z, 2 * x, 2 * y, 2 * z, t};
#pragma unroll
        for (int i = 0; i < UNKNOWNS; i++) {
            v[i] += term[i];
#pragma unroll
            for (int j = 0; j <= i; j++)
                m[at(i, j)] += term[i] * term[j];
        }
    }

    // Cholesky decomposition in place, then both triangles.
#pragma unroll
    for (int i = 0; i < UNKNOWNS; i++) {
#pragma unroll
        for (int j = 0; j <= i; j++) {
            float sum = m[at(i, j)] + (i == j ? DAMPING * count : 0.0f);
#pragma unroll
            for (int k = 0; k < j; k++)
                sum -= m[at(i, k)] * m[at(j, k)];
            m[at(i, j)] = i == j ? rsqrtf(sum) : sum * m[at(j, j)];
        }
    }
#pragma unroll
    for (int i = 0; i < UNKNOWNS; i++) {
#pragma unroll
        for (int k = 0; k < i; k++)
            v[i] -= m[at(i, k)] * v[k];
        v[i] *= m[at(i, i)];
    }
#pragma unroll
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
#pragma unroll
        for (int k = i + 1; k < UNKNOWNS; k++)
            v[i] -= m[at(k, i)] * v[k];
        v[i] *= m[at(i, i)];
    }
#pragma unroll
    for (int i = 0; i < UNKNOWNS; i++)
        coefficients[(size_t)i * sensors + sensor] = v[i];
}

static std::vector<float> make_readings(int sensors, int count) {
    std::vector<float> all((size_t)4 * count * sensors);
    std::vector<float> scale = random_floats((size_t)sensors * 3, 0.8f, 1.25f, 3);
    std::vector<float> shift = random_floats((size_t)sensors * 3, -0.2f, 0.2f, 4);
    unsigned seed = 5;
    for (int k = 0; k < count; k++)
        for (int s = 0; s < sensors; s++) {
            float d[3], length = 1e-3f;
            for (float &c : d) {
                c = lcg_next(&seed, 2001) / 1000.0f - 1;
                length += c * c;
            }
            for (int axis = 0; axis < 3; axis++)
                all[((size_t)axis * count + k) * sensors + s] =
                    scale[3 * s + axis] * d[axis] / sqrtf(length) + shift[3 * s + axis];
            all[((size_t)3 * count + k) * sensors + s] = lcg_next(&seed, 1001) / 500.0f - 1;
        }
    return all;
}

// The same fit in double, by elimination.
static void fit(const std::vector<float> &all, int sensors, int count, int s, double *v) {
    double m[UNKNOWNS][UNKNOWNS] = {};
    for (int i = 0; i < UNKNOWNS; i++)
        v[i] = 0, m[i][i] = (double)DAMPING * count;
    for (int k = 0; k < count; k++) {
        double x = all[(size_t)k * sensors + s], y = all[((size_t)count + k) * sensors + s],
               z = all[((size_t)2 * count + k) * sensors + s], t = all[((size_t)3 * count + k) * sensors + s];
        double term[UNKNOWNS] = {x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z, 2 * x, 2 * y, 2 * z, t};
        for (int i = 0; i < UNKNOWNS; i++) {
            v[i] += term[i];
            for (int j = 0; j < UNKNOWNS; j++)
                m[i][j] += term[i] * term[j];
        }
    }
    for (int i = 0; i < UNKNOWNS; i++)
        for (int r = 0; r < UNKNOWNS; r++) {
            double factor = r == i ? 0 : m[r][i] / m[i][i];
            for (int c = 0; c < UNKNOWNS; c++)
                m[r][c] -= factor * m[i][c];
            v[r] -= factor * v[i];
        }
    for (int i = 0; i < UNKNOWNS; i++)
        v[i] /= m[i][i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ellipsoids");
    int sensors = p.small ? 2 * THREADS : 1 << 17, count = p.small ? 24 : 48;
    std::vector<float> readings = make_readings(sensors, count);
    float *d_readings = device_copy_of(readings.data(), readings.size());
    float *d_coefficients = device_array<float>((size_t)UNKNOWNS * sensors);

    pair_time(&p, [&] {
        fit_ellipsoids<<<(sensors + THREADS - 1) / THREADS, THREADS>>>(d_readings, sensors, count, d_coefficients);
    });

    std::vector<float> got = host_copy_of(d_coefficients, (size_t)UNKNOWNS * sensors);
    for (int s = 0; s < sensors; s += p.small ? 7 : 509) {
        double expected[UNKNOWNS];
        fit(readings, sensors, count, s, expected);
        for (int i = 0; i < UNKNOWNS; i++)
            pair_near(&p, "coefficient", (size_t)i * sensors + s, expected[i], got[(size_t)i * sensors + s], 3e-3);
    }
    CUDA_CHECK(cudaFree(d_readings));
    CUDA_CHECK(cudaFree(d_coefficients));
    return pair_end(&p);
}
