#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the intervals of `warplens advise` from pairs that were scored before anybody had learnt from them, and checks them by leaving out.

    tools/calibrate_advice.py --first TABLE.tsv ... --known TABLE.tsv ...

Tables are those of tools/score_advice.py --tsv. --first: first looks; their scores' quantiles are INTERVAL_ABOVE and INTERVAL_BELOW of
src/analyze/advice/interval.h. --known: the same pairs and others as they are estimated now; both say which rules are wider than others (the
width in RECORD of rules.def, which score_advice.py --record --first ... prints). Of a table FOLDER/NAME-first.tsv or NAME-pairs.tsv NAME is the set.

Checked are first looks, with quantiles and widths from pairs that the one in question is not among: each program left out in turn, and each
whole set. Coverage is of changes that gained 2 % or more; width is high / low, median. Exit code: 0, 2 usage."""
import argparse
import math
import statistics
import sys

import advice_interval as ai


def calibrated(first, known):
    widths = {p["rule"]: ai.width_of(p["rule"], known + first) for p in first + known}
    return widths, ai.ends(first, widths)


def is_covered(pair, low, high):
    return low * (1 - pair["noise"]) <= pair["achieved"] <= high * (1 + pair["noise"])


def judged(pairs, first, known):
    """(covered, high / low) of each that helped, with what first and known say."""
    widths, quantiles = calibrated(first, known)
    out = []
    for p in pairs:
        if p["achieved"] < ai.LEAST_ACHIEVED:
            continue
        width = widths.get(p["rule"], 1.0)
        low, high = ai.interval(p["speedup"], width, 0, p["limit"], quantiles)
        out.append((is_covered(p, low, high), high / low))
    return out


def tell(name, results):
    if results:
        print(f"{name:<34} covered {sum(c for c, _ in results):3d} of {len(results):3d} ({100 * sum(c for c, _ in results) / len(results):3.0f} %), "
              f"high / low {statistics.median(w for _, w in results):.2f}")


def without(pairs, key, value):
    return [p for p in pairs if p[key] != value]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", nargs="+", required=True, metavar="TABLE")
    parser.add_argument("--known", nargs="+", required=True, metavar="TABLE")
    options = parser.parse_args()
    first = [p for path in options.first for p in ai.read_table(path)]
    known = [p for path in options.known for p in ai.read_table(path)]
    if not first or not known:
        sys.exit("calibrate_advice.py: the tables have no pair whose rule was found")
    _, (up, down) = calibrated(first, known)
    helped = sum(p["achieved"] >= ai.LEAST_ACHIEVED for p in first)
    print(f"{len(first)} first looks, {helped} of them helped; {len(known)} known pairs")
    print(f"INTERVAL_ABOVE {up:.2f}\nINTERVAL_BELOW {down:.2f}\n")
    tell("first looks, themselves", judged(first, first, known))
    each = [r for p in first for r in judged([p], [q for q in first if q is not p], without(known, "name", p["name"]))]
    tell("first looks, each program left out", each)
    sets, whole = sorted({p["set"] for p in first}), []
    for name in sets:
        results = judged([p for p in first if p["set"] == name], without(first, "set", name), without(known, "set", name))
        tell(f"  left out: {name}", results)
        whole += results
    tell("first looks, each set left out", whole)
    each = [r for p in known for r in judged([p], without(first, "name", p["name"]), without(known, "name", p["name"]))]
    tell("as estimated now, program left out", each)
    nothing = [p for p in first if p["achieved"] < ai.LEAST_ACHIEVED]
    print(f"{len(nothing)} of {len(first)} first looks helped by less than 2 %: no interval is made for those")
    if not math.isclose(up, ai.C["ABOVE"], abs_tol=0.006) or not math.isclose(down, ai.C["BELOW"], abs_tol=0.006):
        print("interval.h has other quantiles", file=sys.stderr)


if __name__ == "__main__":
    main()
