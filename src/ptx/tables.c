// SPDX-License-Identifier: Apache-2.0
#include "ptx/ops.h"

const TypeInfo ptx_types[TYPE_COUNT] = {
#define TYPE(name, text, bits, class, elements) [TYPE_##name] = {text, bits, TYPE_CLASS_##class, elements},
#include "ptx/types.def"
#undef TYPE
};

const SregInfo ptx_sregs[SREG_COUNT] = {
#define SREG(name, text, type, vector, divergence, isa) \
    [SREG_##name] = {text, TYPE_##type, vector, DIV_##divergence, isa},
#include "ptx/sregs.def"
#undef SREG
};

const OpInfo ptx_ops[OP_COUNT] = {
#define OP(id, name, mods, sig, flags, unit, div, exec, isa, sm) \
    [OP_##id] = {name, mods, sig, flags, UNIT_##unit, DIV_##div, isa, sm, __builtin_strcmp(#exec, "none") != 0},
#include "ptx/ops.def"
#undef OP
};

const ModInfo ptx_mods[MOD_TOKEN_COUNT] = {
#define MOD_CLASS(name)
#define MOD(class, token, text) [class##_##token] = {text, MOD_##class},
#include "ptx/mods.def"
#undef MOD_CLASS
#undef MOD
};
