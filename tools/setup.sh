#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that building and testing Warplens need. Does nothing, and needs no network, when all
# are there. `setup.sh fuzz` adds what only the fuzzers need, `setup.sh test` what only some tests use: those do
# without, so it is no error when it cannot be had.
set -eu

packages=(gcc libc6-dev make cmake ninja-build pkgconf libsqlite3-dev libzstd-dev liblz4-dev libelf-dev libiberty-dev libjansson-dev
    libcmocka-dev clang clang-format xz-utils python3)
wishes=()
[ "${1:-}" = fuzz ] && packages+=(libclang-rt-dev)
[ "${1:-}" = test ] && ! python3 -c 'import jsonschema' 2>/dev/null && wishes=(python3-jsonschema)

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; Warplens needs what these Debian packages hold: ${packages[*]}" >&2
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && [ ${#wishes[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        [ ${#missing[@]} -eq 0 ] && exit 0
        echo "setup: these packages are missing, and this user cannot install them; as root, run:" >&2
        echo "    apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

apt_install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >"$log" 2>&1
}

# A fresh machine has no package lists yet, an old one has outdated ones: fetch them when the first try fails.
if [ ${#missing[@]} -gt 0 ]; then
    echo "setup: installing ${missing[*]}"
    if ! apt_install "${missing[@]}" && ! { "${as_root[@]}" apt-get update -qq >"$log" 2>&1 && apt_install "${missing[@]}"; }; then
        tail -n 20 "$log" >&2
        echo "setup: apt-get could not install: ${missing[*]}" >&2
        exit 1
    fi
fi
if [ ${#wishes[@]} -gt 0 ] && ! apt_install "${wishes[@]}"; then
    echo "setup: without ${wishes[*]}: JSON and SARIF of \`warplens advise\` are not checked against their schemas"
fi
