# SPDX-License-Identifier: Apache-2.0
# cmake -DFROM=file -DTO=file.inc -P embed.cmake: the bytes of FROM as "0x12,0x34,..." with a closing NUL.
file(READ "${FROM}" hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
file(WRITE "${TO}" "${hex}0x00\n")
