#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reports of runs whose figures can be derived by hand, as they are below; what is not derived is checked for its shape:
# totals are the sums of their parts, CSV and JSON agree.
. tests/e2e/lib.sh
need python3

# report NAME PROFILE: all formats, valid and in agreement, the JSON as $T/NAME.json
report() {
    "$W" report --json "$2" >"$T/$1.json" && "$W" report --csv "$2" >"$T/$1.kernels.csv" &&
        "$W" report --csv --section lines "$2" >"$T/$1.lines.csv" && "$W" report "$2" >"$T/$1.txt" || fail "$1: no report"
    python3 tests/e2e/report_figures.py "$T/$1.json" shape || fail "$1: shape"
    python3 tests/e2e/report_figures.py "$T/$1.json" csv "$T/$1.kernels.csv" "$T/$1.lines.csv" || fail "$1: CSV"
    checks=$((checks + 3))
}

figures() {
    cat >"$T/figures"
    checks=$((checks + $(grep -cv '^ *\(#.*\)\?$' "$T/figures")))
    python3 tests/e2e/report_figures.py "$T/$1.json" figures "$T/figures" || fail "$1: figures"
}

sim() {
    local topic=$1
    "$W" sim -q "examples/$topic/$topic.ptx" --launch "examples/$topic/$topic.launch" -o "$T/$topic.wlp" || fail "$topic does not run"
    report "$topic" "$T/$topic.wlp"
}

# --- matmul, 64 x 64, in an unmodified program. Blocks of 16 x 16 threads: a warp is two rows of 16 columns.
unpack_prebuilt
"$W" run -q -o "$T/matmul.wlp" "$T/matmul" --n 64 >"$T/out" 2>"$T/err"
same "matmul: exit code" $? 0
same "matmul: last line" "$(tail -1 "$T/out")" "RESULT PASS"
report matmul "$T/matmul.wlp"
figures matmul <<'END'
# mm: 16 blocks of 8 warps = 128 warps. In each of 64 steps a warp loads A[r * n + k], one word in each of two rows, and
# B[k * n + c], 16 words in one row: two requests of two sectors, on line 25. It stores 16 words in two rows: four sectors.
mm ctas 16
mm warps 128
mm ld_req 16384        # 128 * 64 * 2
mm ld_sect 32768
mm:25 ld_req 16384
mm:25 ld_sect 32768
mm:25 ld_bytes 2097152 # 16384 requests * 32 lanes * 4
mm:25 ld_ratio 2
mm:26 st_req 128
mm:26 st_sect 512
mm:26 ld_req 0
mm st_bytes 16384      # 64 * 64 * 4
mm divergent 0
mm shared_ld 0
mm conflicts 0
mm barriers 0
# mm_global: the sum is stored in every step (line 16), and once before (line 14).
mm_global:14 st_req 128
mm_global:16 st_req 8192
mm_global:16 st_sect 32768
mm_global:16 st_ratio 4
# mm_blocked: as mm, and a barrier after each of 4 tiles.
mm_blocked:36 ld_req 16384
mm_blocked:36 ld_sect 32768
mm_blocked:37 barriers 512
# mmt: per tile and warp two loads of 16 words in two rows (four sectors) into shared memory, two barriers.
mmt:49 ld_req 512      # 128 warps * 4 tiles
mmt:49 ld_sect 2048
mmt:50 ld_req 512
mmt:49 shared_st 512
mmt:50 shared_st 512
mmt:51 barriers 512
mmt:55 barriers 512
mmt conflicts 0
mmt:57 st_req 128
# mm_register: 4 blocks. Rows of sb are 32 words, so the two rows that a warp stores meet in the same 16 banks: one more
# wavefront for each of 32 warps * 4 tiles * 2 stores (lines 69, 70). Rows of sa are 16 words: none (67, 68).
mm_register warps 32
mm_register:67 conflicts 0
mm_register:69 shared_st 128
mm_register:69 conflicts 128
mm_register:69 wavefronts_st 256
mm_register:70 conflicts 128
mm_register conflicts 256
mm_register:82 st_req 32
END
grep -q '^ *16 .*C\[r \* n + c\] += A' "$T/matmul.txt" || fail "matmul: the text report does not show the source" "$(head -40 "$T/matmul.txt")"

# --- transpose, 64 x 64: 4 blocks of 8 warps, each 4 rows of 32 words: 128 requests each way.
sim transpose
figures transpose <<'END'
tr ld_req 128
tr ld_sect 512         # 32 words in a row: 4 sectors
tr st_req 128
tr st_sect 4096        # 32 words in a column: 32 sectors
tr st_ratio 32
tr shared_ld 0
tr_shared st_req 128
tr_shared st_sect 512
tr_shared shared_ld 128
tr_shared shared_st 128
tr_shared conflicts 3968   # a column of 32-word rows is in one bank: 31 more wavefronts for each load, none for a store
tr_shared conflicts_st 0
tr_shared wavefronts_ld 4096   # 128 * 32
tr_shared wavefronts_st 128
tr_shared barriers 32
tr_padded conflicts 0
tr_padded wavefronts_ld 128
tr_padded wavefronts_st 128
tr_padded st_sect 512
tr_diagonal conflicts 0
tr_diagonal st_sect 512
END

# --- vector_add over 1000 elements: 31 full warps and 8 lanes of another.
sim vector_add
figures vector_add <<'END'
vecAdd warps 32
vecAdd ld_req 64
vecAdd ld_sect 250     # 2 * (31 * 4 + 1): 8 words are one sector
vecAdd ld_bytes 8000
vecAdd st_req 32
vecAdd st_sect 125
vecAdd st_bytes 4000
vecAdd divergent 1     # the last warp, at `if (i < n)`
vecAdd_vector4 ld_req 16   # 250 threads of 4 elements: 8 warps
vecAdd_vector4 ld_sect 250 # the same bytes in fewer requests
vecAdd_vector4 ld_bytes 8000
vecAdd_vector4 st_req 8
vecAdd_vector4 st_sect 125
vecAdd_grid_stride ld_req 64
vecAdd_grid_stride ld_sect 250
END

# --- wgmma, m64n8k16 of f16: A has 64 * 16 * 2 bytes, B 8 * 16 * 2, a wavefront 128. An H200 counts the same.
cat >"$T/wgmma.launch" <<'END'
buffer out f32 128
kernel wgmma_both_shared
grid 2
block 128
param out
launch
expect out 127 16
kernel wgmma_handed_over
grid 1
block 160
param out
launch
END
"$W" sim -q tests/check/wgmma.ptx --launch "$T/wgmma.launch" -o "$T/wgmma.wlp" || fail "wgmma does not run"
report wgmma "$T/wgmma.wlp"
figures wgmma <<'END'
wgmma_both_shared gmma 8                # two blocks of four warps
wgmma_both_shared matrix 8
wgmma_both_shared wavefronts_gmma 36    # 2 * (16 + 2)
wgmma_both_shared bytes_gmma 4608
wgmma_both_shared shared_st 40          # two blocks of four warps, 5 * 16 bits each: 4 of A and one of B
wgmma_both_shared conflicts 0
wgmma_handed_over gmma 4
wgmma_handed_over wavefronts_gmma 2     # A is in registers
wgmma_handed_over bytes_gmma 256
END

# --- the rest: shape only
for topic in bitonic histogram jacobi bfs reduction scan spmv; do sim $topic; done
finish
