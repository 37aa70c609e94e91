// SPDX-License-Identifier: Apache-2.0
//
// Rule: streaming-hints
// Change: an access policy window keeps the table in the L2.
// Why: what is used once evicts the table, which all CTAs use again and again.
// Post: CUDA 11 Features Revealed
#include "../common.h"

enum { BLOCK = 256 };

__global__ void look_up(const float *table, const int *index, float *out, int mask) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = table[index[i] & mask];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "persistent_table");
    int n = p.small ? 1 << 16 : 1 << 25, entries = p.small ? 1 << 12 : 1 << 22;
    std::vector<float> table = random_floats(entries, 0, 1, 1);
    std::vector<int> index(n);
    lcg_fill(index.data(), n, 2, 1 << 24);
    float *d_table = device_copy_of(table.data(), entries), *d_out = device_array<float>(n);
    int *d_index = device_copy_of(index.data(), n);
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
#ifdef AFTER
    if (!p.small) {
        cudaStreamAttrValue attribute = {};
        CUDA_CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, entries * sizeof(float)));
        attribute.accessPolicyWindow.base_ptr = d_table;
        attribute.accessPolicyWindow.num_bytes = entries * sizeof(float);
        attribute.accessPolicyWindow.hitRatio = 1;
        attribute.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
        attribute.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
        CUDA_CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &attribute));
    }
#endif
    CUDA_CHECK(cudaDeviceSynchronize());
    pair_time(&p, [&] { look_up<<<n / BLOCK, BLOCK, 0, stream>>>(d_table, d_index, d_out, entries - 1); });
    CUDA_CHECK(cudaStreamSynchronize(stream));
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "out", i, table[index[i] & (entries - 1)], out[i], 0);
    return pair_end(&p);
}
