// SPDX-License-Identifier: Apache-2.0
// Odd calls of the driver API and what they answer, one a line: the call, then the number of the error, or a value.
// Built with -DREAL (and -lcuda) it asks a real GPU, which is where h200_driver.txt is from; without, it is a test that
// asks the simulator (driver_calls_test.c). Each section is a process of its own, because some end badly.
#include "driver_calls.h"

#define A CALL  // so that a line of the table is a line of this file

static const char *const ptx =
    ".version 7.0\n.target sm_75\n.address_size 64\n.global .align 4 .u32 word = 7;\n.const .align 4 .u32 table[4];\n"
    ".visible .entry put(.param .u64 p, .param .u32 v)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<3>;\n"
    "ld.param.u64 %d1, [p];\nld.param.u32 %r1, [v];\ncvta.to.global.u64 %d2, %d1;\nst.global.u32 [%d2], %r1;\nret;\n}\n"
    ".visible .entry none()\n{\nret;\n}\n"
    ".visible .entry bounded() .maxntid 64, 1, 1\n{\nret;\n}\n"
    ".visible .entry fixed() .reqntid 32, 1, 1\n{\nret;\n}\n"
    ".visible .entry fault()\n{\n.reg .b32 %r<2>;\n.reg .b64 %d<2>;\nmov.u64 %d1, 16;\nmov.u32 %r1, 1;\n"
    "st.global.u32 [%d1], %r1;\nret;\n}\n";
static const char *const bad_ptx =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\nfoo.u32 a;\n}\n";
static const char *const extern_ptx = ".version 7.0\n.target sm_75\n.address_size 64\n.extern .func missing();\n"
                                      ".visible .entry k()\n{\n{ call missing, (); }\nret;\n}\n";
static const char *const caller_ptx =
    ".version 7.0\n.target sm_75\n.address_size 64\n.extern .func (.param .b32 r) seven();\n.visible .entry k(.param "
    ".u64 p)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<2>;\nld.param.u64 %d1, [p];\n{ .param .b32 q; call (q), seven, ();\n"
    "ld.param.b32 %r1, [q]; }\nst.global.u32 [%d1], %r1;\nret;\n}\n";
static const char *const callee_ptx = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .func (.param .b32 r) "
                                      "seven()\n{\nst.param.b32 [r], 7;\nret;\n}\n";

static CUcontext ctx;
static CUmodule module;
static CUfunction put, none, bounded, fixed, fault;
static CUdeviceptr d, man;
static CUstream s;
static CUevent e1, e2, ent;
static char host[1 << 20];
static void *pin;

static void begin(void) {
    cuInit(0);
    cuCtxCreate_v2(&ctx, 0, 0);
    cuModuleLoadData(&module, ptx);
    cuModuleGetFunction(&put, module, "put");
    cuModuleGetFunction(&none, module, "none");
    cuModuleGetFunction(&bounded, module, "bounded");
    cuModuleGetFunction(&fixed, module, "fixed");
    cuModuleGetFunction(&fault, module, "fault");
    cuMemAlloc_v2(&d, 1000);
    cuMemAllocManaged(&man, 4096, 1);
    cuMemHostAlloc(&pin, 4096, 0);
    cuStreamCreate(&s, 0);
    cuEventCreate(&e1, 0);
    cuEventCreate(&e2, 0);
    cuEventCreate(&ent, 2);
}

SECTION(before_init) {
    int n = -1;
    CUdevice dev;
    CUcontext c;
    const char *text;
    A(cuDriverGetVersion(&n));
    A(cuDriverGetVersion(NULL));
    A(cuDeviceGetCount(&n));
    A(cuDeviceGet(&dev, 0));
    A(cuCtxGetCurrent(&c));
    A(cuCtxCreate_v2(&c, 0, 0));
    A(cuMemAlloc_v2(&d, 4));
    A(cuGetErrorName((CUresult)1, &text));
    A(cuGetErrorName((CUresult)77777, &text));
    VALUE(text == NULL);
    A(cuGetErrorString((CUresult)77777, &text));
    A(cuInit(1));
    A(cuInit(0));
    A(cuInit(0));
    A(cuDeviceGetCount(NULL));
    A(cuDeviceGet(&dev, -1));
    A(cuDeviceGet(&dev, 64));
    A(cuDeviceGet(NULL, 0));
}

SECTION(texts) {
    static const int codes[] = {0,   1,   2,   3,   4,   34,  36,  46,  100, 101, 200, 201, 202, 205,
                                209, 215, 217, 218, 222, 224, 300, 301, 302, 304, 400, 401, 402, 500,
                                600, 700, 701, 704, 705, 708, 709, 710, 712, 713, 715, 716, 719, 720,
                                800, 801, 900, 901, 905, 907, 910, 912, 913, 914, 915, 916, 999};
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
        const char *name = NULL, *text = NULL;
        cuGetErrorName((CUresult)codes[i], &name);
        cuGetErrorString((CUresult)codes[i], &text);
        printf("text %d %s: %s\n", codes[i], name ? name : "-", text ? text : "-");
    }
}

SECTION(proc_address) {
    void *p = NULL;
    CUdriverProcAddressQueryResult q;
    A(cuGetProcAddress_v2("cuMemAlloc", &p, 12000, 0, &q));
    VALUE(q);
    A(cuGetProcAddress_v2("cuMemAlloc_v2", &p, 12000, 0, &q));
    VALUE(q);
    VALUE(p == NULL);
    A(cuGetProcAddress_v2("cuNoSuchThing", &p, 12000, 0, &q));
    VALUE(q);
    A(cuGetProcAddress_v2("cuNoSuchThing", &p, 12000, 0, NULL));
    A(cuGetProcAddress_v2("cuGraphAddNode", &p, 11000, 0, &q));
    VALUE(q);
    A(cuGetProcAddress_v2("cuGraphAddNode", &p, 11000, 0, NULL));
    A(cuGetProcAddress_v2("cuMemAlloc", &p, 1000, 0, &q));
    VALUE(q);
    A(cuGetProcAddress_v2("cuMemAlloc", &p, 0, 0, &q));
    VALUE(q);
    A(cuGetProcAddress_v2("cuMemAlloc", &p, 99000, 0, &q));
    VALUE(q);
    A(cuGetProcAddress_v2("", &p, 12000, 0, &q));
    A(cuGetProcAddress_v2("cuInit", NULL, 12000, 0, &q));
    A(cuGetProcAddress_v2("cuInit", &p, 12000, 4, &q));
    A(cuGetProcAddress_v2("cuInit", &p, 12000, 3, &q));
    A(cuGetProcAddress_v2("cuMemcpy", &p, 12000, 2, &q));
    VALUE(q);
    A(cuGetProcAddress_v2("cuMemcpy", &p, 6000, 2, &q));
    VALUE(q);
    A(cuGetProcAddress_v2("cuGetProcAddress", &p, 12000, 0, &q));
    A(cuGetProcAddress_v2("cuGLCtxCreate", &p, 12000, 0, &q));
    VALUE(q);
}

