// SPDX-License-Identifier: Apache-2.0
// What the program registers: fat binaries with their kernels and variables. A module is unpacked, parsed and loaded at
// the first use of one of its kernels or variables, once per device.
#ifndef WL_CUDA_MODULE_H
#define WL_CUDA_MODULE_H

#include "binary/binary.h"
#include "cuda/context.h"

typedef struct CudaKernel {  // a function on one device
    SimKernel *kernel;       // NULL = not prepared yet
    SimKernelInfo info;
    cudaError_t error;  // why it could not be prepared
} CudaKernel;

struct CudaFunction {
    CudaModule *module;
    const void *host;
    char *name;           // mangled
    CudaKernel *devices;  // config.devices of them, made at first use
    int max_dynamic_shared, carveout, cache_config, cluster_required[3], non_portable_cluster, cluster_policy;
    struct LegacyLaunch *legacy;  // cuFuncSetBlockShape and its like, NULL at first
};

struct CudaSymbol {
    CudaModule *module;
    const void *host;  // address of the host variable; of a managed one: of the pointer to its storage
    char *name;
    size_t size;
    bool managed, constant;
};

// A registered host function, or a cudaKernel_t. cudaErrorInvalidDeviceFunction when it is neither.
cudaError_t function_find(CudaContext *c, const void *handle, CudaFunction **function);
// The kernel on the current device, loaded and prepared. Why it failed is told once.
cudaError_t function_prepare(CudaContext *c, CudaFunction *function, CudaKernel **kernel);
// Per cent of shared memory that the program wants set apart from the L1:
// cudaFuncAttributePreferredSharedMemoryCarveout, else the cache configuration of the function or of the device
// (SimLaunch.carve_out).
u32 function_carve_out(CudaContext *c, const CudaFunction *function);
cudaError_t cuda_symbol_find(CudaContext *c, const void *host, void **address, size_t *size);
void modules_reset(CudaContext *c);  // variables get their initial values again (cudaDeviceReset)

// --- modules that the program loads itself: the driver API's modules, the libraries of both APIs ---
CudaModule *module_find(CudaContext *c, const void *handle);  // NULL: not one, or not any more
// Loads it on the current device; what is wrong with it goes to `diag`. Takes over the image, in any case.
cudaError_t module_load(CudaContext *c, BinaryImage *image, bool library, Diag *diag, CudaModule **module);
cudaError_t module_unload(CudaContext *c, CudaModule *module);
bool module_is_library(const CudaModule *module);
// cudaErrorSymbolNotFound: there is none of that name.
cudaError_t module_function(CudaContext *c, CudaModule *module, const char *name, CudaFunction **function);
cudaError_t module_variable(CudaContext *c, CudaModule *module, const char *name, void **address, size_t *size);
// The first `room` kernels, in order of the PTX; `*count` becomes how many there are.
cudaError_t module_functions(CudaContext *c, CudaModule *module, CudaFunction **to, u32 room, u32 *count);

#endif
