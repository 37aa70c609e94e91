# SPDX-License-Identifier: Apache-2.0
# Thin: the build is CMake (CMakePresets.json); this only names the common steps.
PREFIX ?= /usr/local
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

.PHONY: all setup demo test bench differential install asan tsan fuzz format clean
.DEFAULT_GOAL := all

define build
	@cmake --preset $(1) >/dev/null
	@cmake --build --preset $(1) -- --quiet | { grep -v 'no work to do' || true; }
endef

all:
	$(call build,release)

setup:
	@tools/setup.sh

demo: setup
	$(call build,release)
	@tools/demo.sh

test:
	@tools/setup.sh test
	@tools/test.sh

bench: setup
	$(call build,release)
	@cmake --build --preset release --target bench -- --quiet

install: all
	@cmake --install build/release --prefix $(PREFIX)

asan tsan: setup
	$(call build,$@)
	@ctest --test-dir build/$@ -L unit --output-on-failure

# Builds the fuzzers into build/fuzz/tests; run one as build/fuzz/tests/fuzz_NAME tests/fuzz/corpus/NAME
fuzz:
	@tools/setup.sh fuzz
	$(call build,fuzz)

# Everything that was recorded on a GPU, given by the simulator too: all random programs, all instruction forms
differential: setup
	$(call build,release)
	@build/release/tests/form_gpu sim
	@build/release/tests/random_gpu replay

format:
	@find src include lib tests bench \( -name "*.c" -o -name "*.h" \) -exec clang-format -i {} +

clean:
	@rm -rf build
