// SPDX-License-Identifier: Apache-2.0
#include "sass/control.h"

enum { FIELD = 105, FIELD_BITS = 21 };  // stall 4, yield 1, write 3, read 3, wait 6, reuse 4

static u64 high_word(const u8 *insn) {
    u64 word = 0;
    for (u32 i = 0; i < 8; i++) word |= (u64)insn[8 + i] << (8 * i);
    return word;
}

SassControl sass_control(const u8 insn[SASS_INSN_BYTES]) {
    u32 bits = (u32)(high_word(insn) >> (FIELD - 64));
    return (SassControl){
        .stall = bits & 15,
        .yield = !(bits >> 4 & 1),
        .write_barrier = bits >> 5 & 7,
        .read_barrier = bits >> 8 & 7,
        .wait_mask = bits >> 11 & 63,
        .reuse = bits >> 17 & 15,
    };
}

void sass_set_control(u8 insn[SASS_INSN_BYTES], SassControl control) {
    u64 bits = (control.stall & 15u) | (u64)!control.yield << 4 | (control.write_barrier & 7u) << 5 |
               (control.read_barrier & 7u) << 8 | (control.wait_mask & 63u) << 11 | (control.reuse & 15u) << 17;
    u64 mask = ((1ull << FIELD_BITS) - 1) << (FIELD - 64);
    u64 word = (high_word(insn) & ~mask) | bits << (FIELD - 64);
    for (u32 i = 0; i < 8; i++) insn[8 + i] = (u8)(word >> (8 * i));
}
