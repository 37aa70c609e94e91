#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records what the CUDA runtime of a real GPU answers to the odd calls:  tests/cuda/ask_h200.sh OUTPUT
# Needs nvcc 13.0 and a GPU. The result, with its head, is tests/cuda/h200_calls.txt.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -std=gnu17 -O1 -I../../src -I. -c odd_calls_gpu.c -o "$work/calls.o"
nvcc -arch=sm_90 odd_kernels.cu "$work/calls.o" -o "$work/odd_calls"
"$work/odd_calls" "$1"
