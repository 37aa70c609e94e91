// SPDX-License-Identifier: Apache-2.0
// Instructions for mbarriers and bulk copies, launches of one cluster: for sm_90a.
#ifndef WL_BENCH_MICRO_CLUSTER_H
#define WL_BENCH_MICRO_CLUSTER_H

#include "micro.h"

__device__ static inline unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ static inline void barrier_init(unsigned bar, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ static inline void expect(unsigned bar, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ static inline void wait(unsigned bar, unsigned phase) {
    asm volatile(
        "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra AGAIN;\n}" ::"r"(bar),
        "r"(phase)
        : "memory");
}
__device__ static inline void bulk(unsigned to, const char *from, unsigned bytes, unsigned bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(bar)
                 : "memory");
}

template <typename... T>
static void launch_cluster(void (*kernel)(T...), int ctas, int threads, int shared, T... args) {
    cudaLaunchConfig_t config = {dim3(ctas), dim3(threads), (size_t)shared, 0};
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {(unsigned)ctas, 1, 1};
    config.attrs = &attribute, config.numAttrs = 1;
    if (ctas > 8) CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    if (shared) CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CHECK(cudaLaunchKernelEx(&config, kernel, args...));
}

#endif
