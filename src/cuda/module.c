// SPDX-License-Identifier: Apache-2.0
// Registration (called by the constructors that nvcc puts into programs) and lazy loading.
#include "cuda/module.h"

#include <string.h>

#include "binary/binary.h"
#include "binary/cubin.h"
#include "cuda/api.h"
#include "cuda/pending.h"
#include "ptx/ptx.h"

typedef struct Instance {  // of a module on one device
    bool tried;
    cudaError_t error;
    SimModule *loaded;
    Map code;  // hash of a kernel's name -> what the machine code beside the PTX says of it, packed
} Instance;

struct CudaModule {
    void *wrapper;      // what __cudaRegisterFatBinary was given; NULL: the program loaded the module itself
    BinaryImage image;  // then: what it loaded
    bool library;
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

// A frame has up to 16 MiB; of more than 65,535 registers or accesses none is known to need telling apart.
static u64 packed(SimMachineCode code) {
    u64 registers = code.registers & 0xFFFF, accesses = code.local_accesses < 0xFFFF ? code.local_accesses : 0xFFFF;
    return registers | accesses << 16 | (u64)code.frame << 32;
}
static SimMachineCode unpacked(u64 code) {
    return (SimMachineCode){
        .registers = code & 0xFFFF, .frame = (u32)(code >> 32), .local_accesses = code >> 16 & 0xFFFF};
}

static void note_code(Instance *instance, const BinaryImage *image) {
    Cubin cubin = {0};
    if (!image->cubin || cubin_open(&cubin, image->cubin, image->cubin_size, image->name, NULL) != STATUS_OK) return;
    for (u32 i = 0; i < cubin.functions.len; i++) {
        const CubinFunction *f = &cubin.functions.data[i];
        u64 known = packed((SimMachineCode){f->registers, f->local_size, cubin_local_accesses(&cubin, f)});
        if (f->is_entry && map_put(&instance->code, hash_bytes(f->name, strlen(f->name)), known) != STATUS_OK)
            break;  // the simulator's estimate is used then
    }
    cubin_close(&cubin);
}

// Models older than any compiler run newer code (FATBIN_OLDEST_SM); that is said once.
static void note_target(CudaContext *c, const BinaryImage *image) {
    const GpuModel *gpu = cuda_gpu(c);
    if (image->sm <= gpu->sm_version || c->newer_code_told) return;
    c->newer_code_told = true;
    cuda_message(c, LOG_WARNING,
                 "%s itself could not run this program, whose code is for sm_%u (the GPU is an sm_%u); it is simulated "
                 "all the same",
                 gpu->name, image->sm, (u32)gpu->sm_version);
}

static cudaError_t load_ptx(CudaContext *c, Instance *instance, const BinaryImage *image, u32 device, Diag *diag) {
    Module *ptx = NULL;
    const char *name = image->name && image->name[0] ? image->name : "the program's PTX";
    Status status = ptx_load((Str){image->ptx, image->ptx_size}, name, &ptx, diag);
    if (status != STATUS_OK) return status == STATUS_NO_MEMORY ? cudaErrorMemoryAllocation : cudaErrorInvalidPtx;
    ptx->relocatable = image->relocatable;
    status = sim_load_module(c->sim, device, ptx, &instance->loaded, diag);
    if (status != STATUS_OK) {
        module_free(ptx);
        return load_error(status);
    }
    // Without its text the profile is of less use, but the program runs.
    if (sim_keep_text(instance->loaded, (Str){image->ptx, image->ptx_size}) != STATUS_OK)
        cuda_message(c, LOG_WARNING, "no memory to keep the code of %s for the profile", name);
    note_code(instance, image);
    note_target(c, image);
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

static cudaError_t load(CudaContext *c, CudaModule *module, Instance *instance, Diag *diag) {
    BinaryImage registered = {0};
    Status status = STATUS_OK;
    if (module->wrapper)
        status = binary_ptx_from_wrapper(module->wrapper, (u32)cuda_gpu(c)->sm_version, &registered, diag);
    if (status != STATUS_OK) return load_error(status);
    const BinaryImage *image = module->wrapper ? &registered : &module->image;
    cudaError_t error = load_ptx(c, instance, image, (u32)cuda_thread()->device, diag);
    binary_image_free(&registered);
    return error == cudaSuccess ? place_managed(c, module, instance) : error;
}

// The module on the current device. What goes wrong is told once and comes back every time.
static cudaError_t module_instance(CudaContext *c, CudaModule *module, Instance **out) {
    if (!module->instances) module->instances = mem_zero(c->config.devices, sizeof *module->instances);
    if (!module->instances) return cudaErrorMemoryAllocation;
    Instance *instance = *out = &module->instances[cuda_thread()->device];
    if (instance->tried) return instance->error;
    Diag diag = {0};
    instance->tried = true;
    instance->error = load(c, module, instance, &diag);
    if (instance->error != cudaSuccess || diag.errors) cuda_message_diag(c, &diag);
    diag_free(&diag);
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
    const u64 *known = map_get(&instance->code, hash_bytes(f->name, strlen(f->name)));
    if (known) sim_kernel_set_code(kernel->kernel, unpacked(*known));
    status = sim_kernel_prepare(c->sim, kernel->kernel, &kernel->info, &diag);
    if (status != STATUS_OK) cuda_message_diag(c, &diag);
    diag_free(&diag);
    return status == STATUS_OK ? cudaSuccess : load_error(status);
}

cudaError_t function_prepare(CudaContext *c, CudaFunction *f, CudaKernel **out) {
    if (!f->module) return cudaErrorInvalidDeviceFunction;  // its module was unloaded; a graph may still have it
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

static CudaModule *module_new(CudaContext *c) {
    CudaModule *module = object_new(&c->objects, OBJECT_MODULE, sizeof *module);
    if (!module || vec_push(&c->modules, module) == STATUS_OK) return module;
    object_delete(&c->objects, module);
    return NULL;
}

// The handle is the module; programs only hand it back.
static CudaModule *module_of(CudaContext *c, void **handle) {
    for (u32 i = c->modules.len; i-- > 0;)
        if ((void **)c->modules.data[i] == handle) return c->modules.data[i];
    return NULL;
}

CUDA_API void **__cudaRegisterFatBinary(void *fatCubin) {
    CudaContext *c;
    (void)cuda_enter(&c, NEED_NOTHING);
    CudaModule *module = module_new(c);
    if (module) module->wrapper = fatCubin;
    (void)cuda_leave(c, cudaSuccess);
    return (void **)module;
}

CUDA_API void __cudaRegisterFatBinaryEnd(void **fatCubinHandle) { (void)fatCubinHandle; }

// NULL: no memory.
static CudaFunction *add_function(CudaContext *c, CudaModule *module, const char *host, const char *name) {
    CudaFunction *f = object_new(&c->objects, OBJECT_FUNCTION, sizeof *f);
    char *copy = f ? copy_name(name) : NULL;
    if (!copy) return NULL;
    *f = (CudaFunction){.module = module, .host = host, .name = copy, .max_dynamic_shared = -1, .carveout = -1};
    if (vec_push(&module->functions, f) != STATUS_OK) return NULL;
    if (host) (void)!map_put(&c->functions, (u64)(uintptr_t)host, (u64)(uintptr_t)f);
    return f;
}

CUDA_API void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                                     const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid, dim3 *bDim,
                                     dim3 *gDim, int *wSize) {
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    CudaContext *c;
    (void)cuda_enter(&c, NEED_NOTHING);
    CudaModule *module = module_of(c, fatCubinHandle);
    if (module) (void)add_function(c, module, hostFun, deviceName);
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

// Graphs may still point to it: it stays, without a module.
static void retire(CudaContext *c, CudaFunction *f) {
    if (f->host) map_remove(&c->functions, (u64)(uintptr_t)f->host);
    mem_free(f->name);
    mem_free(f->devices);
    mem_free(f->legacy);
    *f = (CudaFunction){0};
    object_retire(&c->objects, f);
    (void)!vec_push(&c->retired, f);
}

static void module_forget(CudaContext *c, CudaModule *module) {
    for (u32 i = 0; i < module->functions.len; i++) retire(c, module->functions.data[i]);
    for (u32 i = 0; i < module->symbols.len; i++) {
        map_remove(&c->symbols, (u64)(uintptr_t)module->symbols.data[i]->host);
        mem_free(module->symbols.data[i]->name);
        mem_free(module->symbols.data[i]);
    }
    vec_free(&module->functions);
    vec_free(&module->symbols);
    for (u32 i = 0; module->instances && i < c->config.devices; i++) map_free(&module->instances[i].code);
    mem_free(module->instances);
    binary_image_free(&module->image);
    for (u32 i = 0; i < c->modules.len; i++)
        if (c->modules.data[i] == module) c->modules.data[i--] = c->modules.data[--c->modules.len];
    object_delete(&c->objects, module);
}

// At exit, or when a plug-in is unloaded. Its code may be gone afterwards, so nothing of it is kept. The simulator's
// copy of the module stays: memory of its variables may still be pointed to.
CUDA_API void __cudaUnregisterFatBinary(void **fatCubinHandle) {
    CudaContext *c;
    (void)cuda_enter(&c, NEED_NOTHING);
    CudaModule *module = module_of(c, fatCubinHandle);
    if (c->state == CUDA_RUNNING) (void)pending_settle(c);
    if (module) module_forget(c, module);
    (void)cuda_leave(c, cudaSuccess);
}

void modules_reset(CudaContext *c) {
    for (u32 i = 0; i < c->modules.len; i++) {
        CudaModule *module = c->modules.data[i];
        Instance *instance = module->instances ? &module->instances[cuda_thread()->device] : NULL;
        if (!instance || !instance->loaded) continue;
        sim_unload_module(c->sim, instance->loaded);
        map_free(&instance->code);
        *instance = (Instance){0};
        for (u32 k = 0; k < module->functions.len; k++) {
            CudaFunction *f = module->functions.data[k];
            if (f->devices) f->devices[cuda_thread()->device] = (CudaKernel){0};
        }
    }
}

// --- modules that the program loads itself ---

CudaModule *module_find(CudaContext *c, const void *handle) { return object_get(&c->objects, handle, OBJECT_MODULE); }

cudaError_t module_load(CudaContext *c, BinaryImage *image, bool library, Diag *diag, CudaModule **out) {
    CudaModule *module = module_new(c);
    if (!module) {
        binary_image_free(image);
        return cudaErrorMemoryAllocation;
    }
    module->image = *image;
    module->library = library;
    *image = (BinaryImage){0};
    module->instances = mem_zero(c->config.devices, sizeof *module->instances);
    cudaError_t error = cudaErrorMemoryAllocation;
    if (module->instances) {
        Instance *instance = &module->instances[cuda_thread()->device];
        instance->tried = true;
        error = instance->error = load(c, module, instance, diag);
    }
    if (error != cudaSuccess)
        module_forget(c, module);
    else
        *out = module;
    return error;
}

cudaError_t module_unload(CudaContext *c, CudaModule *module) {
    if (module->wrapper) return cudaErrorNotPermitted;  // a part of the program
    cudaError_t error = pending_wait(c, (PendingSet){.device = -1});
    if (error != cudaSuccess) return error;
    for (u32 i = 0; module->instances && i < c->config.devices; i++)
        if (module->instances[i].loaded) sim_unload_module(c->sim, module->instances[i].loaded);
    module_forget(c, module);
    return cudaSuccess;
}

bool module_is_library(const CudaModule *module) { return module->library; }

cudaError_t module_function(CudaContext *c, CudaModule *module, const char *name, CudaFunction **function) {
    Instance *instance;
    SimKernel *kernel;
    for (u32 i = 0; i < module->functions.len; i++) {
        *function = module->functions.data[i];
        if (strcmp((*function)->name, name) == 0) return cudaSuccess;
    }
    cudaError_t error = module_instance(c, module, &instance);
    if (error != cudaSuccess) return error;
    if (sim_find_kernel(c->sim, instance->loaded, name, &kernel) != STATUS_OK) return cudaErrorSymbolNotFound;
    *function = add_function(c, module, NULL, name);
    return *function ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t module_variable(CudaContext *c, CudaModule *module, const char *name, void **address, size_t *size) {
    Instance *instance;
    DevicePtr at;
    u64 bytes;
    cudaError_t error = module_instance(c, module, &instance);
    if (error != cudaSuccess) return error;
    if (sim_find_symbol(c->sim, instance->loaded, name, &at, &bytes) != STATUS_OK) return cudaErrorSymbolNotFound;
    if (address) *address = (void *)(uintptr_t)at;
    if (size) *size = bytes;
    return cudaSuccess;
}

cudaError_t module_functions(CudaContext *c, CudaModule *module, CudaFunction **to, u32 room, u32 *count) {
    Instance *instance;
    cudaError_t error = module_instance(c, module, &instance);
    if (error != cudaSuccess) return error;
    const Module *ptx = sim_module_ptx(instance->loaded);
    *count = 0;
    for (u32 i = 0; i < ptx->func_count && error == cudaSuccess; i++) {
        const Function *f = &ptx->funcs[i];
        if (!f->is_entry || !f->has_body) continue;
        if (*count < room) error = module_function(c, module, module_text(ptx, f->name), &to[*count]);
        ++*count;
    }
    return error;
}
