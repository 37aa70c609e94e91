#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: shrink_profile.sh PROFILE.wlp FOLDER
#
# Writes FOLDER/PROFILE.wlp.xz: what advice is made of (samples, machine code, launches with their arguments, of each kernel the first 60, allocations), without
# call stacks, names of folders, and what else tells of the machine it was made on. For tests/advice/recorded, and to hand on.
# Needs sqlite3 and xz. Exit codes: 0 written, 1 a tool failed, 2 usage.
set -eu
if [ $# != 2 ] || [ ! -f "$1" ] || [ ! -d "$2" ]; then
    echo "usage: shrink_profile.sh PROFILE.wlp FOLDER" >&2
    exit 2
fi
copy=$2/$(basename "$1")
cp "$1" "$copy"
sqlite3 "$copy" >/dev/null <<'SQL'
DELETE FROM stack_frame;
DELETE FROM frame;
DELETE FROM object;
DELETE FROM span;
UPDATE launch SET stack = NULL;
CREATE TEMP TABLE kept AS SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY function ORDER BY id) AS nth FROM launch) WHERE nth <= 60;
DELETE FROM launch_time WHERE launch NOT IN (SELECT id FROM kept);
DELETE FROM launch_argument WHERE launch NOT IN (SELECT id FROM kept);
DELETE FROM launch WHERE id NOT IN (SELECT id FROM kept);
UPDATE meta SET value = replace(value, rtrim(substr(value, 1, instr(value || ' ', ' ') - 1), replace(substr(value, 1, instr(value || ' ', ' ') - 1), '/', '')), '') WHERE key = 'command';
UPDATE file SET path = replace(path, rtrim(path, replace(path, '/', '')), '');
VACUUM;
SQL
xz -9e --force "$copy"
