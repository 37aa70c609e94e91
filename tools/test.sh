#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `make test` and CI run: the checks, a warning-free clang build, the unit tests under ASan and UBSan, and last
# the whole suite in the release build, whose closing lines end the output. Long output is shown only on failure.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

quietly() {
    local title=$1 begin=$SECONDS
    shift
    if ! "$@" >"$log" 2>&1; then
        tail -n 200 "$log"
        echo "test: $title: FAILED"
        exit 1
    fi
    echo "test: $title: ok ($((SECONDS - begin)) s)"
}

build() {
    cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs"
}

quietly "arrows between modules" tools/check_arrows.sh
quietly "headers compile alone" tools/check_headers.sh
quietly "format" tools/check_format.sh
quietly "release build" build release
quietly "clang build without warnings" build clang
quietly "ASan and UBSan build" build asan
quietly "unit tests under ASan and UBSan" ctest --test-dir build/asan -L unit -j "$jobs" --output-on-failure --no-tests=error
ctest --test-dir build/release -j "$jobs" --output-on-failure --no-tests=error
