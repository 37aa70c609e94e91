# SPDX-License-Identifier: Apache-2.0
"""first_rules.py ADVICE.json RULES: "good" when one of the RULES (names, blanks between) is among the first three rules,
of a kernel whose launches were timed, with 1 <= low <= speedup <= high <= limit; else what is there instead."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    advice = json.load(file)
wanted, first = sys.argv[2].split(), []
for row in advice["advice"]:
    if row["rule"] not in first:
        first.append(row["rule"])
    e = row["estimate"]
    ordered = 1 <= e["low"] <= e["speedup"] <= e["high"] <= e["model"]["limit"] and e["program_speedup"] > 1
    if row["rule"] in wanted and ordered and len(first) <= 3 and advice["kernel_ns"] > 0:
        print("good")
        break
else:
    print(" ".join(f"{row['rule']} {row['estimate']['speedup']:.2f}" for row in advice["advice"]) or advice["notes"])
