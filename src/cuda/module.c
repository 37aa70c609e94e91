// SPDX-License-Identifier: Apache-2.0
// Registration (called by the constructors that nvcc puts into programs) and lazy loading.
#include "cuda/module.h"

#include <string.h>

#include "binary/binary.h"
#include "binary/cubin.h"
#include "cuda/api.h"
#include "ptx/ptx.h"

typedef struct Instance {  // of a module on one device
    bool tried;
    cudaError_t error;
    SimModule *loaded;
    Map registers;  // hash of a kernel's name -> registers, from the machine code beside the PTX
} Instance;

struct CudaModule {
    void *wrapper;        // what __cudaRegisterFatBinary was given
    Instance *instances;  // config.devices of them, made at first use
    Vec(CudaFunction *) functions;
    Vec(CudaSymbol *) symbols;
};

// --- loading ---

static cudaError_t load_error(Status status) {
    switch (status) {
    case STATUS_NOT_FOUND: return cudaErrorNoKernelImageForDevice;
    case STATUS_NO_MEMORY: return cudaErrorMemoryAllocation;
    case STATUS_UNSUPPORTED: return cudaErrorNotSupported;
    default: return cudaErrorInvalidKernelImage;
    }
}

static void note_registers(Instance *instance, const BinaryImage *image) {
    Cubin cubin = {0};
    if (!image->cubin || cubin_open(&cubin, image->cubin, image->cubin_size, image->name, NULL) != STATUS_OK) return;
    for (u32 i = 0; i < cubin.functions.len; i++) {
        const CubinFunction *f = &cubin.functions.data[i];
        if (f->is_entry &&
            map_put(&instance->registers, hash_bytes(f->name, strlen(f->name)), f->registers) != STATUS_OK)
            break;  // the simulator's estimate is used then
    }
    cubin_close(&cubin);
}

static cudaError_t load_ptx(CudaContext *c, Instance *instance, const BinaryImage *image, u32 device, Diag *diag) {
    Module *ptx = NULL;
    const char *name = image->name && image->name[0] ? image->name : "the program's PTX";
    Status status = ptx_load((Str){image->ptx, image->ptx_size}, name, &ptx, diag);
    if (status != STATUS_OK) return status == STATUS_NO_MEMORY ? cudaErrorMemoryAllocation : cudaErrorInvalidPtx;
    status = sim_load_module(c->sim, device, ptx, &instance->loaded, diag);
    if (status != STATUS_OK) {
        module_free(ptx);
        return load_error(status);
    }
    note_registers(instance, image);
    return cudaSuccess;
}

