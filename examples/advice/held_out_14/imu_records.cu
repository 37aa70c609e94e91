// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the first half of a block takes the records of the accelerometer, the second half those of the gyroscope.
// Why: records of both alternate, so that every warp runs through the code for both with half of its lanes idle.
#include "../common.h"

enum { BLOCK = 256 };

// The sensors of a robot write their records in turn: even ones are accelerations and become roll, pitch and size; odd
// ones are rates of turn and become the quaternion of the turn since the last record.
__global__ void imu_records(const float4 *records, float4 *out) {
#ifdef AFTER
    int me = threadIdx.x % (BLOCK / 2) * 2 + threadIdx.x / (BLOCK / 2);
#else
    int me = threadIdx.x;
#endif
    int i = blockIdx.x * BLOCK + me;
    float4 r = records[i];
    if (i % 2 == 0) {
        float across = r.y * r.y + r.z * r.z;
        out[i] = make_float4(atan2f(r.y, r.z), atan2f(-r.x, sqrtf(across)), sqrtf(across + r.x * r.x) * r.w, 0.0f);
    } else {
        float rate = sqrtf(r.x * r.x + r.y * r.y + r.z * r.z) + 1e-9f, half = 0.5f * rate * r.w;
        float s = sinf(half) / rate;
        out[i] = make_float4(cosf(half), s * r.x, s * r.y, s * r.z);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "imu_records");
    int n = p.small ? 1 << 12 : 1 << 20;
    std::vector<float> numbers = random_floats((size_t)n * 4, -3, 3, 1);
    std::vector<float4> records(n);
    for (int i = 0; i < n; i++) {
        const float *from = &numbers[4 * (size_t)i];
        records[i] = make_float4(from[0], from[1], from[2] + 4.0f, 0.01f + 0.01f * fabsf(from[3]));
    }
    float4 *d_records = device_copy_of(records.data(), n), *d_out = device_array<float4>(n);
    pair_time(&p, [&] { imu_records<<<n / BLOCK, BLOCK>>>(d_records, d_out); });
    std::vector<float4> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 7) {
        double x = records[i].x, y = records[i].y, z = records[i].z, w = records[i].w,
               size = sqrt(x * x + y * y + z * z);
        double s = sin(0.5 * size * w) / size;
        bool turn = i % 2;
        pair_near(&p, "x", i, turn ? cos(0.5 * size * w) : atan2(y, z), out[i].x, 1e-5);
        pair_near(&p, "y", i, turn ? s * x : atan2(-x, sqrt(y * y + z * z)), out[i].y, 1e-5);
        pair_near(&p, "z", i, turn ? s * y : size * w, out[i].z, 1e-5);
        pair_near(&p, "w", i, turn ? s * z : 0, out[i].w, 1e-5);
    }
    return pair_end(&p);
}
