#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with Nsight Compute: what it counts of the launches of FOLDER/dispatch, l2, streams, l2_lookups, l1_stores,
# l2_writes, l2_order, l1_joins, l1_store_turns, l1_store_load, l2_coalescer, l2_meet and texture_layout (built by hand), and what
# FOLDER/cold measures after its flushes. Writes dispatch.csv, l2.csv, cold-ncu.txt to OUTDIR.
set -u
folder=${1:?usage: counters.sh FOLDER OUTDIR}
out=${2:?usage: counters.sh FOLDER OUTDIR}
cycles=sm__cycles_elapsed.max,gpc__cycles_elapsed.max,gpu__time_duration.sum,sm__cycles_active.avg,sm__cycles_active.max,smsp__inst_executed.sum
l2=lts__t_sectors.sum,lts__t_sector_hit_rate.pct,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_op_red.sum
l2+=,lts__t_sectors_srcunit_tex.sum,lts__t_sectors_srcunit_tex_lookup_hit.sum,lts__t_sectors_srcunit_tex_lookup_miss.sum
l2+=,lts__t_sectors_srcunit_ltcfabric.sum,lts__t_sectors_lookup_hit.sum,lts__t_sectors_lookup_miss.sum,dram__bytes_read.sum,dram__bytes_write.sum
count() { # CACHE-CONTROL METRICS NAME COMMAND...
    local control=$1 metrics=$2 name=$3
    shift 3
    ncu --clock-control none --cache-control "$control" --csv --page raw --metrics "$metrics" --log-file "$out/$name.csv" "$@" >"$out/$name-ncu.txt" 2>"$out/$name.err" || echo "$name failed"
    echo "$name $(grep -c '^"' "$out/$name.csv") lines"
}
count all "$cycles" dispatch "$folder/dispatch" counted
count none "$cycles" dispatch-unflushed "$folder/dispatch" counted
count none "$cycles,$l2" l2 "$folder/l2" counted
count all "$cycles" cold "$folder/cold"
count none "$cycles,$l2" streams "$folder/streams" counted
tex=lts__t_sectors_srcunit_tex_
lookups=${tex}lookup_hit.sum,${tex}lookup_miss.sum,lts__t_sectors_srcunit_ltcfabric.sum,dram__bytes_read.sum
for op in read write red atom; do lookups+=,${tex}op_$op.sum,${tex}op_${op}_lookup_hit.sum,${tex}op_${op}_lookup_miss.sum; done
count all "$lookups" l2_lookups "$folder/l2_lookups"
l1=l1tex__t_sectors_pipe_lsu_mem_global_op_
count all "${l1}ld.sum,${l1}ld_lookup_hit.sum,${l1}st.sum,${l1}st_lookup_hit.sum" l1_stores "$folder/l1_stores"
# DRAM bytes alone, so that it is one pass: what Nsight Compute saves and restores for others is dirty in the L2 (2.36 MB).
count all dram__bytes_write.sum,dram__bytes_read.sum l2_writes "$folder/l2_writes"
count all "lts__t_sectors_srcunit_tex_op_write.sum,lts__t_requests_srcunit_tex_op_write.sum,${l1}st.sum,${l1}st_lookup_hit.sum" l1_joins "$folder/l1_joins"
texture=l1tex__t_sectors_pipe_tex_mem_texture
count all "l1tex__t_requests_pipe_tex_mem_texture.sum,$texture.sum,${texture}_lookup_hit.sum,${tex}lookup_hit.sum,${tex}lookup_miss.sum" texture "$folder/texture_layout" counted
lrc=lrc__request_sectors_op_read_coalescable.sum,lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum,lrc__xbar2lrc_requests_op_read.sum
count all "$lrc" l2_coalescer "$folder/l2_coalescer"
count all "lts__t_sectors_srcunit_tex_op_write.sum,lts__t_requests_srcunit_tex_op_write.sum,${l1}st.sum,${l1}st_lookup_hit.sum,sm__cycles_active.max" l1_store_turns "$folder/l1_store_turns"
for which in "" more; do
    count all "lrc__xbar2lrc_requests_op_read.sum,lts__t_sectors_srcunit_tex_op_read.sum" "l2_meet$which" "$folder/l2_meet" $which
done
count all dram__bytes_write.sum,dram__bytes_read.sum,gpu__time_duration.sum l2_order "$folder/l2_order"
count all "${l1}ld.sum,${l1}ld_lookup_hit.sum,${l1}st.sum,${l1}st_lookup_hit.sum,lts__t_sectors_srcunit_tex_op_read.sum,sm__cycles_active.max" l1_store_load "$folder/l1_store_load"
