#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A large valid PTX file on stdout: the functions of FILE.ptx COPIES times, each copy under new names, and once what
# follows them (the names of the source files, debug strings).   big_ptx.sh FILE.ptx COPIES
set -eu
awk -v copies="$2" '
function is_head(line) { return line ~ /^(\.version|\.target|\.address_size|\/\/|$)/ }
FNR == 1 { part = "head" }
part == "head" && !is_head($0) { part = "body" }
part == "body" && /^[ \t]*\.(file|section)[ \t]/ { part = "tail" }
part == "head" { print }
part == "body" { body[++lines] = $0 }
part == "tail" { tail = tail $0 "\n" }
END {
    for (c = 1; c <= copies; c++)
        for (i = 1; i <= lines; i++) {
            line = body[i]
            gsub(/_Z[A-Za-z0-9_]+/, "&_copy" c, line)
            print line
        }
    printf "%s", tail
}' "$1"
