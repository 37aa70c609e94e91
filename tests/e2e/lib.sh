# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the end-to-end tests (tests/*.sh), which run in the source root.
# $W: the command under test; $T: a folder of this test's own, removed at its end.
set -u
BUILD=$(cd "${WARPLENS_BUILD:-build/release}" && pwd) || exit 1
W=$BUILD/bin/warplens
T=$(mktemp -d "${TMPDIR:-/tmp}/warplens-test.XXXXXX")
trap 'chmod -R u+w "$T"; rm -rf "$T"' EXIT
checks=0 failures=0

fail() {
    failures=$((failures + 1))
    echo "FAIL: $1"
    shift
    [ $# = 0 ] || printf '    %s\n' "$@"
}

finish() {
    echo "$checks checks, $failures failed"
    [ $failures = 0 ]
    exit
}

skip() {
    echo "SKIP: $1"
    exit 0
}

need() {
    local tool
    for tool in "$@"; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
}

# same WHAT GOT WANTED
same() {
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "$1" "got      $2" "expected $3"
}

# The unmodified nvcc build of examples/matmul as $T/matmul.
unpack_prebuilt() {
    [ "$(uname -m)" = x86_64 ] || skip "the prebuilt program is for x86-64"
    if command -v xz >/dev/null; then xz -dc examples/prebuilt/matmul.xz
    else
        need python3
        python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open("examples/prebuilt/matmul.xz"), sys.stdout.buffer)'
    fi >"$T/matmul" && chmod +x "$T/matmul"
}

# tests/e2e/launches.c as $T/launches: a program with the CUDA runtime as a shared library, made without nvcc.
build_launches() {
    [ "$(uname -m)" = x86_64 ] || skip "programs run on x86-64 only"
    need "${CC:-cc}"
    "${CC:-cc}" -O1 -Wall tests/e2e/launches.c -o "$T/launches" -L"$BUILD/lib" -l:libcudart.so.13 || exit 1
}