// The address of a managed variable goes to where the program's host code reads it.
static cudaError_t place_managed(CudaContext *c, CudaModule *module, Instance *instance) {
    for (u32 i = 0; i < module->symbols.len; i++) {
        CudaSymbol *symbol = module->symbols.data[i];
        DevicePtr address;
        u64 size;
        if (!symbol->managed) continue;
        if (sim_find_symbol(c->sim, instance->loaded, symbol->name, &address, &size) != STATUS_OK)
            return cudaErrorInvalidSymbol;
        *(void **)(uintptr_t)symbol->host = sim_host_view(c->sim, address, size, NULL);
        if (map_put(&c->symbols, address, (u64)(uintptr_t)symbol) != STATUS_OK) return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

static cudaError_t load(CudaContext *c, CudaModule *module, Instance *instance) {
    BinaryImage image;
    Diag diag = {0};
    Status status = binary_ptx_from_wrapper(module->wrapper, (u32)cuda_gpu(c)->sm_version, &image, &diag);
    cudaError_t error = load_error(status);
    if (status == STATUS_OK) {
        error = load_ptx(c, instance, &image, (u32)cuda_thread()->device, &diag);
        binary_image_free(&image);
    }
    if (error == cudaSuccess) error = place_managed(c, module, instance);
    if (error != cudaSuccess || diag.errors) cuda_message_diag(c, &diag);
    diag_free(&diag);
    return error;
}

// The module on the current device. What goes wrong is told once and comes back every time.
static cudaError_t module_instance(CudaContext *c, CudaModule *module, Instance **out) {
    if (!module->instances) module->instances = mem_zero(c->config.devices, sizeof *module->instances);
    if (!module->instances) return cudaErrorMemoryAllocation;
    Instance *instance = *out = &module->instances[cuda_thread()->device];
    if (!instance->tried) {
        instance->tried = true;
        instance->error = load(c, module, instance);
    }
    return instance->error;
}

// --- kernels ---

cudaError_t function_find(CudaContext *c, const void *handle, CudaFunction **function) {
    const u64 *found = map_get(&c->functions, (u64)(uintptr_t)handle);
    *function = found ? (CudaFunction *)(uintptr_t)*found : object_get(&c->objects, handle, OBJECT_FUNCTION);
    return *function ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

static cudaError_t prepare(CudaContext *c, CudaFunction *f, CudaKernel *kernel) {
    Instance *instance;
    Diag diag = {0};
    cudaError_t error = module_instance(c, f->module, &instance);
    if (error != cudaSuccess) return error;
    Status status = sim_find_kernel(c->sim, instance->loaded, f->name, &kernel->kernel);
    if (status != STATUS_OK) return status == STATUS_NOT_FOUND ? cudaErrorInvalidDeviceFunction : cuda_error_of(status);
    const u64 *registers = map_get(&instance->registers, hash_bytes(f->name, strlen(f->name)));
    if (registers && *registers) sim_kernel_set_registers(kernel->kernel, (u32)*registers);
    status = sim_kernel_prepare(c->sim, kernel->kernel, &kernel->info, &diag);
    if (status != STATUS_OK) cuda_message_diag(c, &diag);
    diag_free(&diag);
    return status == STATUS_OK ? cudaSuccess : load_error(status);
}

cudaError_t function_prepare(CudaContext *c, CudaFunction *f, CudaKernel **out) {
    if (!f->devices) f->devices = mem_zero(c->config.devices, sizeof *f->devices);
    if (!f->devices) return cudaErrorMemoryAllocation;
    CudaKernel *kernel = *out = &f->devices[cuda_thread()->device];
    if (!kernel->kernel && kernel->error == cudaSuccess) kernel->error = prepare(c, f, kernel);
    return kernel->error;
}

// --- variables ---

cudaError_t cuda_symbol_find(CudaContext *c, const void *host, void **address, size_t *size) {
    const u64 *found = map_get(&c->symbols, (u64)(uintptr_t)host);
    CudaSymbol *symbol = found ? (CudaSymbol *)(uintptr_t)*found : NULL;
    Instance *instance;
    DevicePtr at;
    u64 bytes;
    if (!symbol) return cudaErrorInvalidSymbol;
    cudaError_t error = module_instance(c, symbol->module, &instance);
    if (error != cudaSuccess) return error;
    if (sim_find_symbol(c->sim, instance->loaded, symbol->name, &at, &bytes) != STATUS_OK)
        return cudaErrorInvalidSymbol;
    *address = (void *)(uintptr_t)at;
    *size = bytes;
    return cudaSuccess;
}

static cudaError_t symbol_address(CudaContext *c, const void *symbol, void **address) {
    size_t size;
    return address ? cuda_symbol_find(c, symbol, address, &size) : cudaErrorInvalidValue;
}

static cudaError_t symbol_size(CudaContext *c, const void *symbol, size_t *size) {
    void *address;
    return size ? cuda_symbol_find(c, symbol, &address, size) : cudaErrorInvalidValue;
}

CUDA_API cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol) {
    CUDA_RETURN(c, NEED_HEALTHY, symbol_address(c, symbol, devPtr));
}

CUDA_API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    CUDA_RETURN(c, NEED_HEALTHY, symbol_size(c, symbol, size));
}

// --- registration ---

static char *copy_name(const char *name) { return mem_copy_str((Str){name, strlen(name)}); }

// The handle is the module; programs only hand it back.
static CudaModule *module_of(CudaContext *c, void **handle) {
    for (u32 i = c->modules.len; i-- > 0;)
        if ((void **)c->modules.data[i] == handle) return c->modules.data[i];
    return NULL;
}

CUDA_API void **__cudaRegisterFatBinary(void *fatCubin) {
    CudaContext *c;
    (void)cuda_enter(&c, NEED_NOTHING);
    CudaModule *module = mem_zero(1, sizeof *module);
    if (module) module->wrapper = fatCubin;
    if (module && vec_push(&c->modules, module) != STATUS_OK) {
        mem_free(module);
        module = NULL;
    }
    (void)cuda_leave(c, cudaSuccess);
    return (void **)module;
}

CUDA_API void __cudaRegisterFatBinaryEnd(void **fatCubinHandle) { (void)fatCubinHandle; }

static void add_function(CudaContext *c, CudaModule *module, const char *host, const char *name) {
    CudaFunction *f = object_new(&c->objects, OBJECT_FUNCTION, sizeof *f);
    char *copy = f ? copy_name(name) : NULL;
    if (!copy) return;
    *f = (CudaFunction){.module = module, .host = host, .name = copy, .max_dynamic_shared = -1, .carveout = -1};
    if (vec_push(&module->functions, f) == STATUS_OK)
        (void)!map_put(&c->functions, (u64)(uintptr_t)host, (u64)(uintptr_t)f);
}

CUDA_API void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                                     const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid, dim3 *bDim,
                                     dim3 *gDim, int *wSize) {
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    CudaContext *c;
    (void)cuda_enter(&c, NEED_NOTHING);
    CudaModule *module = module_of(c, fatCubinHandle);
    if (module) add_function(c, module, hostFun, deviceName);
    (void)cuda_leave(c, cudaSuccess);
}

