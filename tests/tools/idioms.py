#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what ptxas makes of each PTX snippet of tests/time/idioms.tsv, with -arch=sm_90.

    tests/tools/idioms.py tests/time/idioms.tsv >new.tsv

The second column is written anew: machine instructions of a kernel with the snippet, less those of one without it; `-`
where slow paths that are called stand behind the kernel. The third column, what time_code_build issues, is checked and
renewed by time_code_idioms_test.
"""
import collections
import struct
import subprocess
import sys
import tempfile

NOP, CALL = 0x918, 0x944


def frames(lines):
    """kind -> (text before a snippet, text behind it)"""
    return {k: (before, behind) for k, before, behind in (l[2:].rstrip("\n").split("\t") for l in lines if l.startswith("#:"))}


def kernel(name, head, before, body, behind):
    return f".visible .entry {name}{head}\n{before} {body} {behind} ret; }}\n"


def counts(cubin):
    """kernel -> Counter of the opcodes of its code"""
    data = open(cubin, "rb").read()
    offset, number, names = *struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i) for i in range(number)]
    found = {}
    for section in sections:
        at = sections[names][4] + section[0]
        name = data[at:data.index(b"\0", at)].decode()
        if not name.startswith(".text."):
            continue
        code = data[section[4]:section[4] + section[5]]
        found[name[6:]] = collections.Counter(struct.unpack_from("<H", code, i)[0] & 0xFFF for i in range(0, len(code), 16))
    return found


def main():
    lines = open(sys.argv[1]).readlines()
    head = next(l[2:].strip() for l in lines if l.startswith("#!"))
    frame = frames(lines)
    rows = [l.rstrip("\n").split("\t") for l in lines if not l.startswith("#")]
    text = ".version 8.0\n.target sm_90\n.address_size 64\n"
    for kind, (before, behind) in frame.items():
        text += kernel("bare_" + kind, head, before, "", behind.replace("13", "10"))
    for i, row in enumerate(rows):
        text += kernel(f"row_{i}", head, frame[row[4]][0], row[3], frame[row[4]][1])
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/a.ptx", "w").write(text)
        subprocess.run(["ptxas", "-arch=sm_90", folder + "/a.ptx", "-o", folder + "/a.cubin"], check=True)
        found = counts(folder + "/a.cubin")
    sys.stdout.writelines(l for l in lines if l.startswith("#"))
    for i, row in enumerate(rows):
        made, bare = found[f"row_{i}"], found["bare_" + row[4]]
        size = lambda c: sum(c.values()) - c[NOP]
        row[1] = "-" if made[CALL] else str(size(made) - size(bare))
        print("\t".join(row))


if __name__ == "__main__":
    main()
