// SPDX-License-Identifier: Apache-2.0
// The kernels and variables of module.ptx that the odd calls use, for a real GPU.
#include <cassert>
__device__ unsigned table[16];
__global__ void increment(unsigned *p) { *p += 1; }
__global__ void __launch_bounds__(64) bounded(unsigned *p) { (void)p; }
__global__ void trapped(unsigned *p) { asm volatile("trap;" ::"l"(p)); }
__global__ void asserts(unsigned *p) { assert(p == nullptr); }
extern "C" {
const void *k_increment() { return (const void *)increment; }
const void *k_bounded() { return (const void *)bounded; }
const void *k_trap() { return (const void *)trapped; }
const void *k_assert() { return (const void *)asserts; }
const void *s_table() { return (const void *)table; }
}
