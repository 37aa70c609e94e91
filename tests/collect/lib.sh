# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the tests of the collector, after tests/e2e/lib.sh: runs lives of programs (life.c); what a profile holds, and
# what was said.

# One Python answers all queries: starting one takes a quarter of a second on a busy machine.
mkfifo "$T/asks" "$T/answers"
python3 -uc 'import sqlite3, sys
for request in iter(sys.stdin.readline, ""):
    path, query = request.rstrip("\n").split("\t")
    try:
        with sqlite3.connect(path) as profile:
            for row in profile.execute(query): print(*row, sep="|")
        profile.close()
    except sqlite3.Error as error: print(error)
    print("\4")' <"$T/asks" >"$T/answers" &
exec 8>"$T/asks" 9<"$T/answers"

ask() {  # NAME QUERY
    local line
    printf '%s\t%s\n' "$T/$1.wlp" "${2//$'\n'/ }" >&8
    while IFS= read -r line <&9 && [ "$line" != $'\4' ]; do printf '%s\n' "$line"; done
}

says() {  # NAME TEXT
    checks=$((checks + 1))
    grep -qF -- "$2" "$T/$1.err" || fail "$1 does not say: $2" "$(cat "$T/$1.err")"
}

life_options=()  # of every life of this test

# life NAME CODE [options]: runs the life of that name (up to a dot). What it and warplens say is in $T/NAME.out and
# $T/NAME.err, the profile is $T/NAME.wlp. The lock of the device is of this life alone.
run_life() {
    local name=$1
    shift 2
    mkdir -p "$T/$name.tmp"
    TMPDIR=$T/$name.tmp "$W" run --on gpu -o "$T/$name.wlp" "${life_options[@]}" "$@" -- "$T/life" "${name%%.*}" \
        >"$T/$name.out" 2>"$T/$name.err" 8>&- 9<&-
}
life() {
    run_life "$@"
    same "exit code of $1" $? "$2"
}
# Those that wait for the collector's flushes do so side by side: begin takes what life does, ended says that it is time.
declare -A begun=()
begin() {
    run_life "$@" &
    begun[$1]=$!
}
ended() {  # NAME CODE
    wait "${begun[$1]}"
    same "exit code of $1" $? "$2"
}