SECTION(contexts) {
    CUcontext a = NULL, b = NULL, c = NULL;
    CUdevice dev;
    unsigned flags, version;
    int active;
    unsigned long long id;
    cuInit(0);
    A(cuCtxGetCurrent(&c));
    VALUE(c == NULL);
    A(cuCtxGetCurrent(NULL));
    A(cuCtxGetDevice(&dev));
    A(cuCtxGetFlags(&flags));
    A(cuCtxPopCurrent_v2(&c));
    A(cuCtxPushCurrent_v2(NULL));
    A(cuCtxSetCurrent(NULL));
    A(cuCtxSynchronize());
    A(cuMemAlloc_v2(&d, 4));
    A(cuMemFree_v2(0));
    A(cuMemGetInfo_v2(NULL, NULL));
    A(cuStreamCreate(&s, 0));
    A(cuCtxCreate_v2(NULL, 0, 0));
    A(cuCtxCreate_v2(&a, 3, 0));
    A(cuCtxCreate_v2(&a, 5, 0));
    A(cuCtxCreate_v2(&a, 0x100, 0));
    A(cuCtxCreate_v2(&a, 0, 99));
    A(cuCtxCreate_v2(&a, 0, -1));
    A(cuDevicePrimaryCtxGetState(0, &flags, &active));
    VALUE(flags);
    VALUE(active);
    A(cuDevicePrimaryCtxRelease_v2(0));
    A(cuDevicePrimaryCtxRetain(&c, 0));
    A(cuDevicePrimaryCtxGetState(0, &flags, &active));
    VALUE(active);
    A(cuDevicePrimaryCtxSetFlags_v2(0, 4));
    A(cuDevicePrimaryCtxGetState(0, &flags, &active));
    VALUE(flags);
    A(cuDevicePrimaryCtxSetFlags_v2(0, 3));
    A(cuDevicePrimaryCtxSetFlags_v2(0, 0x100));
    A(cuDevicePrimaryCtxSetFlags_v2(99, 0));
    A(cuDevicePrimaryCtxRetain(NULL, 0));
    A(cuDevicePrimaryCtxRetain(&c, 99));
    A(cuDevicePrimaryCtxGetState(0, NULL, &active));
    A(cuDevicePrimaryCtxGetState(0, &flags, NULL));
    A(cuCtxDestroy_v2(c));
    A(cuDevicePrimaryCtxRelease_v2(0));
    A(cuDevicePrimaryCtxRelease_v2(0));
    A(cuDevicePrimaryCtxReset_v2(0));
    A(cuDevicePrimaryCtxReset_v2(99));
    A(cuCtxCreate_v2(&a, 4, 0));
    A(cuCtxGetFlags(&flags));
    VALUE(flags);
    A(cuCtxCreate_v2(&b, 0x10, 0));
    A(cuCtxGetFlags(&flags));
    VALUE(flags);
    A(cuCtxGetCurrent(&c));
    VALUE(c == b);
    A(cuCtxGetApiVersion(b, &version));
    VALUE(version);
    A(cuCtxGetApiVersion(NULL, &version));
    A(cuCtxGetApiVersion(b, NULL));
    A(cuCtxGetId(b, &id));
    A(cuCtxGetId(NULL, &id));
    A(cuCtxGetId(b, NULL));
    A(cuCtxSetFlags(2));
    A(cuCtxGetFlags(&flags));
    VALUE(flags);
    A(cuCtxSetFlags(3));
    A(cuCtxSetFlags(0x100));
    A(cuCtxPopCurrent_v2(&c));
    VALUE(c == b);
    A(cuCtxGetCurrent(&c));
    VALUE(c == a);
    A(cuCtxPushCurrent_v2(a));
    A(cuCtxPopCurrent_v2(NULL));
    A(cuCtxGetCurrent(&c));
    VALUE(c == a);
    A(cuCtxSetCurrent(b));
    A(cuCtxGetCurrent(&c));
    VALUE(c == b);
    A(cuCtxPopCurrent_v2(&c));
    A(cuCtxGetCurrent(&c));
    VALUE(c == NULL);
    A(cuCtxPushCurrent_v2(a));
    A(cuCtxPushCurrent_v2(b));
    A(cuCtxDestroy_v2(a));
    A(cuCtxGetCurrent(&c));
    VALUE(c == b);
    A(cuCtxDestroy_v2(b));
    A(cuCtxGetCurrent(&c));
    VALUE(c == a);
    A(cuMemAlloc_v2(&d, 4));
    A(cuCtxGetDevice(&dev));
    A(cuCtxPopCurrent_v2(&c));
    A(cuCtxDestroy_v2(NULL));
    A(cuCtxAttach(&c, 0));
    A(cuCtxCreate_v2(&a, 0, 0));
    A(cuCtxAttach(&c, 1));
    A(cuCtxAttach(&c, 0));
    VALUE(c == a);
    A(cuCtxDetach(a));
    A(cuCtxGetCurrent(&c));
    VALUE(c == a);
    A(cuCtxDetach(a));
    A(cuCtxGetCurrent(&c));
    VALUE(c == NULL);
}

SECTION(destroyed_context) {
    CUcontext c;
    begin();
    A(cuCtxDestroy_v2(ctx));
    A(cuMemFree_v2(d));
    A(cuCtxGetCurrent(&c));
    A(cuCtxCreate_v2(&c, 0, 0));
    A(cuMemFree_v2(d));
    A(cuMemcpyDtoH_v2(host, d, 4));
}
SECTION(destroyed_twice) {
    begin();
    A(cuCtxDestroy_v2(ctx));
    A(cuCtxDestroy_v2(ctx));
}
SECTION(destroyed_pushed) {
    begin();
    A(cuCtxDestroy_v2(ctx));
    A(cuCtxPushCurrent_v2(ctx));
}
SECTION(destroyed_set) {
    begin();
    A(cuCtxDestroy_v2(ctx));
    A(cuCtxSetCurrent(ctx));
}

SECTION(limits) {
    size_t v;
    int low, high;
    begin();
    for (int i = 0; i < 12; i++) {
        CALL_NAMED(("cuCtxGetLimit(%d)", i), cuCtxGetLimit(&v, (CUlimit)i));
        if (i < 7 && i != 3) printf("limit %d %zu\n", i, v);
    }
    A(cuCtxSetLimit((CUlimit)0, 2048));
    A(cuCtxSetLimit((CUlimit)99, 2048));
    A(cuCtxGetLimit(NULL, (CUlimit)0));
    A(cuCtxGetStreamPriorityRange(&low, &high));
    VALUE(low);
    VALUE(high);
    A(cuCtxGetStreamPriorityRange(NULL, NULL));
    A(cuCtxSetCacheConfig((CUfunc_cache)2));
    A(cuCtxSetCacheConfig((CUfunc_cache)9));
    A(cuCtxGetCacheConfig(NULL));
    A(cuCtxResetPersistingL2Cache());
}

SECTION(devices) {
    int v = 0, major, minor;
    char text[64];
    size_t bytes;
    CUdevprop p;
    CUuuid uuid;
    unsigned mask;
    cuInit(0);
    for (int i = 0; i <= 148; i++) {
        CUresult r = cuDeviceGetAttribute(&v, (CUdevice_attribute)i, 0);
        if (r)
            printf("attribute %d error %d\n", i, r);
        else
            printf("attribute %d %d\n", i, v);
    }
    A(cuDeviceGetAttribute(NULL, (CUdevice_attribute)1, 0));
    A(cuDeviceGetAttribute(&v, (CUdevice_attribute)1, 99));
    A(cuDeviceGetAttribute(&v, (CUdevice_attribute)1, -1));
    A(cuDeviceGetName(text, 4, 0));
    VALUE(strlen(text));
    A(cuDeviceGetName(text, 64, 99));
    A(cuDeviceTotalMem_v2(&bytes, 0));
    A(cuDeviceTotalMem_v2(NULL, 0));
    A(cuDeviceTotalMem_v2(&bytes, 99));
    A(cuDeviceComputeCapability(&major, &minor, 0));
    VALUE(major);
    A(cuDeviceComputeCapability(&major, &minor, 99));
    A(cuDeviceGetProperties(&p, 0));
    VALUE(p.maxThreadsPerBlock);
    VALUE(p.sharedMemPerBlock);
    VALUE(p.totalConstantMemory);
    VALUE(p.SIMDWidth);
    VALUE(p.memPitch);
    VALUE(p.regsPerBlock);
    VALUE(p.textureAlign);
    A(cuDeviceGetProperties(NULL, 0));
    A(cuDeviceGetUuid(&uuid, 0));
    A(cuDeviceGetUuid(NULL, 0));
    A(cuDeviceGetUuid(&uuid, 99));
    A(cuDeviceGetLuid(text, &mask, 0));
    A(cuDeviceGetPCIBusId(text, 13, 0));
    VALUE(strlen(text));
    A(cuDeviceGetPCIBusId(text, 12, 0));
    A(cuDeviceGetPCIBusId(text, 4, 0));
    A(cuDeviceGetPCIBusId(NULL, 13, 0));
    A(cuDeviceGetByPCIBusId(&v, "ffff:ff:ff.0"));
    A(cuDeviceGetByPCIBusId(&v, "nonsense"));
    A(cuDeviceGetByPCIBusId(&v, NULL));
    A(cuDeviceGetExecAffinitySupport(&v, (CUexecAffinityType)0, 0));
    VALUE(v);
    A(cuDeviceCanAccessPeer(&v, 0, 0));
    VALUE(v);
    A(cuDeviceCanAccessPeer(&v, 0, 99));
    A(cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)1, 0, 0));
    A(cuDeviceGetTexture1DLinearMaxWidth(&bytes, (CUarray_format)0x20, 1, 0));
    VALUE(bytes);
    A(cuDeviceGetTexture1DLinearMaxWidth(&bytes, (CUarray_format)0x20, 4, 0));
    VALUE(bytes);
    A(cuDeviceGetTexture1DLinearMaxWidth(&bytes, (CUarray_format)1, 3, 0));
}

