#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good blame is by the number of samples: three tables of what bench/blame-truth/blame_samples prints (on stdin).

A profile's name is PROGRAM.OFFSET.wlp. Intervals are 95 % of a bootstrap over kernels, each with all its offsets: samples of
one kernel at other offsets are new samples of the same code, not of another one.
"""
import collections
import math
import random
import sys

RESAMPLES = 2000


def read(lines):
    """rows of (kernel, period, instants, samples, right, top), and by kernel what is right when every cycle is known"""
    rows, bound = [], {}
    for line in lines:
        profile, kernel, period, instants, samples, right, top = line.rstrip("\n").split("\t")
        key = (profile.rsplit(".", 2)[0], kernel)
        if int(period) == 1:
            bound[key] = float(right)
        else:
            rows.append((key, int(period), float(instants), float(samples), float(right), int(top)))
    return rows, bound


def mean(values):
    return sum(values) / len(values) if values else math.nan


def interval(by_kernel):
    """95 % of the mean of means, resampling kernels"""
    means = [mean(values) for values in by_kernel.values()]
    if len(means) < 3:
        return math.nan, math.nan
    rng = random.Random(1)
    found = sorted(mean(rng.choices(means, k=len(means))) for _ in range(RESAMPLES))
    return found[int(0.025 * RESAMPLES)], found[int(0.975 * RESAMPLES)]


def print_rows(title, groups, bound):
    print(f"| {title} | kernels | runs | samples, median | right | 95 % interval | of what every cycle gives | top instruction right |")
    print("|---|---|---|---|---|---|---|---|")
    for name, rows in groups:
        right, part, top = (collections.defaultdict(list) for _ in range(3))
        for key, _, _, _, value, first in rows:
            right[key].append(value)
            part[key].append(value / bound[key])
            top[key].append(first)
        samples = sorted(row[3] for row in rows)
        low, high = interval(right)
        print(f"| {name} | {len(right)} | {len(rows)} | {samples[len(samples) // 2]:.0f} "
              f"| {100 * mean([mean(v) for v in right.values()]):.1f} % | {100 * low:.0f} to {100 * high:.0f} % "
              f"| {100 * mean([mean(v) for v in part.values()]):.1f} % | {100 * mean([mean(v) for v in top.values()]):.0f} % |")


def in_powers_of_four(rows, column):
    groups = collections.defaultdict(list)
    for row in rows:
        if row[column] >= 4:
            groups[int(math.log2(row[column])) // 2 * 2].append(row)
    return [(f"{2 ** k} to {2 ** (k + 2) - 1}", groups[k]) for k in sorted(groups)]


def main():
    rows, bound = read(sys.stdin)
    rows = [row for row in rows if bound.get(row[0], 0) > 0]
    kernels = sorted(bound)
    print(f"{len(kernels)} kernels; every cycle: {100 * mean([bound[k] for k in kernels]):.1f} % right\n")
    by_period = collections.defaultdict(list)
    for row in rows:
        by_period[row[1]].append(row)
    print_rows("period, cycles", sorted(by_period.items()), bound)
    for title, column in (("sampled cycles of a kernel", 2), ("samples of stalls of a kernel", 3)):
        print()
        print_rows(title, in_powers_of_four(rows, column), bound)


if __name__ == "__main__":
    main()
