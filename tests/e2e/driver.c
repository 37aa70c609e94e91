// SPDX-License-Identifier: Apache-2.0
// A program of the driver API, made without CUDA headers: driver WAY, where WAY is how it reaches libcuda.
//   linked                     by DT_NEEDED (built with -DLINKED)
//   libcuda.so.1, libcuda.so   by dlopen and dlsym
//   proc                       by cuGetProcAddress, found by dlsym
//   child                      in a child process, after a fork
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry twice(.param .u64 p)\n{\n"
                          ".reg .b32 %r<4>;\n.reg .b64 %d<4>;\nld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\n"
                          "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d3, %d1, %d2;\nld.global.u32 %r2, [%d3];\n"
                          "add.u32 %r3, %r2, %r2;\nst.global.u32 [%d3], %r3;\nret;\n}\n";

typedef int Function();  // of any arguments: all are integers and pointers here

#ifdef LINKED
int cuInit(), cuCtxCreate_v2(), cuModuleLoadData(), cuModuleGetFunction(), cuMemAlloc_v2(), cuMemcpyHtoD_v2(),
    cuMemcpyDtoH_v2(), cuLaunchKernel(), cuCtxDestroy_v2();
static Function *const linked[] = {cuInit,         cuCtxCreate_v2,  cuModuleLoadData, cuModuleGetFunction,
                                   cuMemAlloc_v2,  cuMemcpyHtoD_v2, cuMemcpyDtoH_v2,  cuLaunchKernel,
                                   cuCtxDestroy_v2};
#else
static Function *const linked[9];
#endif
static const char *const names[] = {"cuInit",      "cuCtxCreate",  "cuModuleLoadData", "cuModuleGetFunction",
                                    "cuMemAlloc",  "cuMemcpyHtoD", "cuMemcpyDtoH",     "cuLaunchKernel",
                                    "cuCtxDestroy"};
static const char *const symbols[] = {"cuInit",         "cuCtxCreate_v2",  "cuModuleLoadData", "cuModuleGetFunction",
                                      "cuMemAlloc_v2",  "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",  "cuLaunchKernel",
                                      "cuCtxDestroy_v2"};
static Function *f[9];

static int find(const char *way) {
    if (strcmp(way, "linked") == 0) {
        memcpy(f, linked, sizeof f);
        return f[0] != NULL;
    }
    void *library = dlopen(strcmp(way, "libcuda.so") == 0 ? way : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    Function *get = library ? (Function *)dlsym(library, "cuGetProcAddress_v2") : NULL;
    for (int i = 0; i < 9 && library; i++) {
        if (strcmp(way, "proc") != 0)
            f[i] = (Function *)dlsym(library, symbols[i]);
        else if (!get || get(names[i], &f[i], 12000, (uint64_t)0, NULL) != 0)
            return 0;
        if (!f[i]) return 0;
    }
    return library != NULL;
}

static int work(void) {
    void *context, *module, *function;
    uint64_t device = 0;
    unsigned words[4] = {1, 2, 3, 4};
    void *args[] = {&device};
    int error = f[0](0);
    if (!error) error = f[1](&context, 0, 0);
    if (!error) error = f[2](&module, ptx);
    if (!error) error = f[3](&function, module, "twice");
    if (!error) error = f[4](&device, sizeof words);
    if (!error) error = f[5](device, words, sizeof words);
    if (!error) error = f[7](function, 1, 1, 1, 4, 1, 1, 0, NULL, args, NULL);
    if (!error) error = f[6](words, device, sizeof words);
    if (!error) error = f[8](context);
    printf("error %d words %u %u %u %u\n", error, words[0], words[1], words[2], words[3]);
    fflush(stdout);
    return error != 0;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "linked";
    int status = 1;
    if (strcmp(way, "child") != 0) return find(way) ? work() : (puts("no libcuda"), 2);
    pid_t child = fork();
    if (child == 0) _exit(find("libcuda.so.1") ? work() : 2);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