SECTION(modules) {
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    size_t bytes;
    unsigned count;
    const char *name;
    CUfunction list[8];
    CUmoduleLoadingMode mode;
    CUfunctionLoadingState state;
    static char elf[128] = "\177ELF\2\1\1\63";
    begin();
    A(cuModuleLoadData(&m, NULL));
    A(cuModuleLoadData(NULL, ptx));
    A(cuModuleLoadData(&m, "garbage that is no image"));
    A(cuModuleLoadData(&m, ""));
    A(cuModuleLoadData(&m, bad_ptx));
    A(cuModuleLoadData(&m, extern_ptx));
    A(cuModuleLoadData(&m, ".version 9.9\n.target sm_75\n.address_size 64\n"));
    A(cuModuleLoadData(&m, ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"));
    A(cuModuleLoadData(&m, ".version 8.0\n.target sm_80\n.address_size 64\n"));
    A(cuModuleLoadData(&m, ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"));
    A(cuModuleLoadData(&m, ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"));
    A(cuModuleLoadData(&m, ".target sm_75\n"));
    A(cuModuleLoadData(&m, elf));
    A(cuModuleLoad(&m, "/nonexistent.ptx"));
    A(cuModuleLoad(&m, "/"));
    A(cuModuleLoad(&m, NULL));
    A(cuModuleLoad(&m, "/etc/passwd"));
    A(cuModuleLoadFatBinary(&m, NULL));
    A(cuModuleLoadFatBinary(&m, ptx));
    A(cuModuleGetFunction(&f, module, "nothing"));
    A(cuModuleGetFunction(&f, module, ""));
    A(cuModuleGetFunction(&f, module, NULL));
    A(cuModuleGetFunction(NULL, module, "put"));
    A(cuModuleGetFunction(&f, NULL, "put"));
    A(cuModuleGetFunction(&f, module, "put"));
    VALUE(f == put);
    A(cuModuleGetGlobal_v2(&p, &bytes, module, "word"));
    VALUE(bytes);
    A(cuModuleGetGlobal_v2(&p, &bytes, module, "table"));
    VALUE(bytes);
    A(cuModuleGetGlobal_v2(&p, &bytes, module, "put"));
    A(cuModuleGetGlobal_v2(&p, &bytes, module, "nothing"));
    A(cuModuleGetGlobal_v2(&p, &bytes, module, NULL));
    A(cuModuleGetGlobal_v2(NULL, &bytes, module, "word"));
    A(cuModuleGetGlobal_v2(&p, NULL, module, "word"));
    A(cuModuleGetGlobal_v2(NULL, NULL, module, "word"));
    A(cuModuleGetGlobal_v2(&p, &bytes, NULL, "word"));
    A(cuModuleGetFunctionCount(&count, module));
    VALUE(count);
    A(cuModuleGetFunctionCount(NULL, module));
    A(cuModuleEnumerateFunctions(list, 2, module));
    A(cuModuleEnumerateFunctions(list, 8, module));
    A(cuModuleEnumerateFunctions(list, 0, module));
    A(cuModuleEnumerateFunctions(NULL, 1, module));
    A(cuModuleGetLoadingMode(&mode));
    VALUE(mode);
    A(cuFuncGetModule(&m, put));
    VALUE(m == module);
    A(cuFuncGetModule(NULL, put));
    A(cuFuncGetName(&name, put));
    A(cuFuncGetName(NULL, put));
    A(cuFuncIsLoaded(&state, put));
    VALUE(state);
    A(cuFuncLoad(put));
    A(cuFuncIsLoaded(&state, put));
    VALUE(state);
    A(cuFuncGetParamInfo(put, 0, &bytes, NULL));
    VALUE(bytes);
    A(cuFuncGetParamInfo(put, 1, &bytes, NULL));
    VALUE(bytes);
    A(cuFuncGetParamInfo(put, 2, &bytes, NULL));
    A(cuFuncGetParamInfo(put, 0, NULL, NULL));
    A(cuModuleUnload(NULL));
    A(cuModuleUnload(module));
}
SECTION(unloaded_twice) {
    begin();
    A(cuModuleUnload(module));
    A(cuModuleUnload(module));
}

SECTION(jit_options) {
    CUmodule m;
    char log[256] = "x", info[256] = "y";
    CUjit_option o[] = {(CUjit_option)5, (CUjit_option)6, (CUjit_option)3, (CUjit_option)4, (CUjit_option)2};
    void *v[] = {log, (void *)256, info, (void *)256, NULL};
    CUjit_option unknown[] = {(CUjit_option)99};
    begin();
    A(cuModuleLoadDataEx(&m, bad_ptx, 5, o, v));
    VALUE((size_t)v[1] > 10);
    VALUE(log[0] != 'x' && log[0] != 0);
    v[1] = v[3] = (void *)256;
    A(cuModuleLoadDataEx(&m, ptx, 5, o, v));
    VALUE((size_t)v[1]);
    VALUE(log[0] == 0);
    VALUE((size_t)v[3]);
    A(cuModuleLoadDataEx(&m, ptx, 1, unknown, v));
    A(cuModuleLoadDataEx(&m, ptx, 1, NULL, NULL));
    A(cuModuleLoadDataEx(&m, ptx, 0, NULL, NULL));
}

SECTION(libraries) {
    CUlibrary l;
    CUkernel k;
    CUfunction f;
    CUmodule m;
    CUdeviceptr p;
    size_t bytes;
    unsigned count;
    int v;
    const char *name;
    CUlibraryOption preserved[] = {(CUlibraryOption)1}, unknown[] = {(CUlibraryOption)9};
    void *values[] = {NULL};
    cuInit(0);
    A(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0));
    A(cuLibraryLoadData(NULL, ptx, NULL, NULL, 0, NULL, NULL, 0));
    A(cuLibraryLoadData(&l, NULL, NULL, NULL, 0, NULL, NULL, 0));
    A(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, preserved, values, 1));
    A(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, unknown, values, 1));
    A(cuLibraryLoadFromFile(&l, "/nonexistent", NULL, NULL, 0, NULL, NULL, 0));
    begin();
    A(cuLibraryLoadData(&l, bad_ptx, NULL, NULL, 0, NULL, NULL, 0));
    A(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0));
    A(cuLibraryGetKernel(&k, l, "nothing"));
    A(cuLibraryGetKernel(&k, l, NULL));
    A(cuLibraryGetKernel(&k, l, "put"));
    A(cuLibraryGetKernelCount(&count, l));
    VALUE(count);
    A(cuLibraryGetGlobal(&p, &bytes, l, "word"));
    VALUE(bytes);
    A(cuLibraryGetGlobal(&p, &bytes, l, "nothing"));
    A(cuLibraryGetManaged(&p, &bytes, l, "word"));
    A(cuLibraryGetModule(&m, l));
    A(cuModuleGetFunction(&f, m, "put"));
    A(cuKernelGetFunction(&f, k));
    A(cuKernelGetName(&name, k));
    A(cuKernelGetAttribute(&v, (CUfunction_attribute)0, k, 0));
    VALUE(v);
    A(cuKernelGetAttribute(&v, (CUfunction_attribute)0, k, 99));
    A(cuKernelGetAttribute(&v, (CUfunction_attribute)77, k, 0));
    A(cuKernelSetAttribute((CUfunction_attribute)8, 1000, k, 0));
    A(cuKernelSetAttribute((CUfunction_attribute)8, 1000000, k, 0));
    A(cuModuleUnload(m));
    A(cuLibraryUnload(l));
    A(cuLibraryUnload(NULL));
}

SECTION(linking) {
    CUlinkState l;
    CUmodule m;
    void *out = NULL;
    size_t size = 0;
    CUfunction f;
    begin();
    A(cuLinkCreate_v2(0, NULL, NULL, NULL));
    A(cuLinkCreate_v2(0, NULL, NULL, &l));
    A(cuLinkComplete(l, &out, &size));
    A(cuLinkDestroy(l));
    A(cuLinkCreate_v2(0, NULL, NULL, &l));
    A(cuLinkAddData_v2(l, (CUjitInputType)1, NULL, 10, NULL, 0, NULL, NULL));
    A(cuLinkAddData_v2(l, (CUjitInputType)9, (void *)caller_ptx, strlen(caller_ptx) + 1, NULL, 0, NULL, NULL));
    A(cuLinkAddData_v2(l, (CUjitInputType)1, (void *)bad_ptx, strlen(bad_ptx) + 1, NULL, 0, NULL, NULL));
    A(cuLinkAddFile_v2(l, (CUjitInputType)1, "/nonexistent", 0, NULL, NULL));
    A(cuLinkDestroy(l));
    A(cuLinkCreate_v2(0, NULL, NULL, &l));
    A(cuLinkAddData_v2(l, (CUjitInputType)1, (void *)caller_ptx, strlen(caller_ptx) + 1, "caller", 0, NULL, NULL));
    A(cuLinkComplete(l, &out, &size));
    A(cuLinkDestroy(l));
    A(cuLinkCreate_v2(0, NULL, NULL, &l));
    A(cuLinkAddData_v2(l, (CUjitInputType)1, (void *)caller_ptx, strlen(caller_ptx) + 1, "caller", 0, NULL, NULL));
    A(cuLinkAddData_v2(l, (CUjitInputType)1, (void *)callee_ptx, strlen(callee_ptx) + 1, NULL, 0, NULL, NULL));
    A(cuLinkComplete(l, NULL, &size));
    A(cuLinkComplete(l, &out, NULL));
    A(cuLinkComplete(l, &out, &size));
    VALUE(size > 100);
    A(cuModuleLoadData(&m, out));
    A(cuLinkDestroy(l));
    A(cuModuleGetFunction(&f, m, "k"));
    void *args[] = {&d};
    int v = 0;
    A(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    A(cuMemcpyDtoH_v2(&v, d, 4));
    VALUE(v);
}

SECTION(functions) {
    int v, blocks, grid, block;
    size_t shared;
    begin();
    for (int i = 0; i < 17; i++) {
        CUresult r = cuFuncGetAttribute(&v, (CUfunction_attribute)i, put);
        if (i == 4 || i == 5 || i == 6 || i == 7) v = 0;  // registers and versions are the compiler's
        printf("function attribute %d %d %d\n", i, r, r ? 0 : v);
    }
    A(cuFuncGetAttribute(&v, (CUfunction_attribute)0, bounded));
    VALUE(v);
    A(cuFuncGetAttribute(NULL, (CUfunction_attribute)0, put));
    A(cuFuncGetAttribute(&v, (CUfunction_attribute)-1, put));
    A(cuFuncGetAttribute(&v, (CUfunction_attribute)0, NULL));
    A(cuOccupancyAvailableDynamicSMemPerBlock(&shared, put, 2, 128));
    VALUE(shared);
    A(cuFuncSetAttribute(put, (CUfunction_attribute)0, 1));
    A(cuFuncSetAttribute(put, (CUfunction_attribute)8, 1000));
    A(cuFuncSetAttribute(put, (CUfunction_attribute)8, 232448));
    A(cuFuncSetAttribute(put, (CUfunction_attribute)8, 232449));
    A(cuFuncSetAttribute(put, (CUfunction_attribute)8, -1));
    A(cuFuncSetAttribute(put, (CUfunction_attribute)9, 50));
    A(cuFuncSetAttribute(put, (CUfunction_attribute)9, 101));
    A(cuFuncSetAttribute(put, (CUfunction_attribute)9, -2));
    A(cuFuncSetAttribute(put, (CUfunction_attribute)14, 1));
    A(cuFuncSetAttribute(put, (CUfunction_attribute)77, 1));
    A(cuFuncSetCacheConfig(put, (CUfunc_cache)1));
    A(cuFuncSetCacheConfig(put, (CUfunc_cache)9));
    A(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, put, 128, 0));
    VALUE(blocks);
    A(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, put, 0, 0));
    A(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, put, 2000, 0));
    A(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, put, 128, 1 << 20));
    A(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, put, 128, 0));
    A(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 128, 0));
    A(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, put, 128, 0, 8));
    A(cuOccupancyMaxPotentialBlockSize(&grid, &block, put, NULL, 0, 0));
    VALUE(grid);
    VALUE(block);
    A(cuOccupancyMaxPotentialBlockSize(&grid, &block, put, NULL, 0, 100));
    VALUE(block);
    A(cuOccupancyMaxPotentialBlockSize(&grid, &block, put, NULL, 20000, 0));
    VALUE(grid);
    VALUE(block);
    A(cuOccupancyMaxPotentialBlockSize(NULL, &block, put, NULL, 0, 0));
}

