#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Links of the documents lead somewhere, and so do the names of documents in sources and scripts. What the README shows
# is what a user sees.
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

# shown FIRST LAST: the lines of the README's example from one that begins with FIRST to one that begins with LAST.
shown() { awk -v first="    $1" -v last="    $2" 'index($0, first) == 1 { on = 1 } on { print substr($0, 5) } index($0, last) == 1 { exit }' README.md; }
unpack_prebuilt
mkdir -p "$T/build/demo" && mv "$T/matmul" "$T/build/demo/"
ran=$(cd "$T" && "$W" run --timing build/demo/matmul --variant global --n 128 2>"$T/err" && cat "$T/err")
same "README: run" "$ran" "$(shown "matmul global" "warplens: \`warplens advise")"
same "README: advise" "$(cd "$T" && COLUMNS=100 "$W" advise matmul.1.wlp)" "$(shown "Advice for matmul" "  \`warplens advise --verbose")"
finish
