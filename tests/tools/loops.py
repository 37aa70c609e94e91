#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds out which loops of tests/time/loops.tsv ptxas unrolls, with -arch=sm_90.

    tests/tools/loops.py tests/time/loops.tsv >new.tsv

The second column is written anew: 1 where the code is longer than that of the same loop with a pragma against unrolling.
The third column, what time_code_build does, is checked and renewed by time_code_loops_test.
"""
import subprocess
import sys
import tempfile

from idioms import NOP, counts


def sizes(rows, pragma):
    text = ".version 8.0\n.target sm_90\n.address_size 64\n"
    for i, row in enumerate(rows):
        text += row[3].replace(" k(", f" row_{i}(").replace(" L:", ' L: .pragma "nounroll";' if pragma else " L:") + "\n"
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/a.ptx", "w").write(text)
        subprocess.run(["ptxas", "-arch=sm_90", folder + "/a.ptx", "-o", folder + "/a.cubin"], check=True)
        return {name: sum(made.values()) - made[NOP] for name, made in counts(folder + "/a.cubin").items()}


def main():
    lines = open(sys.argv[1]).readlines()
    rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    free, kept = sizes(rows, False), sizes(rows, True)
    sys.stdout.writelines(line for line in lines if line.startswith("#"))
    for i, row in enumerate(rows):
        row[1] = str(int(free[f"row_{i}"] > kept[f"row_{i}"] + 4))
        print("\t".join(row))


if __name__ == "__main__":
    main()
