// SPDX-License-Identifier: Apache-2.0
// The library as programs meet it: opened by name, its functions found by name and version, nothing of ours linked in.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing.h"

// Enough for every function used here: integers and pointers, in registers.
typedef int (*Function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static void *library;

static Function find(const char *name) {
    Function function = (Function)dlvsym(library, name, "libcudart.so.13");
    if (!function) fail_msg("%s is not exported", name);
    return function;
}

static int open_library(void **state) {
    (void)state;
    char path[4096];
    const char *build = getenv("WARPLENS_BUILD");
    setenv("WARPLENS_GPU_DIR", "gpus", 1);
    setenv("WARPLENS_PROGRESS", "0", 1);
    unsetenv("WARPLENS_OUTPUT");
    snprintf(path, sizeof path, "%s/lib/libcudart.so.13", build ? build : "build/dev");
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return 0;
}

// Text that `body` writes to stderr.
static void capture(void (*body)(void), char *text, size_t size) {
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int saved = dup(2);
    dup2(fileno(file), 2);
    body();
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

static int call(const char *name, const void *a, const void *b, uintptr_t c, uintptr_t d) {
    return find(name)((uintptr_t)a, (uintptr_t)b, c, d);
}

TEST(memory_goes_there_and_back) {
    if (!library) skip();
    int words[4] = {1, 2, 3, 4}, back[4] = {0}, count = 0;
    void *device = NULL;
    assert_int_equal(call("cudaGetDeviceCount", &count, NULL, 0, 0), 0);
    assert_int_equal(count, 1);
    assert_int_equal(call("cudaMalloc", &device, (void *)sizeof words, 0, 0), 0);
    assert_int_equal(call("cudaMemcpy", device, words, sizeof words, 1), 0);
    assert_int_equal(call("cudaMemcpy_ptds", back, device, sizeof words, 2), 0);
    assert_memory_equal(words, back, sizeof words);
    assert_int_equal(call("cudaFree", device, NULL, 0, 0), 0);
    assert_int_equal(call("cudaFree", device, NULL, 0, 0), 1);
    assert_int_equal(call("cudaGetLastError", NULL, NULL, 0, 0), 1);
    assert_int_equal(call("cudaGetLastError", NULL, NULL, 0, 0), 0);
}

static void call_twice(void) {
    assert_int_equal(call("cudaGLSetGLDevice", NULL, NULL, 0, 0), 801);
    assert_int_equal(call("cudaGLSetGLDevice", NULL, NULL, 0, 0), 801);
}

TEST(what_is_missing_is_named_once) {
    if (!library) skip();
    char text[1024];
    capture(call_twice, text, sizeof text);
    const char *line = strstr(text, "cudaGLSetGLDevice is not implemented; it returns cudaErrorNotSupported");
    assert_non_null(line);
    assert_null(strstr(line + 1, "cudaGLSetGLDevice"));
    assert_int_equal(call("cudaGetLastError", NULL, NULL, 0, 0), 801);
}

TEST(nothing_else_is_exported) {
    if (!library) skip();
    assert_null(dlsym(library, "cuda_enter"));
    assert_null(dlsym(library, "store_create"));
    assert_null(dlsym(library, "sim_create"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_goes_there_and_back),
        cmocka_unit_test(what_is_missing_is_named_once),
        cmocka_unit_test(nothing_else_is_exported),
    };
    return cmocka_run_group_tests(tests, open_library, NULL);
}
