#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a C file is not formatted by .clang-format (`make format` does it).
set -eu
cd "$(dirname "$0")/.."
find src include lib tests bench \( -name '*.c' -o -name '*.h' \) -print0 2>/dev/null |
    xargs -0 -r -P 2 -n 40 clang-format --dry-run -Werror
