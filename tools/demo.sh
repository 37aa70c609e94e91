#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `make demo` shows: an unmodified CUDA program run and profiled without a GPU. With nvcc on the machine also every
# example, built and checked. Needs the release build; $WARPLENS_BUILD names another one.
set -eu
cd "$(dirname "$0")/.."
build=${WARPLENS_BUILD:-build/release}
warplens=$build/bin/warplens
folder=build/demo
mkdir -p "$folder"

# say TEXT, show COMMAND...: printed before it is run, "warplens" for the long path
say() { printf '\n%s\n' "$*"; }
show() {
    printf '\n$ %s\n' "${*/#"$warplens"/warplens}"
    "$@"
}

unpack() {
    if command -v xz >/dev/null; then xz -dc "$1"
    elif command -v python3 >/dev/null; then python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$1"
    else
        echo "demo: xz is needed to unpack $1 (Debian package xz-utils)" >&2
        exit 1
    fi
}

kernels_only() {
    say "Programs run on x86-64 only; here the kernels of the same program, from PTX:"
    show "$warplens" sim examples/matmul/matmul.ptx --launch examples/matmul/matmul.launch -f -o $folder/matmul.wlp
    show "$warplens" report --lines 3 $folder/matmul.wlp
    exit
}

[ "$(uname -m)" = x86_64 ] || kernels_only

unpack examples/prebuilt/matmul.xz >$folder/matmul
chmod +x $folder/matmul
say "build/demo/matmul is a CUDA program as nvcc makes it: five ways to multiply two matrices. No GPU, no CUDA toolkit needed:"
show "$warplens" run --timing -f -o $folder/global.wlp $folder/matmul --variant global --n 128
show "$warplens" advise --verbose --top 2 $folder/global.wlp
show "$warplens" run -q -f -o $folder/matmul.wlp $folder/matmul --variant all --n 128
show "$warplens" report --lines 3 $folder/matmul.wlp

cat <<'END'

How to read it: `mm_global` keeps its sum in global memory and waits for it in every turn; `mm`, with the sum in a register, is the first
piece of advice followed. `mmt` keeps tiles in shared memory and loads far less; `mm_register` nearly halves the work again,
but its stores to shared memory meet in the same banks (column "conflicts").
All options: warplens advise --help, warplens report --help. Your own program: warplens run --timing ./app
END

nvcc=$(command -v "${NVCC:-nvcc}" || command -v /usr/local/cuda/bin/nvcc || true)
if [ -n "$nvcc" ] && command -v python3 >/dev/null; then
    say "nvcc is here, so every example is built and run (what each shows: examples/README.md):"
    examples/build.sh --exe $folder/programs
    for program in "$folder"/programs/*; do
        printf '%s\tprograms/%s\t\t\n' "$(basename "$program")" "$(basename "$program")"
    done >$folder/programs.tsv
    tools/run_programs.py $folder/programs.tsv --warplens "$warplens" --jobs 1
fi
