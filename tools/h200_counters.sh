#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with a GPU, nvcc and ncu: counts the memory traffic of every example kernel on the hardware, one CSV per topic in OUTDIR,
# to be compared with what the simulator counts (tools/compare_counters.py).
set -eu
out=${1:?usage: tools/h200_counters.sh OUTDIR}
mkdir -p "$out"
metrics=smsp__inst_executed.sum,smsp__thread_inst_executed.sum
for op in ld st atom red; do
    metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_$op.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_$op.sum
done
for op in ld st; do
    metrics+=,l1tex__t_requests_pipe_lsu_mem_local_op_$op.sum,smsp__inst_executed_op_shared_$op.sum
    metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_$op.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_$op.sum
done
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
(cd examples && ./build.sh --exe build >/dev/null)
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/machine.txt"
date -u +%F >>"$out/machine.txt"
while read -r topic args; do
    # shellcheck disable=SC2086
    ncu --clock-control none --csv --page raw --metrics $metrics "examples/build/$topic" $args >"$out/$topic.csv" 2>"$out/$topic.err" ||
        echo "$topic failed"
    grep -c '^"' "$out/$topic.csv" | sed "s/^/$topic rows /"
done <<'LIST'
vector_add --n 65536
matmul --n 128
transpose --n 256
bitonic --n 4096
scan --n 4096
jacobi
spmv
reduction --n 65536
histogram --n 65536
bfs
LIST
