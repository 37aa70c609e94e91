// SPDX-License-Identifier: Apache-2.0
// Odd calls of the driver API and what they answer, one a line: the call, then the number of the error, or a value.
// Built with -DREAL and -lcuda it asks a real GPU, which is where h200_driver.txt is from:
//     cc -DREAL -I$CUDA_HOME/include tests/cuda/driver_calls.c -lcuda && ./a.out
// Otherwise it is a part of driver_calls_test.c, which asks the simulator. Each section is a process of its own,
// because on a real GPU some end badly.
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

#include "driver_calls_contexts.inc"
#include "driver_calls_memory.inc"
#include "driver_calls_modules.inc"
#include "driver_calls_others.inc"

#ifdef REAL
int main(void) {
    for (unsigned i = 0; i < section_count; i++) run_section(&sections[i]);
    return 0;
}
#endif
