#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the branches that ptxas leaves of each PTX snippet of tests/time/sides.tsv, with -arch=sm_90.

    tests/tools/sides.py tests/time/sides.tsv >new.tsv

The second column is written anew: branches of the kernel, without the one that stands behind its end. The third column,
those that time_code_build issues, is checked and renewed by time_code_sides_test.
"""
import subprocess
import sys
import tempfile

from idioms import counts

BRA = 0x947


def main():
    lines = open(sys.argv[1]).readlines()
    head = next(line[2:].strip() for line in lines if line.startswith("#!"))
    rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    text = ".version 8.0\n.target sm_90\n.address_size 64\n"
    for i, row in enumerate(rows):
        text += f".visible .entry row_{i}{head} {row[3]} ret; }}\n"
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/a.ptx", "w").write(text)
        subprocess.run(["ptxas", "-arch=sm_90", folder + "/a.ptx", "-o", folder + "/a.cubin"], check=True)
        found = counts(folder + "/a.cubin")
    sys.stdout.writelines(line for line in lines if line.startswith("#"))
    for i, row in enumerate(rows):
        row[1] = str(found[f"row_{i}"][BRA] - 1)
        print("\t".join(row))


if __name__ == "__main__":
    main()
