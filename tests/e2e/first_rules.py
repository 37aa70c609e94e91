# SPDX-License-Identifier: Apache-2.0
"""first_rules.py RULES BEFORE.json [AFTER.json], RULES being names with blanks between.

"good" when one of the RULES is among the first three rules of the advice in BEFORE, of a kernel whose launches were
timed, with 1 <= low <= speedup <= high <= limit. With AFTER: when none of the RULES has half of its gain there, and the
kernels' times in BEFORE and AFTER have a ratio that lies in the interval of the most promising of the RULES. RULES may
end with LOW-HIGH: then the greatest speedup expected of them in BEFORE has to lie there. Else what is there instead."""
import json
import re
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def is_among_the_first(advice, wanted):
    first = []
    for row in advice["advice"]:
        if row["rule"] not in first:
            first.append(row["rule"])
        e = row["estimate"]
        ordered = 1 <= e["low"] <= e["speedup"] <= e["high"] <= e["model"]["limit"] and e["program_speedup"] > 1
        if row["rule"] in wanted and ordered and len(first) <= 3 and advice["kernel_ns"] > 0:
            return True
    return False


def gain(advice, wanted):
    return max((row["estimate"]["speedup"] - 1 for row in advice["advice"] if row["rule"] in wanted), default=0)


def holds(before, after, wanted):
    rows = [row["estimate"] for row in before["advice"] if row["rule"] in wanted]
    best = max(rows, key=lambda e: e["speedup"])
    return best["low"] <= before["kernel_ns"] / after["kernel_ns"] <= best["high"]


def main():
    wanted, advice = sys.argv[1].split(), [load(path) for path in sys.argv[2:]]
    span = re.fullmatch(r"([0-9.]+)-([0-9.]+)", wanted[-1])
    good = is_among_the_first(advice[0], wanted)
    if span:
        good = float(span[1]) <= 1 + gain(advice[0], wanted) <= float(span[2])
    if len(advice) > 1:
        good = gain(advice[1], wanted) < gain(advice[0], wanted) / 2 and holds(*advice, wanted)
    rows = [f"{row['rule']} {row['estimate']['speedup']:.2f}" for row in advice[-1]["advice"]]
    print("good" if good else "; ".join(rows or advice[-1]["notes"] or ["nothing"]))


main()