SECTION(launches) {
    unsigned one = 1;
    void *args[] = {&d, &one}, *null_arg[] = {NULL, NULL};
    struct {
        CUdeviceptr p;
        unsigned v;
    } packed;
    size_t size = 12, small = 8, large = 16;
    begin();
    packed.p = d;
    packed.v = 9;
    void *extra[] = {(void *)1, &packed, (void *)2, &size, NULL},
         *extra_small[] = {(void *)1, &packed, (void *)2, &small, NULL};
    void *extra_large[] = {(void *)1, &packed, (void *)2, &large, NULL}, *extra_none[] = {NULL};
    void *extra_unknown[] = {(void *)7, &packed, NULL}, *extra_no_size[] = {(void *)1, &packed, NULL};
    A(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    A(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    A(cuMemcpyDtoH_v2(host, d, 4));
    VALUE(host[0]);
    A(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, args, extra));
    A(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra_small));
    A(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra_large));
    A(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra_none));
    A(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra_unknown));
    A(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra_no_size));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    A(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 1, 70000, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 1, 1, 1, 0, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 65, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(bounded, 1, 1, 1, 65, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(fixed, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(fixed, 1, 1, 1, 31, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 49152, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 49153, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 300000, NULL, NULL, NULL));
    A(cuLaunchCooperativeKernel(none, 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
    A(cuLaunchCooperativeKernel(none, 100000, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    CUlaunchAttribute a = {.id = 4};
    CUlaunchConfig c = {.gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
    A(cuLaunchKernelEx(NULL, none, NULL, NULL));
    A(cuLaunchKernelEx(&c, none, NULL, NULL));
    c.numAttrs = 1;
    A(cuLaunchKernelEx(&c, none, NULL, NULL));
    c.attrs = &a;
    CLUSTER(a).x = 2, CLUSTER(a).y = 1, CLUSTER(a).z = 1;
    A(cuLaunchKernelEx(&c, none, NULL, NULL));
    CLUSTER(a).x = 3;
    A(cuLaunchKernelEx(&c, none, NULL, NULL));
    CLUSTER(a).x = 0;
    A(cuLaunchKernelEx(&c, none, NULL, NULL));
    CLUSTER(a).x = 16, c.gridDimX = 16;
    A(cuLaunchKernelEx(&c, none, NULL, NULL));
    CLUSTER(a).x = 32, c.gridDimX = 32;
    A(cuLaunchKernelEx(&c, none, NULL, NULL));
    A(cuFuncSetBlockShape(put, 1, 1, 1));
    A(cuFuncSetBlockShape(put, 0, 1, 1));
    A(cuFuncSetSharedSize(put, 0));
    A(cuParamSetSize(put, 12));
    A(cuParamSetv(put, 0, &d, 8));
    A(cuParamSeti(put, 8, 5));
    A(cuLaunch(put));
    A(cuMemcpyDtoH_v2(host, d, 4));
    VALUE(host[0]);
    A(cuParamSeti(put, 8, 6));
    A(cuLaunchGrid(put, 2, 2));
    A(cuLaunchGrid(put, 0, 1));
    A(cuLaunchGridAsync(put, 1, 1, s));
    A(cuMemcpyDtoH_v2(host, d, 4));
    VALUE(host[0]);
    A(cuLaunchHostFunc(s, NULL, NULL));
    A(cuStreamAddCallback(s, NULL, NULL, 0));
    A(cuCtxSynchronize());
    (void)null_arg;
}

SECTION(faults) {
    CUdeviceptr p;
    begin();
    A(cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    A(cuCtxSynchronize());
    A(cuCtxSynchronize());
    A(cuMemAlloc_v2(&p, 4));
    A(cuMemFree_v2(d));
    A(cuStreamQuery(s));
    A(cuEventQuery(e1));
    A(cuModuleUnload(module));
    A(cuStreamDestroy_v2(s));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CUcontext c;
    CUdevice dev;
    A(cuCtxGetCurrent(&c));
    A(cuCtxGetDevice(&dev));
    A(cuDeviceGetCount(&dev));
    A(cuCtxDestroy_v2(ctx));
    A(cuCtxCreate_v2(&c, 0, 0));
    A(cuMemAlloc_v2(&p, 4));
}

SECTION(memory) {
    CUdeviceptr p, base;
    size_t pitch, size;
    void *h;
    unsigned flags;
    begin();
    A(cuMemAlloc_v2(&p, 0));
    A(cuMemAlloc_v2(NULL, 10));
    A(cuMemAlloc_v2(&p, (size_t)1 << 50));
    A(cuMemFree_v2(0));
    A(cuMemFree_v2(d + 4));
    A(cuMemFree_v2(0x1234));
    A(cuMemFree_v2((CUdeviceptr)(size_t)pin));
    A(cuMemFreeHost(NULL));
    A(cuMemFreeHost(host));
    A(cuMemFreeHost((void *)(size_t)d));
    A(cuMemFreeHost((void *)(size_t)man));
    A(cuMemAllocPitch_v2(&p, &pitch, 100, 10, 4));
    VALUE(pitch);
    A(cuMemAllocPitch_v2(&p, &pitch, 513, 10, 16));
    VALUE(pitch);
    A(cuMemAllocPitch_v2(&p, &pitch, 100, 10, 3));
    A(cuMemAllocPitch_v2(&p, &pitch, 0, 10, 4));
    A(cuMemAllocPitch_v2(&p, &pitch, 100, 0, 4));
    A(cuMemAllocPitch_v2(&p, NULL, 100, 10, 4));
    A(cuMemAllocManaged(&p, 0, 1));
    A(cuMemAllocManaged(&p, 10, 0));
    A(cuMemAllocManaged(&p, 10, 4));
    A(cuMemAllocManaged(&p, 10, 2));
    A(cuMemAllocManaged(NULL, 10, 1));
    A(cuMemAllocHost_v2(&h, 0));
    A(cuMemAllocHost_v2(NULL, 10));
    A(cuMemHostAlloc(&h, 10, 8));
    A(cuMemHostAlloc(&h, 0, 0));
    A(cuMemHostAlloc(&h, 100, 2));
    A(cuMemHostGetFlags(&flags, h));
    VALUE(flags);
    A(cuMemHostGetFlags(&flags, host));
    A(cuMemHostGetDevicePointer_v2(&p, h, 0));
    VALUE(p == (CUdeviceptr)(size_t)h);
    A(cuMemHostGetDevicePointer_v2(&p, h, 1));
    A(cuMemHostGetDevicePointer_v2(&p, host, 0));
    A(cuMemHostRegister_v2(NULL, 4096, 0));
    A(cuMemHostRegister_v2(host, 0, 0));
    A(cuMemHostRegister_v2(host, 4096, 0x100));
    A(cuMemHostRegister_v2(host, 4096, 0));
    A(cuMemHostRegister_v2(host, 4096, 0));
    A(cuMemHostUnregister(host));
    A(cuMemHostUnregister(host));
    A(cuMemHostUnregister(NULL));
    A(cuMemGetAddressRange_v2(&base, &size, d + 10));
    VALUE(base == d);
    VALUE(size);
    A(cuMemGetAddressRange_v2(NULL, NULL, d));
    A(cuMemGetAddressRange_v2(&base, &size, 0x1234));
    A(cuMemGetAddressRange_v2(&base, &size, (CUdeviceptr)(size_t)host));
    A(cuMemGetAddressRange_v2(&base, &size, (CUdeviceptr)(size_t)pin));
    A(cuMemGetInfo_v2(&size, NULL));
    A(cuMemFree_v2(d));
    A(cuMemFree_v2(d));
    A(cuMemAdvise(man, 4096, (CUmem_advise)1, 0));
    A(cuMemAdvise(man, 4096, (CUmem_advise)9, 0));
    A(cuMemAdvise(man, 4096, (CUmem_advise)3, -1));
    A(cuMemAdvise(man, 4096, (CUmem_advise)3, 99));
    A(cuMemAdvise(man, 0, (CUmem_advise)1, 0));
    A(cuMemAdvise(0x1234, 10, (CUmem_advise)1, 0));
    A(cuMemPrefetchAsync(man, 4096, 0, NULL));
    A(cuMemPrefetchAsync(man, 4096, -1, NULL));
    A(cuMemPrefetchAsync(man, 4096, 99, NULL));
    A(cuMemPrefetchAsync((CUdeviceptr)(size_t)pin, 4096, 0, NULL));
    A(cuMemPrefetchAsync(man, 8192, 0, NULL));
}

SECTION(pointers) {
    unsigned long long v = 0, w = 0;
    int n = -7;
    begin();
    for (int i = 0; i <= 22; i++) {
        static const char *const names[] = {"device", "managed", "pinned", "unknown"};
        CUdeviceptr at[] = {d + 4, man + 4, (CUdeviceptr)(size_t)pin + 4, (CUdeviceptr)(size_t)host};
        for (int k = 0; k < 4; k++) {
            v = 0;
            CUresult r = cuPointerGetAttribute(&v, (CUpointer_attribute)i, at[k]);
            const char *what = r                  ? ""
                               : v == at[k]       ? "same"
                               : v == at[k] - 4   ? "start"
                               : v == (size_t)ctx ? "context"
                                                  : "";
            printf("pointer attribute %d %s %d %s", i, names[k], r, what);
            if (!r && !*what && i != 5 && i != 7 && i != 20 && i != 17) printf("%llu", v);
            printf("\n");
        }
    }
    A(cuPointerGetAttribute(NULL, (CUpointer_attribute)2, d));
    A(cuPointerGetAttribute(&v, (CUpointer_attribute)2, 0));
    CUpointer_attribute two[] = {(CUpointer_attribute)2, (CUpointer_attribute)9};
    void *to[] = {&w, &n};
    A(cuPointerGetAttributes(2, two, to, (CUdeviceptr)(size_t)host));
    VALUE(w);
    VALUE(n);
    A(cuPointerGetAttributes(2, two, to, d));
    VALUE(w);
    VALUE(n);
    A(cuPointerGetAttributes(0, two, to, d));
    A(cuPointerGetAttributes(2, NULL, to, d));
    int on = 1;
    A(cuPointerSetAttribute(&on, (CUpointer_attribute)6, d));
    A(cuPointerSetAttribute(&on, (CUpointer_attribute)2, d));
    A(cuPointerSetAttribute(&on, (CUpointer_attribute)6, (CUdeviceptr)(size_t)host));
}

SECTION(copies) {
    CUdeviceptr h = (CUdeviceptr)(size_t)host;
    begin();
    A(cuMemcpyHtoD_v2(d, host, 1000));
    A(cuMemcpyHtoD_v2(d, host, 4 << 20));
    A(cuMemcpyHtoD_v2(d, NULL, 10));
    A(cuMemcpyHtoD_v2(0, host, 10));
    A(cuMemcpyHtoD_v2(0, host, 0));
    A(cuMemcpyHtoD_v2(h, host + 100, 10));
    A(cuMemcpyHtoD_v2((CUdeviceptr)(size_t)pin, host, 10));
    A(cuMemcpyHtoD_v2(d, (void *)(size_t)d, 10));
    A(cuMemcpyDtoH_v2(host, d, 1000));
    A(cuMemcpyDtoH_v2(NULL, d, 10));
    A(cuMemcpyDtoH_v2(host, 0x1234, 10));
    A(cuMemcpyDtoH_v2(host, (CUdeviceptr)(size_t)pin, 10));
    A(cuMemcpyDtoH_v2(host, h, 10));
    A(cuMemcpyDtoD_v2(d, man, 10));
    A(cuMemcpyDtoD_v2(d, h, 10));
    A(cuMemcpyDtoD_v2(d, (CUdeviceptr)(size_t)pin, 10));
    A(cuMemcpy(d, h, 10));
    A(cuMemcpy(h, d, 10));
    A(cuMemcpy(h, h + 100, 10));
    A(cuMemcpyAsync(d, h, 10, s));
    A(cuMemcpyHtoDAsync_v2(d, host, 10, s));
    A(cuMemcpyDtoHAsync_v2(host, d, 10, NULL));
    A(cuMemcpyPeer(d, ctx, man, ctx, 10));
    A(cuMemcpyPeer(d, NULL, man, ctx, 10));
    A(cuMemsetD8_v2(d, 1, 1000));
    A(cuMemsetD8_v2(d, 1, 4 << 20));
    A(cuMemsetD8_v2(0, 1, 10));
    A(cuMemsetD8_v2(0, 1, 0));
    A(cuMemsetD8_v2(h, 1, 10));
    A(cuMemsetD16_v2(d, 1, 10));
    A(cuMemsetD16_v2(d + 1, 1, 10));
    A(cuMemsetD32_v2(d, 1, 10));
    A(cuMemsetD32_v2(d + 2, 1, 10));
    A(cuMemsetD2D8_v2(d, 16, 1, 8, 4));
    A(cuMemsetD2D8_v2(d, 4, 1, 8, 4));
    A(cuMemsetD2D8_v2(d, 0, 1, 8, 1));
    A(cuMemsetD2D16_v2(d, 17, 1, 4, 4));
    A(cuMemsetD2D32_v2(d, 16, 1, 4, 4));
    A(cuMemsetD2D32_v2(d, 18, 1, 4, 4));
    A(cuMemsetD32Async(d, 1, 10, s));
    CUDA_MEMCPY2D c = {.srcMemoryType = 1,
                       .srcHost = host,
                       .srcPitch = 16,
                       .dstMemoryType = 2,
                       .dstDevice = d,
                       .dstPitch = 16,
                       .WidthInBytes = 8,
                       .Height = 4};
    A(cuMemcpy2D_v2(&c));
    A(cuMemcpy2D_v2(NULL));
    c.srcPitch = 4;
    A(cuMemcpy2D_v2(&c));
    c.srcPitch = 0;
    A(cuMemcpy2D_v2(&c));
    c.Height = 1;
    A(cuMemcpy2D_v2(&c));
    c.srcPitch = 4;
    A(cuMemcpy2D_v2(&c));
    c.srcPitch = 16, c.WidthInBytes = 0;
    A(cuMemcpy2D_v2(&c));
    c.WidthInBytes = 8, c.Height = 0;
    A(cuMemcpy2D_v2(&c));
    c.Height = 4, c.srcMemoryType = 0;
    A(cuMemcpy2D_v2(&c));
    c.srcMemoryType = 5;
    A(cuMemcpy2D_v2(&c));
    c.srcMemoryType = 4, c.srcDevice = h;
    A(cuMemcpy2D_v2(&c));
    c.srcMemoryType = 2;
    A(cuMemcpy2D_v2(&c));
    c.srcMemoryType = 3;
    A(cuMemcpy2D_v2(&c));
    c.srcMemoryType = 1, c.srcHost = NULL;
    A(cuMemcpy2D_v2(&c));
    c.srcHost = host, c.srcXInBytes = 12;
    A(cuMemcpy2D_v2(&c));
    c.srcXInBytes = 8;
    A(cuMemcpy2D_v2(&c));
    c.dstY = 10000;
    A(cuMemcpy2DUnaligned_v2(&c));
    CUDA_MEMCPY3D b = {.srcMemoryType = 1,
                       .srcHost = host,
                       .srcPitch = 16,
                       .srcHeight = 4,
                       .dstMemoryType = 2,
                       .dstDevice = d,
                       .dstPitch = 16,
                       .dstHeight = 4,
                       .WidthInBytes = 8,
                       .Height = 4,
                       .Depth = 2};
    A(cuMemcpy3D_v2(&b));
    b.srcHeight = 2;
    A(cuMemcpy3D_v2(&b));
    b.srcHeight = 0;
    A(cuMemcpy3D_v2(&b));
    b.srcHeight = 4, b.srcLOD = 1;
    A(cuMemcpy3D_v2(&b));
    b.srcLOD = 0, b.Depth = 0;
    A(cuMemcpy3D_v2(&b));
    b.Depth = 1000;
    A(cuMemcpy3D_v2(&b));
}

SECTION(streams) {
    CUstream t;
    CUcontext c;
    unsigned flags;
    int n;
    unsigned long long id;
    float ms;
    CUevent ev;
    CUstreamCaptureStatus status;
    CUgraph g;
    begin();
    A(cuStreamCreate(NULL, 0));
    A(cuStreamCreate(&t, 2));
    A(cuStreamCreate(&t, 1));
    A(cuStreamGetFlags(t, &flags));
    VALUE(flags);
    A(cuStreamGetFlags(NULL, &flags));
    VALUE(flags);
    A(cuStreamGetFlags(t, NULL));
    A(cuStreamCreateWithPriority(&t, 0, -99));
    A(cuStreamGetPriority(t, &n));
    VALUE(n);
    A(cuStreamGetPriority(t, NULL));
    A(cuStreamGetCtx(t, &c));
    VALUE(c == ctx);
    A(cuStreamGetCtx(NULL, &c));
    VALUE(c == ctx);
    A(cuStreamGetCtx(t, NULL));
    A(cuStreamGetId(t, &id));
    A(cuStreamGetDevice(t, &n));
    VALUE(n);
    A(cuStreamQuery(NULL));
    A(cuStreamQuery((CUstream)1));
    A(cuStreamQuery((CUstream)2));
    A(cuStreamSynchronize(NULL));
    A(cuStreamDestroy_v2(NULL));
    A(cuStreamDestroy_v2((CUstream)1));
    A(cuStreamWaitEvent(s, e1, 0));
    A(cuStreamWaitEvent(s, e1, 7));
    A(cuStreamWaitEvent(s, NULL, 0));
    A(cuEventCreate(NULL, 0));
    A(cuEventCreate(&ev, 8));
    A(cuEventCreate(&ev, 4));
    A(cuEventCreate(&ev, 6));
    A(cuEventQuery(e1));
    A(cuEventSynchronize(e1));
    A(cuEventElapsedTime(&ms, e1, e2));
    A(cuEventRecord(e1, s));
    A(cuEventRecord(NULL, s));
    A(cuEventElapsedTime(&ms, e1, e2));
    A(cuEventRecordWithFlags(e2, s, 0));
    A(cuEventRecordWithFlags(e2, s, 1));
    A(cuEventRecordWithFlags(e2, s, 2));
    A(cuStreamSynchronize(s));
    A(cuEventElapsedTime(&ms, e1, e2));
    A(cuEventElapsedTime(NULL, e1, e2));
    A(cuEventRecord(ent, s));
    A(cuEventSynchronize(ent));
    A(cuEventElapsedTime(&ms, e1, ent));
    A(cuEventDestroy_v2(NULL));
    A(cuStreamWriteValue32_v2(s, d, 5, 0));
    A(cuStreamWriteValue32_v2(s, d + 1, 5, 0));
    A(cuStreamWriteValue32_v2(s, 0x1234, 5, 0));
    A(cuStreamWriteValue64_v2(s, d, 5, 0));
    A(cuStreamWriteValue32_v2(s, d, 5, 16));
    A(cuStreamWaitValue32_v2(s, d, 5, 1));
    A(cuStreamWaitValue32_v2(s, d, 4, 0));
    A(cuStreamWaitValue32_v2(s, d, 5, 9));
    A(cuStreamSynchronize(s));
    A(cuStreamBeginCapture_v2(NULL, (CUstreamCaptureMode)0));
    A(cuStreamBeginCapture_v2(s, (CUstreamCaptureMode)9));
    A(cuStreamBeginCapture_v2(s, (CUstreamCaptureMode)0));
    A(cuStreamIsCapturing(s, &status));
    VALUE(status);
    A(cuStreamQuery(s));
    A(cuStreamEndCapture(s, &g));
    A(cuStreamEndCapture(s, &g));
    A(cuStreamBeginCapture_v2(s, (CUstreamCaptureMode)0));
    A(cuMemAlloc_v2(&d, 10));
    A(cuStreamEndCapture(s, &g));
    A(cuStreamBeginCapture_v2(s, (CUstreamCaptureMode)2));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    A(cuStreamEndCapture(s, &g));
    CUgraphExec x;
    size_t count;
    A(cuGraphGetNodes(g, NULL, &count));
    VALUE(count);
    A(cuGraphInstantiateWithFlags(&x, g, 0));
    A(cuGraphInstantiateWithFlags(&x, g, 1000));
    A(cuGraphLaunch(x, s));
    A(cuGraphDestroy(g));
    A(cuGraphLaunch(x, s));
    A(cuGraphExecDestroy(x));
    CUstreamCaptureMode mode = (CUstreamCaptureMode)2;
    A(cuThreadExchangeStreamCaptureMode(&mode));
    VALUE(mode);
}

SECTION(graphs) {
    CUdeviceptr other;
    CUgraph g, h;
    CUgraphNode n[4], m;
    CUgraphNodeType type;
    size_t count;
    begin();
    unsigned one = 1;
    other = d + 512;
    void *args[] = {&other, &one};
    CUDA_KERNEL_NODE_PARAMS k = {.func = put,
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 1,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = args};
    A(cuGraphCreate(&g, 0));
    A(cuGraphCreate(&h, 1));
    A(cuGraphCreate(NULL, 0));
    A(cuGraphAddKernelNode_v2(&n[0], g, NULL, 0, &k));
    A(cuGraphAddKernelNode_v2(&n[1], g, n, 1, &k));
    A(cuGraphAddKernelNode_v2(&n[2], g, NULL, 1, &k));
    A(cuGraphAddKernelNode_v2(&n[2], g, NULL, 0, NULL));
    A(cuGraphAddKernelNode_v2(NULL, g, NULL, 0, &k));
    A(cuGraphAddKernelNode_v2(&n[2], NULL, NULL, 0, &k));
    k.func = NULL;
    A(cuGraphAddKernelNode_v2(&n[2], g, NULL, 0, &k));
    k.func = put, k.blockDimX = 0;
    A(cuGraphAddKernelNode_v2(&n[2], g, NULL, 0, &k));
    CUDA_MEMSET_NODE_PARAMS f = {.dst = d, .value = 3, .elementSize = 4, .width = 4, .height = 1};
    A(cuGraphAddMemsetNode(&n[2], g, n, 1, &f, ctx));
    f.elementSize = 3;
    A(cuGraphAddMemsetNode(&n[3], g, n, 1, &f, ctx));
    CUDA_MEMCPY3D b = {.srcMemoryType = 2,
                       .srcDevice = d,
                       .dstMemoryType = 1,
                       .dstHost = host,
                       .WidthInBytes = 16,
                       .Height = 1,
                       .Depth = 1};
    A(cuGraphAddMemcpyNode(&n[3], g, &n[2], 1, &b, ctx));
    A(cuGraphNodeGetType(n[3], &type));
    VALUE(type);
    A(cuGraphMemcpyNodeGetParams(n[3], &b));
    VALUE(b.srcMemoryType);
    VALUE(b.WidthInBytes);
    A(cuGraphGetEdges(g, NULL, NULL, &count));
    VALUE(count);
    A(cuGraphKernelNodeGetParams_v2(n[0], &k));
    VALUE(k.func == put);
    VALUE(k.gridDimX);
    A(cuGraphKernelNodeGetParams_v2(n[2], &k));
    A(cuGraphAddDependencies(g, &n[0], &n[0], 1));
    A(cuGraphAddDependencies(g, &n[1], &n[0], 1));
    A(cuGraphNodeFindInClone(&m, n[0], g));
    CUgraphExec x;
    A(cuGraphInstantiateWithFlags(&x, g, 0));
    A(cuGraphRemoveDependencies(g, &n[1], &n[0], 1));
    A(cuGraphInstantiateWithFlags(&x, g, 0));
    A(cuGraphLaunch(x, NULL));
    A(cuStreamSynchronize(NULL));
    VALUE(host[0]);
    A(cuGraphDestroyNode(n[1]));
    A(cuGraphExecDestroy(x));
    A(cuGraphDestroy(g));
}

SECTION(arrays) {
    CUarray a = NULL;
    CUmipmappedArray mip;
    CUDA_ARRAY_DESCRIPTOR q = {.Width = 16, .Height = 8, .Format = 0x20, .NumChannels = 1};
    CUDA_ARRAY3D_DESCRIPTOR w = {.Width = 16, .Height = 8, .Depth = 4, .Format = 0x20, .NumChannels = 1};
    begin();
    A(cuArrayCreate_v2(&a, &q));
    A(cuArrayGetDescriptor_v2(&q, a));
    VALUE(q.Width);
    VALUE(q.Format);
    A(cuArray3DGetDescriptor_v2(&w, a));
    VALUE(w.Depth);
    VALUE(w.Flags);
    A(cuArrayDestroy(a));
    A(cuArrayDestroy(NULL));
    q.NumChannels = 3;
    A(cuArrayCreate_v2(&a, &q));
    q.NumChannels = 1, q.Format = 0x77;
    A(cuArrayCreate_v2(&a, &q));
    q.Format = 0x20, q.Width = 0;
    A(cuArrayCreate_v2(&a, &q));
    q.Width = 1 << 20;
    A(cuArrayCreate_v2(&a, &q));
    q.Width = 16, q.Height = 0;
    A(cuArrayCreate_v2(&a, &q));
    A(cuArrayCreate_v2(NULL, &q));
    A(cuArrayCreate_v2(&a, NULL));
    w = (CUDA_ARRAY3D_DESCRIPTOR){.Width = 16, .Height = 8, .Depth = 4, .Format = 0x20, .NumChannels = 1};
    A(cuArray3DCreate_v2(&a, &w));
    A(cuMemcpyHtoA_v2(a, 0, host, 64));
    A(cuMemcpyHtoA_v2(a, 0, host, 65));
    A(cuMemcpyHtoA_v2(a, 32, host, 32));
    A(cuMemcpyHtoA_v2(a, 32, host, 64));
    A(cuMemcpyAtoH_v2(host, a, 0, 64));
    A(cuMemcpyAtoD_v2(d, a, 0, 64));
    A(cuMemcpyDtoA_v2(a, 0, d, 64));
    A(cuMemcpyAtoA_v2(a, 0, a, 32, 32));
    w.Flags = 4;
    A(cuArray3DCreate_v2(&a, &w));
    w.Flags = 1, w.Depth = 0;
    A(cuArray3DCreate_v2(&a, &w));
    w.Flags = 0x8000;
    A(cuArray3DCreate_v2(&a, &w));
    w.Flags = 0, w.Depth = 4;
    A(cuMipmappedArrayCreate(&mip, &w, 3));
    A(cuMipmappedArrayGetLevel(&a, mip, 2));
    A(cuMipmappedArrayGetLevel(&a, mip, 3));
    A(cuMipmappedArrayDestroy(mip));
    A(cuMipmappedArrayCreate(&mip, &w, 0));
    A(cuMipmappedArrayCreate(&mip, &w, 99));
    q = (CUDA_ARRAY_DESCRIPTOR){.Width = 16, .Height = 8, .Format = 1, .NumChannels = 1};
    A(cuArrayCreate_v2(&a, &q));
    CUDA_RESOURCE_DESC r = {.resType = 0};
    r.res.array.hArray = a;
    CUDA_TEXTURE_DESC t = {0}, back;
    CUtexObject x;
    CUsurfObject sf;
    A(cuTexObjectCreate(&x, &r, &t, NULL));
    A(cuTexObjectGetTextureDesc(&back, x));
    VALUE(back.flags);
    A(cuTexObjectGetResourceDesc(&r, x));
    VALUE(r.res.array.hArray == a);
    A(cuTexObjectDestroy(x));
    A(cuTexObjectCreate(NULL, &r, &t, NULL));
    A(cuTexObjectCreate(&x, NULL, &t, NULL));
    A(cuTexObjectCreate(&x, &r, NULL, NULL));
    t.flags = 1, t.filterMode = 1;
    A(cuTexObjectCreate(&x, &r, &t, NULL));
    t.flags = 0x80;
    A(cuTexObjectCreate(&x, &r, &t, NULL));
    t.flags = 0, t.filterMode = 0, t.addressMode[0] = 9;
    A(cuTexObjectCreate(&x, &r, &t, NULL));
    t.addressMode[0] = 0;
    r.resType = 9;
    A(cuTexObjectCreate(&x, &r, &t, NULL));
    r = (CUDA_RESOURCE_DESC){.resType = 2};
    r.res.linear.devPtr = d, r.res.linear.format = 0x20, r.res.linear.numChannels = 1, r.res.linear.sizeInBytes = 1000;
    A(cuTexObjectCreate(&x, &r, &t, NULL));
    r.res.linear.devPtr = d + 4;
    A(cuTexObjectCreate(&x, &r, &t, NULL));
    r.res.linear.devPtr = 0;
    A(cuTexObjectCreate(&x, &r, &t, NULL));
    A(cuSurfObjectCreate(&sf, &r));
    A(cuTexObjectDestroy(0));
    A(cuTexObjectDestroy(12345));
}

SECTION(pools) {
    CUmemoryPool p = NULL, q;
    CUmemPoolProps props = {.allocType = 1, .location = {.type = 1, .id = 0}};
    unsigned long long v = 1;
    CUdeviceptr a = 0;
    begin();
    A(cuMemPoolCreate(&p, &props));
    A(cuMemPoolCreate(NULL, &props));
    A(cuMemPoolCreate(&q, NULL));
    props.location.id = 99;
    A(cuMemPoolCreate(&q, &props));
    props.location.id = 0, props.allocType = 0;
    A(cuMemPoolCreate(&q, &props));
    A(cuMemAllocFromPoolAsync(&a, 100, p, s));
    A(cuMemFreeAsync(a, s));
    A(cuMemAllocAsync(&a, 0, s));
    A(cuMemAllocAsync(NULL, 10, s));
    A(cuMemAllocAsync(&a, 100, s));
    A(cuMemFree_v2(a));
    A(cuMemFreeAsync(0, s));
    A(cuMemFreeAsync(0x1234, s));
    A(cuMemPoolSetAttribute(p, (CUmemPool_attribute)4, &v));
    A(cuMemPoolSetAttribute(p, (CUmemPool_attribute)5, &v));
    A(cuMemPoolGetAttribute(p, (CUmemPool_attribute)4, &v));
    VALUE(v);
    A(cuMemPoolGetAttribute(p, (CUmemPool_attribute)99, &v));
    A(cuMemPoolTrimTo(p, 0));
    A(cuDeviceGetDefaultMemPool(&q, 0));
    A(cuDeviceGetDefaultMemPool(&q, 99));
    A(cuMemPoolDestroy(q));
    A(cuDeviceSetMemPool(0, p));
    A(cuMemPoolDestroy(p));
}

SECTION(virtual_memory) {
    CUdeviceptr p = 0, q = 0;
    CUmemGenericAllocationHandle h = 0, k = 0;
    CUmemAllocationProp prop = {.type = 1, .location = {.type = 1, .id = 0}}, got;
    CUmemAccessDesc access = {.location = {.type = 1, .id = 0}, .flags = 3};
    size_t least = 0, best = 0;
    begin();
    A(cuMemGetAllocationGranularity(&least, &prop, (CUmemAllocationGranularity_flags)0));
    VALUE(least);
    A(cuMemGetAllocationGranularity(&best, &prop, (CUmemAllocationGranularity_flags)1));
    VALUE(best);
    A(cuMemGetAllocationGranularity(NULL, &prop, (CUmemAllocationGranularity_flags)0));
    A(cuMemGetAllocationGranularity(&best, NULL, (CUmemAllocationGranularity_flags)0));
    A(cuMemGetAllocationGranularity(&best, &prop, (CUmemAllocationGranularity_flags)2));
    least = 2 << 20;
    A(cuMemAddressReserve(&p, 4 * least, 0, 0, 0));
    A(cuMemAddressReserve(&q, 1000, 0, 0, 0));
    A(cuMemAddressReserve(&q, 0, 0, 0, 0));
    A(cuMemAddressReserve(NULL, least, 0, 0, 0));
    A(cuMemAddressReserve(&q, least, 3, 0, 0));
    A(cuMemAddressReserve(&q, least, 0, 0, 1));
    A(cuMemAddressReserve(&q, least, 8 * least, 0, 0));
    VALUE(q % (8 * least) == 0);
    A(cuMemAddressFree(q, least));
    A(cuMemAddressFree(q, least));
    A(cuMemAddressFree(p, least));
    A(cuMemCreate(&h, least, &prop, 0));
    A(cuMemCreate(&k, 1000, &prop, 0));
    A(cuMemCreate(&k, 0, &prop, 0));
    A(cuMemCreate(&k, least, &prop, 1));
    A(cuMemCreate(&k, (size_t)1 << 50, &prop, 0));
    A(cuMemCreate(&k, least, NULL, 0));
    prop.location.id = 99;
    A(cuMemCreate(&k, least, &prop, 0));
    prop.location.id = 0, prop.type = 0;
    A(cuMemCreate(&k, least, &prop, 0));
    prop.type = 1;
    A(cuMemCreate(&k, least, &prop, 0));
    A(cuMemGetAllocationPropertiesFromHandle(&got, h));
    VALUE(got.type);
    VALUE(got.location.type);
    A(cuMemSetAccess(p, least, &access, 1));
    A(cuMemMap(p, least, 0, h, 0));
    A(cuMemMap(p, least, 0, k, 0));
    A(cuMemMap(p + least, least, 0, k, 1));
    A(cuMemMap(p + least, least, least, k, 0));
    A(cuMemMap(p + least, 2 * least, 0, k, 0));
    A(cuMemMap(p + 4096, least, 0, k, 0));
    A(cuMemMap(0x1000000, least, 0, k, 0));
    A(cuMemMap(p + least, least, 0, k, 0));
    A(cuMemcpyHtoD_v2(p, host, 100));
    A(cuMemSetAccess(p, 3 * least, &access, 1));
    A(cuMemSetAccess(p, 1000, &access, 1));
    A(cuMemSetAccess(p, 2 * least, NULL, 1));
    A(cuMemSetAccess(p, 2 * least, &access, 0));
    A(cuMemSetAccess(p, 2 * least, &access, 1));
    A(cuMemsetD8_v2(p, 5, 2 * least));
    A(cuMemcpyDtoH_v2(host, p + least - 50, 100));
    VALUE(host[99]);
    unsigned long long flags = 9;
    A(cuMemGetAccess(&flags, &access.location, p));
    VALUE(flags);
    A(cuMemGetAccess(&flags, &access.location, p + 3 * least));
    A(cuMemRetainAllocationHandle(&k, (void *)(size_t)(p + 100)));
    VALUE(k == h);
    A(cuMemRelease(k));
    A(cuMemRetainAllocationHandle(&k, host));
    A(cuMemGetAddressRange_v2(&q, &best, p + least));
    VALUE(q == p);
    VALUE(best);
    A(cuMemFree_v2(p));
    A(cuMemAddressFree(p, 4 * least));
    A(cuMemRelease(h));
    A(cuMemcpyDtoH_v2(host, p, 100));
    A(cuMemUnmap(p, 1000));
    A(cuMemUnmap(p, least));
    A(cuMemUnmap(p, least));
    A(cuMemcpyDtoH_v2(host, p, 100));
    A(cuMemUnmap(p, 2 * least));
    A(cuMemUnmap(p + least, least));
    A(cuMemAddressFree(p, 4 * least));
}
SECTION(released_twice) {
    CUmemGenericAllocationHandle h = 0;
    CUmemAllocationProp prop = {.type = 1, .location = {.type = 1, .id = 0}};
    begin();
    A(cuMemCreate(&h, 2 << 20, &prop, 0));
    A(cuMemRelease(h));
    A(cuMemRelease(h));
}

SECTION(others) {
    CUuuid id = {{0}};
    const void *table;
    size_t bytes;
    begin();
    A(cuGetExportTable(&table, &id));
    A(cuGetExportTable(NULL, &id));
    A(cuProfilerStart());
    A(cuProfilerStop());
    A(cuCtxEnablePeerAccess(ctx, 0));
    A(cuCtxEnablePeerAccess(ctx, 1));
    A(cuCtxDisablePeerAccess(ctx));
    A(cuMemcpyHtoD_v2(d, host, 4));
    A(cuMemGetInfo_v2(&bytes, &bytes));
}

// These crash NVIDIA's driver.
SECTION(null_name) { A(cuGetErrorName((CUresult)0, NULL)); }
SECTION(null_symbol) {
    void *p;
    CUdriverProcAddressQueryResult q;
    cuInit(0);
    A(cuGetProcAddress_v2(NULL, &p, 12000, 0, &q));
}
SECTION(no_room) {
    char text[4];
    cuInit(0);
    A(cuDeviceGetName(text, 0, 0));
}
SECTION(null_text) {
    cuInit(0);
    A(cuDeviceGetName(NULL, 10, 0));
}
SECTION(null_mode) {
    cuInit(0);
    A(cuModuleGetLoadingMode(NULL));
}
SECTION(null_capture_mode) {
    begin();
    A(cuThreadExchangeStreamCaptureMode(NULL));
}
SECTION(null_pci) {
    int v;
    cuInit(0);
    A(cuDeviceGetByPCIBusId(&v, NULL));
}

// A context is not needed for everything.
SECTION(without_context) {
    CUcontext c;
    CUgraph g;
    int n;
    begin();
    CUDA_KERNEL_NODE_PARAMS k = {
        .func = none, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    CUgraphNode node;
    CUgraphExec x;
    A(cuCtxPopCurrent_v2(&c));
    A(cuStreamQuery(s));
    A(cuStreamSynchronize(s));
    A(cuEventRecord(e1, s));
    A(cuEventQuery(e1));
    A(cuMemcpyHtoD_v2(d, host, 4));
    A(cuMemcpyHtoDAsync_v2(d, host, 4, s));
    A(cuMemsetD8_v2(d, 0, 4));
    A(cuPointerGetAttribute(&n, (CUpointer_attribute)9, d));
    A(cuMemHostUnregister(host));
    A(cuFuncGetAttribute(&n, (CUfunction_attribute)0, none));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    A(cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    A(cuGraphCreate(&g, 0));
    A(cuGraphAddKernelNode_v2(&node, g, NULL, 0, &k));
    k.ctx = ctx;
    A(cuGraphAddKernelNode_v2(&node, g, NULL, 0, &k));
    A(cuGraphInstantiateWithFlags(&x, g, 0));
    A(cuGraphDestroy(g));
    A(cuStreamDestroy_v2(s));
    A(cuEventDestroy_v2(e1));
    A(cuMemFreeHost(pin));
    A(cuModuleUnload(module));
    A(cuMemFree_v2(d));
    A(cuMemGetInfo_v2(NULL, NULL));
    A(cuCtxGetLimit(NULL, (CUlimit)0));
    A(cuProfilerStart());
    A(cuTensorMapReplaceAddress(NULL, NULL));
}

SECTION(without_graphs_context) {
    CUgraph g;
    cuInit(0);
    A(cuGraphCreate(&g, 0));
    A(cuGraphDestroy(g));
}

SECTION(tensor_maps) {
    static _Alignas(128) CUtensorMap map;
    unsigned long long dims[] = {64, 64}, strides[] = {256};
    unsigned box[] = {32, 32}, steps[] = {1, 1};
    begin();
    A(cuTensorMapEncodeTiled(&map, 7, 2, (void *)(size_t)man, dims, strides, box, steps, 0, 0, 0, 0));
    A(cuTensorMapEncodeTiled(NULL, 7, 2, (void *)(size_t)man, dims, strides, box, steps, 0, 0, 0, 0));
    A(cuTensorMapEncodeTiled(&map, 77, 2, (void *)(size_t)man, dims, strides, box, steps, 0, 0, 0, 0));
    A(cuTensorMapEncodeTiled(&map, 7, 0, (void *)(size_t)man, dims, strides, box, steps, 0, 0, 0, 0));
    A(cuTensorMapEncodeTiled(&map, 7, 6, (void *)(size_t)man, dims, strides, box, steps, 0, 0, 0, 0));
    A(cuTensorMapEncodeTiled(&map, 7, 2, (void *)(size_t)(man + 4), dims, strides, box, steps, 0, 0, 0, 0));
    A(cuTensorMapEncodeTiled(&map, 7, 2, NULL, dims, strides, box, steps, 0, 0, 0, 0));
    A(cuTensorMapEncodeTiled(&map, 7, 2, (void *)(size_t)man, dims, strides, box, steps, 9, 0, 0, 0));
    A(cuTensorMapReplaceAddress(&map, (void *)(size_t)(man + 1024)));
    A(cuTensorMapReplaceAddress(&map, (void *)(size_t)(man + 4)));
}

// One at a time, since what is set stays.
SECTION(shared_carveout) {
    size_t shared;
    int blocks;
    begin();
    A(cuFuncSetAttribute(put, (CUfunction_attribute)9, 50));
    A(cuOccupancyAvailableDynamicSMemPerBlock(&shared, put, 2, 128));
    A(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, put, 128, 0));
    VALUE(blocks);
}

SECTION(bad_stream) {
    begin();
    A(cuStreamQuery((CUstream)host));
}
SECTION(bad_event) {
    begin();
    A(cuEventQuery((CUevent)host));
}
SECTION(bad_function) {
    begin();
    A(cuLaunchKernel((CUfunction)host, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}
SECTION(bad_module) {
    CUfunction f;
    begin();
    A(cuModuleGetFunction(&f, (CUmodule)host, "put"));
}
SECTION(bad_context) {
    begin();
    A(cuCtxSetCurrent((CUcontext)host));
}
SECTION(bad_graph) {
    size_t n;
    begin();
    A(cuGraphGetNodes((CUgraph)host, NULL, &n));
}
SECTION(bad_array) {
    CUDA_ARRAY_DESCRIPTOR q;
    begin();
    A(cuArrayGetDescriptor_v2(&q, (CUarray)host));
}

int main(int argc, char **argv) {
    for (unsigned i = 0; i < section_count; i++)
        if (argc < 2 || strcmp(argv[1], sections[i].name) == 0) run_section(&sections[i]);
    return 0;
}
