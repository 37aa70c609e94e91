#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every .ptx below a folder through parse, verify, print, parse again and compare, and gives the printed text to
# ptxas. Prints a table of outcomes and the files that failed; exits 1 when one did.
#   tools/ptx_corpus.sh FOLDER [ROUNDTRIP]     ROUNDTRIP: the ptx_roundtrip program (tests/tools), found in build/ otherwise
#   PTXAS=none leaves ptxas out; files that ptxas refuses as they are count as "ptxas refuses the original".
set -u
folder=${1:?usage: ptx_corpus.sh FOLDER [ROUNDTRIP]}
tool=${2:-$(find "$(dirname "$0")/../build" -name ptx_roundtrip -type f -perm -u+x 2>/dev/null | head -1)}
[ -x "$tool" ] || { echo "ptx_corpus.sh: no ptx_roundtrip program" >&2; exit 2; }
ptxas=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
[ -x "$ptxas" ] || ptxas=none
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

target_of() { sed -n 's/^[[:space:]]*\.target[[:space:]]*\([a-z0-9_]*\).*/\1/p' "$1" | head -1; }

# ptxas knows sm_75 and later; -c: separate compilation, so that undefined functions are no error
assemble() {
    local target
    target=$(target_of "$1")
    [[ ${target#sm_} =~ ^[0-9]+[af]?$ && ${target//[^0-9]/} -ge 75 ]] || target=sm_75
    "$ptxas" -c -O0 -arch="$target" "$1" -o "$work/out.cubin" >"$work/ptxas.txt" 2>&1
}

outcome() {
    "$tool" "$1" "$work/out.ptx" >"$work/tool.txt" 2>&1
    case $? in
    0) ;;
    1) if [ "$ptxas" != none ] && ! assemble "$1"; then echo "both refuse it"; else echo "refused"; fi; return ;;
    3) echo "printed text refused"; return ;;
    4) echo "differs after printing"; return ;;
    *) echo "crash or other failure"; return ;;
    esac
    [ "$ptxas" = none ] && { echo "good"; return; }
    assemble "$work/out.ptx" && { echo "good"; return; }
    cp "$work/ptxas.txt" "$work/tool.txt"
    if assemble "$1"; then echo "ptxas refuses the printed text"; else echo "ptxas refuses the original"; fi
}

failed=0
while IFS= read -r file; do
    result=$(outcome "$file")
    echo "$result" >>"$work/results"
    case $result in
    good | "both refuse it" | "ptxas refuses the original") ;;
    *) failed=1; echo "$result: $file"; head -3 "$work/tool.txt" "$work/ptxas.txt" 2>/dev/null | grep -v '^==>' | cut -c1-200 ;;
    esac
done < <(find "$folder" -name '*.ptx' -type f | sort)
echo
sort "$work/results" 2>/dev/null | uniq -c | sort -rn
exit $failed
