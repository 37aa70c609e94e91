#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The control flow of nvdisasm -bbcfg (standard input) as text: of each function, instructions (by number) that do not
# simply go on to the next one, and where they go. For tests/sass/*.edges.
import re
import sys


def nodes_and_edges(part):
    nodes, edges = [], []
    for m in re.finditer(r'^"([^"]+)"\n\[label="\{(.*?)\}"\]$', part, re.M | re.S):
        label = re.sub(r"\|<exit\d+>|<entry>", "", m.group(2))
        nodes.append((m.group(1), sum(line.startswith("\\ \\ ") for line in label.split("\\l"))))
    for m in re.finditer(r'^"([^"]+)":\w+(?::\w)? -> "([^"]+)"', part, re.M):
        edges.append(m.groups())
    return nodes, edges


def successors(part):
    nodes, edges = nodes_and_edges(part)
    begin, count, at = {}, {}, 0
    for name, insns in nodes:
        begin[name], count[name] = at, insns
        at += insns
    after = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)

    def first(name):  # a node without instructions stands for what follows it
        if name not in begin:
            return set()
        return {begin[name]} if count[name] else set().union(*[first(n) for n in after.get(name, [])])

    result = {}
    for name, insns in nodes:
        for i in range(begin[name], begin[name] + insns - 1):
            result[i] = {i + 1}
        if insns:
            result[begin[name] + insns - 1] = set().union(*[first(n) for n in after.get(name, [])])
    return result


for part in sys.stdin.read().split('subgraph "cluster_')[1:]:
    goes = successors(part)
    print(part[: part.index('"')], len(goes))
    for i in sorted(goes):
        if goes[i] != {i + 1}:
            print(" ", i, "->", *sorted(goes[i]))
