#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that building and testing Warplens need. Does nothing, and needs no network, when all
# are there. `setup.sh fuzz` adds what only the fuzzers need.
set -eu

packages=(gcc libc6-dev make cmake ninja-build pkgconf libsqlite3-dev libzstd-dev liblz4-dev libelf-dev libiberty-dev libjansson-dev
    libcmocka-dev clang clang-format xz-utils python3 python3-jsonschema)
[ "${1:-}" = fuzz ] && packages+=(libclang-rt-dev)

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; Warplens needs what these Debian packages hold: ${packages[*]}" >&2
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: these packages are missing, and this user cannot install them; as root, run:" >&2
        echo "    apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

apt_install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1
}

echo "setup: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A fresh machine has no package lists yet, an old one has outdated ones: fetch them when the first try fails.
if ! apt_install && ! { "${as_root[@]}" apt-get update -qq >"$log" 2>&1 && apt_install; }; then
    tail -n 20 "$log" >&2
    echo "setup: apt-get could not install: ${missing[*]}" >&2
    exit 1
fi
