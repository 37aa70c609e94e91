#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares for which reasons warps waited in two profiles of the same program, e.g. simulated and sampled on a GPU.

    tools/compare_stalls.py A.wlp B.wlp [A2.wlp B2.wlp ...] [--kernel REGEX] [--lines] [--least SHARE]

For each kernel that has stall samples in both: the share of each reason (issued warps, `selected`, included) in A and B,
and the overlap of both distributions, 0 to 100 %. --lines compares the distributions over source lines and reasons, too
(both programs built with -lineinfo). At the end the means, weighted by nothing. Rows of the smallest period are taken.
Exit code: 0, or 1 when no kernel is in both.
"""
import argparse
import re
import sqlite3
import statistics
import sys


def open_profile(path):
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def samples(db):
    """{kernel: {(reason, file, line): samples}} of the source whose samples are densest."""
    rows = db.execute("""
        SELECT f.name, s.name, l.file, l.line, sum(p.samples) FROM sample p
        JOIN function f ON f.id = p.function JOIN stall s ON s.source = p.source AND s.id = p.stall
        LEFT JOIN insn_line l ON l.function = p.function AND l.pc = p.pc
        WHERE p.period = (SELECT min(q.period) FROM sample q WHERE q.function = p.function)
        GROUP BY f.name, s.name, l.file, l.line""")
    result = {}
    for kernel, reason, file, line, count in rows:
        by_kind = result.setdefault(kernel, {})
        place = (reason, (file or "").rsplit("/", 1)[-1], line)
        by_kind[place] = by_kind.get(place, 0) + count
    return result


def shares(counts, key):
    total = sum(counts.values())
    result = {}
    for place, count in counts.items():
        result[key(place)] = result.get(key(place), 0) + count / total
    return result


def overlap(a, b):
    return sum(min(a.get(k, 0), b.get(k, 0)) for k in a)


def compare(a, b, options):
    """Prints one kernel; gives the overlaps by reason and by line and reason."""
    reasons = shares(a, lambda p: p[0]), shares(b, lambda p: p[0])
    places = shares(a, lambda p: p), shares(b, lambda p: p)
    found = overlap(*reasons), overlap(*places)
    print(f"  overlap {100 * found[0]:.0f} %" + (f", by line {100 * found[1]:.0f} %" if options.lines else ""))
    for reason in sorted(set(reasons[0]) | set(reasons[1]), key=lambda r: -reasons[1].get(r, 0)):
        pair = [100 * r.get(reason, 0) for r in reasons]
        if max(pair) >= options.least:
            print(f"    {reason:22} {pair[0]:6.1f} % {pair[1]:6.1f} %")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("profiles", nargs="+", metavar="PROFILE")
    parser.add_argument("--kernel", default="", help="only kernels whose mangled name matches")
    parser.add_argument("--lines", action="store_true", help="also by source line")
    parser.add_argument("--least", type=float, default=2, help="smallest share that is printed, per cent")
    options = parser.parse_args()
    if len(options.profiles) % 2:
        parser.error("profiles come in pairs")
    found = []
    for first, second in zip(options.profiles[::2], options.profiles[1::2]):
        a, b = samples(open_profile(first)), samples(open_profile(second))
        for kernel in sorted(set(a) & set(b)):
            if re.search(options.kernel, kernel):
                print(f"{kernel} ({first}, {second})")
                found.append(compare(a[kernel], b[kernel], options))
    if not found:
        print("no kernel has samples in both", file=sys.stderr)
        return 1
    by_reason, by_line = zip(*found)
    print(f"{len(found)} kernels: overlap by reason {100 * statistics.mean(by_reason):.0f} % on average"
          + (f", by line {100 * statistics.mean(by_line):.0f} %" if options.lines else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
