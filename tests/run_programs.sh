#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/run_programs.py tells programs that work from those that do not, and says why.
. tests/e2e/lib.sh
need python3
unpack_prebuilt
build_launches
root=$PWD
echo=$(type -P echo)
mkdir "$T/reference"
{
    printf 'works\tmatmul\t--variant naive --n 32\t\n'
    printf 'fault\tlaunches\t%s 1 1000000\t\n' "$root/tests/binary/one_none.fatbin"
    printf 'endless\t%s\t\t\n' "$root/tests/binary/program_static"
    printf 'prints_fail\t%s\tTest FAILED at 3\t\n' "$echo"
    printf 'polybench_good\t%s\tNon-Matching CPU-GPU Outputs Beyond Error Threshold of 0.05 Percent: 0\t\n' "$echo"
    printf 'polybench_bad\t%s\tNon-Matching CPU-GPU Outputs Beyond Error Threshold of 0.05 Percent: 12\t\n' "$echo"
    printf 'silent\t%s\tdone\t\n' "$echo"
    printf 'no_failures\t%s\tpassed with 0 errors, 0 failures\t\n' "$echo"
    printf 'other_words\t%s\tchecksum is bad PASS\t\n' "$echo"
    printf 'other_numbers\t%s\tchecksum 4.5 PASS\t\n' "$echo"
    printf 'other_times\t%s\tPASS in 7.5 ms\t\n' "$echo"
    printf 'stripped\t%s\t\t\n' "$root/tests/binary/program_stripped"
    printf 'missing\tnowhere\t\t\n'
} >"$T/manifest.tsv"
printf 'program\targs\tpass_words\n' >"$T/list.tsv"
cut -f1,3 "$T/manifest.tsv" | sed 's/$/\t1/' >>"$T/list.tsv"
echo 'checksum is good PASS' >"$T/reference/other_words.txt"
echo 'checksum 4.25 PASS' >"$T/reference/other_numbers.txt"
echo 'PASS in 0.25 ms' >"$T/reference/other_times.txt"

run() { tools/run_programs.py "$T/manifest.tsv" --warplens "$W" --list "$T/list.tsv" --reference "$T/reference" "$@"; }
# A limit that the endless program reaches, and none of the others does on a busy machine.
run --only '^endless$' --limit 2 --tsv "$T/endless.tsv" >"$T/out"
same "exit code of a program that does not end" $? 1
run --only '^(?!endless$)' --limit 120 --tsv - >"$T/result.tsv"
same "exit code when some fail" $? 1
sed -i "3r /dev/stdin" "$T/result.tsv" <<<"$(tail -1 "$T/endless.tsv")"
same "rows" "$(cut -f1,2,3,4,5,6,9 "$T/result.tsv")" "program	verdict	ran	exit_code	words	reference	cause
works	pass	yes	0	PASS	-	
fault	fail	yes	3	none	-	fault
endless	fail	no	-	none	-	timeout
prints_fail	fail	yes	0	FAIL	-	wrong result
polybench_good	pass	yes	0	PASS	-	
polybench_bad	fail	yes	0	FAIL	-	wrong result
silent	fail	yes	0	none	-	no verdict
no_failures	pass	yes	0	PASS	-	
other_words	fail	yes	0	PASS	words	wrong result
other_numbers	pass	yes	0	PASS	numbers	
other_times	pass	yes	0	PASS	same	
stripped	fail	yes	125	none	-	not runnable
missing	fail	no	-	none	-	not built"
grep -q 'out of bounds' "$T/result.tsv" || fail "the fault is not told"
grep -q '4.5 where a GPU prints 4.25' "$T/result.tsv" || fail "the other number is not told"

run --only '^(works|poly.*good)$' >"$T/out"
same "exit code when all pass" $? 0
grep -q '^2 of 2 programs pass (100.0 %)$' "$T/out" || fail "no summary" "$(cat "$T/out")"

# A folder with a folder for each program, without a list.
mkdir -p "$T/folder/matmul" && cp "$T/matmul" "$T/folder/matmul/main"
tools/run_programs.py "$T/folder" --warplens "$W" --options "-k nothing" --keep "$T/kept" >"$T/out"
same "a folder" "$? $(tail -1 "$T/out")" "0 1 of 1 programs pass (100.0 %)"
same "what is kept" "$(ls "$T/kept")" "matmul.err
matmul.out
matmul.wlp"
finish
