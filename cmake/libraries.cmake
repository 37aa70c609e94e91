# SPDX-License-Identifier: Apache-2.0
# What Warplens takes from the system, as one target.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(WL_SYSTEM REQUIRED IMPORTED_TARGET sqlite3 libzstd liblz4 libelf jansson)
if(WL_TESTS)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()

add_library(wl_system INTERFACE)
target_link_options(wl_system INTERFACE -Wl,--as-needed)
target_link_libraries(wl_system INTERFACE PkgConfig::WL_SYSTEM Threads::Threads iberty m ${CMAKE_DL_LIBS})  # libiberty has no .pc file
