// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the gallery is stored component by component instead of face by face.
// Why: neighbouring lanes compare neighbouring faces, whose numbers lie 256 bytes apart.
#include "../common.h"

#include <cuda_fp16.h>

enum { BLOCK = 128, DIMENSIONS = 128 };

#ifdef AFTER
#define AT(face, k) ((size_t)(k)*faces + (face))
#else
#define AT(face, k) ((size_t)(face)*DIMENSIONS + (k))
#endif

// Cosine of the angle between a face that a camera sees and each one that is known.
__global__ void similarity(const __half *gallery, const float *seen, float *scores, int faces) {
    int face = blockIdx.x * BLOCK + threadIdx.x;
    float product = 0, square = 0;
    for (int k = 0; k < DIMENSIONS; k++) {
        float value = __half2float(gallery[AT(face, k)]);
        product += value * seen[k];
        square += value * value;
    }
    scores[face] = product * rsqrtf(square);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "face_gallery");
    int faces = p.small ? 1 << 11 : 3 << 16;
    std::vector<float> values = random_floats((size_t)faces * DIMENSIONS, -1, 1, 1),
                       seen = random_floats(DIMENSIONS, -0.1f, 0.1f, 2);
    std::vector<__half> gallery(values.size());
    for (size_t i = 0; i < values.size(); i++)
        gallery[i] = __float2half(values[i]);
    __half *d_gallery = device_copy_of(gallery.data(), gallery.size());
    float *d_seen = device_copy_of(seen.data(), DIMENSIONS), *d_scores = device_array<float>(faces);
    pair_time(&p, [&] { similarity<<<faces / BLOCK, BLOCK>>>(d_gallery, d_seen, d_scores, faces); });
    std::vector<float> scores = host_copy_of(d_scores, faces);
    for (int face = 0; face < faces; face += 61) {
        double product = 0, square = 0;
        for (int k = 0; k < DIMENSIONS; k++) {
            double value = __half2float(gallery[AT(face, k)]);
            product += value * seen[k];
            square += value * value;
        }
        pair_near(&p, "score", face, product / sqrt(square), scores[face], 1e-5);
    }
    return pair_end(&p);
}
