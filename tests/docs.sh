#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Links of the documents lead somewhere, and so do the names of documents in sources and scripts.
. tests/e2e/lib.sh
need python3
checked() { find "$@" -type f \( -name '*.md' -o -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.py' \) | sort; }
mapfile -t files < <(checked README.md docs src include lib tests tools bench examples -not -path 'examples/build/*')
same "links" "$(python3 tests/e2e/check_links.py "${files[@]}")" ""

# The test tests something.
mkdir "$T/guide"
printf '# A heading, `here`\n\n[a](b.md) [c](a.md#a-heading-here) [d](a.md#nowhere)\n' >"$T/guide/a.md"
same "bad links" "$(cd "$T" && python3 "$OLDPWD/tests/e2e/check_links.py" guide/a.md)" \
    "guide/a.md: b.md: no such file
guide/a.md: a.md#nowhere: no such heading"
finish
