# SPDX-License-Identifier: Apache-2.0
# Compiler flags of every target.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

add_compile_definitions(_GNU_SOURCE WARPLENS_VERSION="${PROJECT_VERSION}")
add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
                    -Wno-missing-field-initializers)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
    add_compile_options(-Wno-initializer-overrides)
else()
    add_compile_options(-Wno-override-init)
endif()
if(WL_WERROR)
    add_compile_options(-Werror)
endif()

# One result on every machine: no fused multiply-add unless the code asks; no path of the build machine in a product.
add_compile_options(-ffp-contract=off -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)

if(WL_SANITIZE)
    # libFuzzer's own main belongs to the fuzzers only; everything else gets its instrumentation.
    string(REPLACE "fuzzer" "fuzzer-no-link" sanitize "${WL_SANITIZE}")
    add_compile_options(-fsanitize=${sanitize} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${sanitize})
endif()
