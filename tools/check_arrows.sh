#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a file of src/ includes a module that deps.txt does not let its module reach (arrows are transitive).
# Tests beside the code may include any module. include/ is public: it includes only itself.
set -eu
cd "$(dirname "$0")/.."

{
    sed -n 's/^\([a-z]*\):/dep \1 /p' deps.txt
    find src -mindepth 1 -maxdepth 1 -type d -printf 'folder %f\n'
    grep -rnE --include='*.[ch]' --include='*.def' --exclude='*_test.c' '^[ \t]*#[ \t]*include[ \t]+"' src include || true
} | awk '
function allowed(from, to) { return from == to || to == "base" || (from, to) in arrow || all[from] }
$1 == "dep" {
    known[$2] = 1
    for (i = 3; i <= NF; i++) { if ($i == "everything") all[$2] = 1; else arrow[$2, $i] = 1 }
    next
}
$1 == "folder" {
    if (!($2 in known)) { printf "src/%s: deps.txt has no line for this module\n", $2; failed = 1 }
    next
}
!closed {
    closed = 1
    for (mid in known) for (from in known) for (to in known)
        if ((from, mid) in arrow && (mid, to) in arrow) arrow[from, to] = 1
}
{
    split($0, part, ":")
    split(part[1], path, "/")
    match($0, /include[ \t]+"[^"]*"/)
    target = substr($0, RSTART, RLENGTH); sub(/^[^"]*"/, "", target); sub(/"$/, "", target)
    if (target !~ /\//) next  # a file of the same folder
    to = target; sub(/\/.*/, "", to)
    if (path[1] == "include") {
        if (to != "warplens") { printf "%s:%s: public header includes \"%s\"\n", part[1], part[2], target; failed = 1 }
    } else if (to != "embed" && to != "warplens" && !allowed(path[2], to)) {
        printf "%s:%s: forbidden arrow %s -> %s (\"%s\")\n", part[1], part[2], path[2], to, target; failed = 1
    }
}
END { exit failed }'