static void add_symbol(void **handle, CudaSymbol with) {
    CudaContext *c;
    (void)cuda_enter(&c, NEED_NOTHING);
    CudaModule *module = module_of(c, handle);
    CudaSymbol *symbol = module ? mem_alloc(sizeof *symbol) : NULL;
    if (symbol) {
        *symbol = with;
        symbol->module = module;
        symbol->name = copy_name(with.name);
        if (symbol->name && vec_push(&module->symbols, symbol) == STATUS_OK)
            (void)!map_put(&c->symbols, (u64)(uintptr_t)symbol->host, (u64)(uintptr_t)symbol);
    }
    (void)cuda_leave(c, cudaSuccess);
}

CUDA_API void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress, const char *deviceName,
                                int ext, size_t size, int constant, int global) {
    (void)deviceAddress, (void)ext, (void)global;
    add_symbol(
        fatCubinHandle,
        (CudaSymbol){.host = hostVar, .name = (char *)(uintptr_t)deviceName, .size = size, .constant = constant != 0});
}

CUDA_API void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                                       const char *deviceName, int ext, size_t size, int constant, int global) {
    (void)deviceAddress, (void)ext, (void)global;
    add_symbol(fatCubinHandle, (CudaSymbol){.host = hostVarPtrAddress,
                                            .name = (char *)(uintptr_t)deviceName,
                                            .size = size,
                                            .managed = true,
                                            .constant = constant != 0});
}

static cudaError_t init_module(CudaContext *c, void **handle) {
    CudaModule *module = module_of(c, handle);
    Instance *instance;
    return module ? module_instance(c, module, &instance) : cudaErrorInvalidValue;
}

// Called before the program touches a managed variable.
CUDA_API char __cudaInitModule(void **fatCubinHandle) {
    CudaContext *c;
    cudaError_t error = cuda_enter(&c, NEED_DEVICE);
    if (error == cudaSuccess) error = init_module(c, fatCubinHandle);
    return (char)(cuda_leave(c, error) == cudaSuccess);
}

static void module_forget(CudaContext *c, CudaModule *module) {
    for (u32 i = 0; i < module->functions.len; i++) {
        CudaFunction *f = module->functions.data[i];
        map_remove(&c->functions, (u64)(uintptr_t)f->host);
        mem_free(f->name);
        mem_free(f->devices);
        object_delete(&c->objects, f);
    }
    for (u32 i = 0; i < module->symbols.len; i++) {
        map_remove(&c->symbols, (u64)(uintptr_t)module->symbols.data[i]->host);
        mem_free(module->symbols.data[i]->name);
        mem_free(module->symbols.data[i]);
    }
    vec_free(&module->functions);
    vec_free(&module->symbols);
    for (u32 i = 0; module->instances && i < c->config.devices; i++) map_free(&module->instances[i].registers);
    mem_free(module->instances);
    mem_free(module);
}

// At exit, or when a plug-in is unloaded. Its code may be gone afterwards, so nothing of it is kept. The simulator's
// copy of the module stays: memory of its variables may still be pointed to.
CUDA_API void __cudaUnregisterFatBinary(void **fatCubinHandle) {
    CudaContext *c;
    (void)cuda_enter(&c, NEED_NOTHING);
    for (u32 i = 0; i < c->modules.len; i++) {
        if ((void **)c->modules.data[i] != fatCubinHandle) continue;
        module_forget(c, c->modules.data[i]);
        c->modules.data[i] = c->modules.data[--c->modules.len];
        break;
    }
    (void)cuda_leave(c, cudaSuccess);
}

void modules_reset(CudaContext *c) {
    for (u32 i = 0; i < c->modules.len; i++) {
        CudaModule *module = c->modules.data[i];
        Instance *instance = module->instances ? &module->instances[cuda_thread()->device] : NULL;
        if (!instance || !instance->loaded) continue;
        sim_unload_module(c->sim, instance->loaded);
        map_free(&instance->registers);
        *instance = (Instance){0};
        for (u32 k = 0; k < module->functions.len; k++) {
            CudaFunction *f = module->functions.data[k];
            if (f->devices) f->devices[cuda_thread()->device] = (CudaKernel){0};
        }
    }
}
