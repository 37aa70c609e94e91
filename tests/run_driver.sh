#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs of the driver API, each way that they reach libcuda, under `warplens run`.
. tests/e2e/lib.sh
[ "$(uname -m)" = x86_64 ] || skip "programs run on x86-64 only"
need "${CC:-cc}"
build() { "${CC:-cc}" -O1 -Wall -Wno-strict-prototypes -std=gnu17 tests/e2e/driver.c -o "$@" || exit 1; }
build "$T/opened" -ldl
# What programs are linked with where there is no driver: a library of its name whose functions do nothing.
mkdir "$T/stubs"
for name in cuInit cuCtxCreate_v2 cuModuleLoadData cuModuleGetFunction cuMemAlloc_v2 cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 \
    cuLaunchKernel cuCtxDestroy_v2; do echo "int $name(void) { return 34; }"; done |
    "${CC:-cc}" -Wno-missing-prototypes -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$T/stubs/libcuda.so" -x c - || exit 1
build "$T/linked" -DLINKED -L"$T/stubs" -lcuda
wanted="error 0 words 2 4 6 8"

# Without the simulator there is no driver here, or NVIDIA's own: nothing to check.
for way in libcuda.so.1 libcuda.so proc child; do
    same "$way" "$("$W" run -q -f -o "$T/$way.wlp" "$T/opened" $way 2>&1)" "$wanted"
    "$W" report "$T/$way.wlp" 2>&1 | grep -q twice || fail "$way: the kernel is not in the profile"
    checks=$((checks + 1))
done
same "linked" "$("$W" run -q -o "$T/linked.wlp" "$T/linked" linked 2>&1)" "$wanted"
same "needs libcuda.so.1" "$(readelf -d "$T/linked" 2>/dev/null | grep -c 'NEEDED.*libcuda.so.1')" 1

# Started by a program without CUDA; two processes, two profiles.
same "through a shell" "$("$W" run -q -o "$T/shell.wlp" bash -c "$T/linked; $T/opened proc" 2>&1)" "$wanted"$'\n'"$wanted"
same "profiles" "$(ls "$T" | grep -c '^shell.*wlp$')" 2

# The same libraries without the command.
same "preloaded" "$(WARPLENS_PROGRESS=0 LD_PRELOAD=$BUILD/lib/libcuda.so.1 "$T/opened" libcuda.so.1 2>&1)" "$wanted"
same "on the library path" "$(WARPLENS_PROGRESS=0 LD_LIBRARY_PATH=$BUILD/lib "$T/opened" libcuda.so 2>&1)" "$wanted"

# A runtime inside a program that cannot begin closes the driver's library, and then asks it what its error is called.
cat >"$T/closes.c" <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*text)(int, const char **) = (int (*)(int, const char **))dlsym(driver, "cuGetErrorName");
    const char *name = "";
    dlclose(driver);
    text(1, &name);
    puts(name);
}
EOF
"${CC:-cc}" "$T/closes.c" -o "$T/closes" -ldl || exit 1
same "closed and called" "$(LD_LIBRARY_PATH=$BUILD/lib "$T/closes" 2>&1)" CUDA_ERROR_INVALID_VALUE

# Libraries with a CUDA runtime inside and kernels in machine code (cuBLAS, cuRAND) ask for tables that are not there, and
# then give up: the user is told which.
echo 'int cuGetExportTable(const void **, const void *); int ask(void) { const void *t; return cuGetExportTable(&t, "0123456789abcdef"); }' |
    "${CC:-cc}" -Wno-missing-prototypes -shared -fPIC -o "$T/libasks.so" -x c - || exit 1
echo 'int ask(void); int main(void) { ask(); return ask(); }' | "${CC:-cc}" -Wno-missing-prototypes -o "$T/asks" -x c - -L"$T" -lasks \
    -Wl,-rpath,"$T",--allow-shlib-undefined || exit 1
"$W" run -o "$T/asks.wlp" "$T/asks" >"$T/out" 2>"$T/err"
same "a library that cannot be simulated" "$? $(grep -c 'libasks.so cannot be simulated' "$T/err")" "1 1"

# doctor knows them.
"$W" doctor "$T/linked" >"$T/doctor" 2>&1
same "doctor" $? 0
grep -q 'yes.*can be run here.*driver API' "$T/doctor" || fail "doctor" "$(cat "$T/doctor")"
grep -q 'yes.*libcuda.so.1' "$T/doctor" || fail "doctor: libcuda" "$(cat "$T/doctor")"
finish
