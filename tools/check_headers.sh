#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a header of src/ or include/ does not compile alone.
set -eu
cd "$(dirname "$0")/.."
find src include -name '*.h' -print0 |
    xargs -0 -r -P 2 -n 24 "${CC:-gcc}" -std=c17 -D_GNU_SOURCE -DSIM_ISA=base -DSIM_HAS_V3=1 -Isrc -Iinclude -x c -fsyntax-only
