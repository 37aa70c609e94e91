#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: build.sh [--ptx] [--exe] [--advice] [--prebuilt] [OUTDIR]
#
#   --ptx       PTX of every example: OUTDIR/TOPIC.ptx, without OUTDIR the committed examples/TOPIC/TOPIC.ptx
#               papers/ has several files without a main: OUTDIR/papers-NAME.ptx, without OUTDIR papers/NAME.ptx
#   --exe       executables: OUTDIR/TOPIC, without OUTDIR examples/build/TOPIC
#   --advice    the optimisation pairs of advice/: OUTDIR/NAME-before and NAME-after, without OUTDIR in examples/build/advice
#               (sm_90 code and compute_90 PTX; $JOBS compilers at a time, 2 unless set)
#   --prebuilt  examples/prebuilt/matmul.xz, the committed executable (not affected by OUTDIR)
#
# No flag: --ptx --exe. The compiler is $NVCC, else nvcc of the PATH, else /usr/local/cuda/bin/nvcc; nvcc itself
# heeds NVCC_APPEND_FLAGS. Exit codes: 0 built, 1 a compiler failed or is missing, 2 usage error.
#
# No output names a directory of the machine it was built on. nvcc writes the working directory into .file directives
# and line tables and takes its name from $PWD, so it is told /proc/self/cwd, a name of the working directory that is
# true everywhere. In PTX that prefix is then cut off, leaving "TOPIC/TOPIC.cu", and the headers of the CUDA toolkit
# become "cuda_runtime/NAME": these .file lines and a licence line at the top are all that differs from nvcc's output.
set -eu

say() { echo "build.sh: $*" >&2; }

find_nvcc() {
    for candidate in "${NVCC:-}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc; do
        if [ -n "$candidate" ] && [ -x "$(command -v "$candidate")" ]; then
            command -v "$candidate"
            return
        fi
    done
    say "no nvcc: set NVCC or put it on the PATH (CUDA toolkit 13.0); the committed .ptx files and prebuilt/matmul.xz" \
        "need no compiler"
    return 1
}

# nvcc in the current directory, under the name that is true everywhere
compile() { env PWD=/proc/self/cwd "$nvcc" -lineinfo -Xcompiler -Wall "$@"; }

build_ptx() { # SOURCE OUTPUT
    compile -ptx -O3 "$1" -o "$2.tmp"
    sed -e '1i // SPDX-License-Identifier: Apache-2.0' \
        -e '/^[[:space:]]*\.file/s|"/proc/self/cwd/|"|' \
        -e '/^[[:space:]]*\.file/s|"/.*/\([^/"]*\)"|"cuda_runtime/\1"|' "$2.tmp" >"$2"
    rm "$2.tmp"
}

# nvcc's defaults (static cudart, not stripped, sm_75 code and compute_75 PTX) and -lineinfo, compiled in the
# repository's root, so that a tool started there finds the source by the name in the line table.
build_prebuilt() {
    folder=$(basename "$PWD")
    (cd .. && env PWD=/proc/self/cwd "$nvcc" -lineinfo "$folder/matmul/matmul.cu" -o "$folder/prebuilt/matmul")
    xz -9e --force prebuilt/matmul
}

# Both versions of every pair; line tables name examples/advice/NAME.cu, as of prebuilt.
build_advice() { # OUTPUT FOLDER
    folder=$(basename "$PWD")
    for source in advice/*.cu advice/held_out*/*.cu; do
        name=$(basename "$source" .cu)
        echo "$folder/$source -o $1/$name-before"
        echo "-DAFTER $folder/$source -o $1/$name-after"
    done | (cd .. && xargs -P "${JOBS:-2}" -L 1 env PWD=/proc/self/cwd "$nvcc" -lineinfo -O3 -arch=sm_90 -Xcompiler -Wall,-Wno-unknown-pragmas)
}

want_ptx='' want_exe='' want_prebuilt='' want_advice='' out=''
for argument; do
    case $argument in
    --ptx) want_ptx=1 ;;
    --exe) want_exe=1 ;;
    --advice) want_advice=1 ;;
    --prebuilt) want_prebuilt=1 ;;
    -*) say "unknown option $argument; usage: build.sh [--ptx] [--exe] [--advice] [--prebuilt] [OUTDIR]"; exit 2 ;;
    *) [ -z "$out" ] || { say "more than one OUTDIR: $out, $argument"; exit 2; }
       out=$argument ;;
    esac
done
[ "$want_ptx$want_exe$want_advice$want_prebuilt" ] || want_ptx=1 want_exe=1

nvcc=$(find_nvcc)
[ -z "$out" ] || { mkdir -p "$out" && out=$(cd "$out" && pwd); }
cd "$(dirname "$0")"
[ -z "$want_exe" ] || [ "$out" ] || mkdir -p build

papers=${out:+$out/papers-}
for source in */*.cu; do
    topic=${source%%/*} name=${source##*/}
    [ "$topic" != advice ] || continue
    if [ "$topic" = papers ]; then
        if [ "$want_ptx" ]; then build_ptx "$source" "${papers:-papers/}${name%.cu}.ptx"; fi
        continue
    fi
    if [ "$want_ptx" ]; then build_ptx "$source" "${out:-$topic}/$topic.ptx"; fi
    if [ "$want_exe" ]; then compile -O3 "$source" -o "${out:-build}/$topic"; fi
done
if [ "$want_advice" ]; then
    mkdir -p "${out:-build/advice}"
    build_advice "${out:-$PWD/build/advice}"
fi
if [ "$want_prebuilt" ]; then build_prebuilt; fi
