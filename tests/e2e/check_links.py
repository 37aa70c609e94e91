#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which links of Markdown files lead nowhere: check_links.py FILE.md...

A link is good when its file exists and has the heading that is named after #, with the anchors that code hosts give
headings. Mentions of `docs/NAME.md` in sources and scripts are checked too, with any other file. Addresses of other
machines are not looked at. Prints a line for each bad link; exit code 1 when there is one.
"""
import os
import re
import sys


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"^ {4}.*$", "", text, flags=re.M)


def anchors(path):
    """What headings can be reached by: in lower case, spaces as hyphens, punctuation gone; repeated ones counted."""
    seen, found = {}, set()
    for heading in re.findall(r"^#{1,6} +(.+?)\s*$", without_code(open(path, encoding="utf-8").read()), flags=re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.add(f"{name}-{count}" if count else name)
    return found


def links(path):
    text = open(path, encoding="utf-8", errors="replace").read()
    if path.endswith(".md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
            if not re.match(r"[a-z]+:", target):
                yield target, os.path.dirname(path)
    for target in re.findall(r"(?<![\w/.])docs/[a-z-]+\.md", text):
        yield target, ""


def main():
    bad = 0
    for path in sys.argv[1:]:
        for target, folder in links(path):
            file, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(folder, file)) if file else path
            if not os.path.exists(file):
                reason = "no such file"
            elif anchor and file.endswith(".md") and anchor not in anchors(file):
                reason = "no such heading"
            else:
                continue
            bad = 1
            print(f"{path}: {target}: {reason}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
