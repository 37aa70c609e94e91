// SPDX-License-Identifier: Apache-2.0
// Lowering: a kernel and the functions it can reach, from PTX to a SimProgram. Shared by the lower_*.c files.
#ifndef WL_SIM_LOWER_H
#define WL_SIM_LOWER_H

#include "base/bitset.h"
#include "flow/liveness.h"
#include "sim/machine.h"

typedef Vec(SimInsn) InsnVec;
typedef Vec(u32) U32Vec;
typedef Vec(SimCall) CallVec;
typedef Vec(SimArg) ArgVec;
typedef Vec(u8) ByteVec;
typedef Vec(FuncRef) FuncVec;

typedef struct Lower {
    SimModule *sim_module;
    const Module *m;
    const Function *func;  // being lowered
    FuncRef func_ref;
    SimFunc *out;  // its frame
    SimProgram *program;
    Diag *diag;
    Arena scratch;
    InsnVec insns;
    U32Vec lists;
    CallVec calls;
    ArgVec args;
    ByteVec c32, c64;
    Map const32, const64;  // value -> offset
    FuncVec work;          // functions of the program, in order of discovery
    u32 *reg_slot;         // RegRef - func->regs -> byte offset in its area, or predicate slot
    Bitset read;           // registers of the function that some instruction reads
    u32 *var_offset;     // VarRef -> offset: of shared variables, locals and params in their frame, entry params in the
                         // block
    u32 *contracted;     // sum -> the product that it takes, times two, plus which of its sources that is; WL_NONE
    u32 *formal_offset;  // scratch of lower_call: param_layout of the callee
    const ExecSelect *table;
    const Insn *insn;  // being lowered
    bool indirect;     // an indirect call was seen
    bool failed;       // at least one instruction cannot be executed
    Status status;     // out of memory
} Lower;

static inline u32 align_up(u32 value, u32 align) { return align ? (value + align - 1) / align * align : value; }

// lower_operand.c
SimOperand lower_reg(Lower *lo, const Operand *o, u32 *bits);
SimOperand lower_const(Lower *lo, u64 value, u32 bits);
SimOperand lower_source(Lower *lo, const Operand *o, u8 type, u32 *bits);
u64 lower_var_value(Lower *lo, const Operand *o);  // a variable's address, or its place in the frame
u32 lower_pred(Lower *lo, const Operand *o);
void lower_address(Lower *lo, const Operand *o, SimInsn *in, u32 src);
void lower_list_add(Lower *lo, SimInsn *in, const Operand *o, u8 type);
u32 param_layout(const Module *m, const Function *f,
                 u32 *offsets);  // offsets by VarRef; returns and params; frame bytes used
void layout_shared(Lower *lo);

// lower_contract.c
Status lower_contract(Lower *lo, const Liveness *live);  // fills `contracted` for the function
ExecFn lower_contracted(Lower *lo, SimInsn *in, ExecShape *shape);

// lower_frame.c
Status lower_registers(Lower *lo, const Liveness *live);
void lower_locals(Lower *lo);

// lower_call.c
bool lower_call(Lower *lo, SimInsn *in);

void lower_refuse(Lower *lo, const char *why);  // reports the current instruction by name and place
u32 lower_push(Lower *lo, U32Vec *vec, u32 value);

#endif
