// SPDX-License-Identifier: Apache-2.0
// For tests of src/flow and of what uses it: FlowCode made by hand or at random, without PTX; machine code from lines.
#ifndef WL_FLOW_TESTING_H
#define WL_FLOW_TESTING_H

#include <stdio.h>
#include <string.h>

#include "base/testing.h"
#include "flow/flow.h"
#include "sass/sass.h"

enum { SKETCH_INSNS = 512, SKETCH_OPERANDS = 2048, SKETCH_TARGETS = 1024, SKETCH_VALUES = 64 };

typedef struct Sketch {
    FlowInsn insns[SKETCH_INSNS];
    FlowOperand operands[SKETCH_OPERANDS];
    u32 targets[SKETCH_TARGETS];
    u16 bits[SKETCH_VALUES];
    u32 insn_count, operand_count, target_count;
    FlowCode code;
} Sketch;

// Appends an instruction; its operands and targets are added right after it, definitions first.
static inline FlowInsn *sketch_insn(Sketch *s, FlowKind kind, u32 guard) {
    assert_true(s->insn_count < SKETCH_INSNS);
    FlowInsn *insn = &s->insns[s->insn_count++];
    *insn = (FlowInsn){.operands = s->operand_count,
                       .guard = guard,
                       .kind = (u8)kind,
                       .address_use = 0xff,
                       .address2_use = 0xff,
                       .targets = s->target_count,
                       .callee = WL_NONE};
    return insn;
}

static inline void sketch_operand(Sketch *s, FlowOperand operand, bool is_def) {
    FlowInsn *insn = &s->insns[s->insn_count - 1];
    assert_true(s->operand_count < SKETCH_OPERANDS);
    if (is_def)
        insn->defs++;
    else
        insn->uses++;
    s->operands[s->operand_count++] = operand;
}

static inline void sketch_def(Sketch *s, u32 value) {
    sketch_operand(s, (FlowOperand){.kind = FLOW_VALUE, .width = 32, .id = value}, true);
}

static inline void sketch_use(Sketch *s, u32 value) {
    sketch_operand(s, (FlowOperand){.kind = FLOW_VALUE, .width = 32, .id = value}, false);
}

static inline void sketch_immediate(Sketch *s, i64 value) {
    sketch_operand(s, (FlowOperand){.kind = FLOW_IMMEDIATE, .width = 32, .is_signed = true, .value = value}, false);
}

static inline void sketch_target(Sketch *s, u32 insn) {
    assert_true(s->target_count < SKETCH_TARGETS);
    s->insns[s->insn_count - 1].target_count++;
    s->targets[s->target_count++] = insn;
}

// The FlowCode over what was added so far.
static inline const FlowCode *sketch_code(Sketch *s, u32 values) {
    for (u32 i = 0; i < SKETCH_VALUES; i++) s->bits[i] = 32;
    s->code = (FlowCode){.func = WL_NONE,
                         .insns = s->insns,
                         .insn_count = s->insn_count,
                         .operands = s->operands,
                         .operand_count = s->operand_count,
                         .targets = s->targets,
                         .value_count = values,
                         .value_bits = s->bits,
                         .carry = WL_NONE,
                         .its = true};
    return &s->code;
}

// One instruction per block from "01 12 13 20": block 0 goes to 1, 1 to 2 and 3, 2 to 0 (letters or digits name blocks
// in order 0-9a-z). A block without successors returns; `*` after a block, as in "2*", makes it return as well by a
// guard (it then falls through to the next one).
static inline u32 sketch_name(char c) { return c <= '9' ? (u32)(c - '0') : (u32)(c - 'a') + 10; }

static inline const FlowCode *sketch_graph(Sketch *s, u32 blocks, const char *edges) {
    memset(s, 0, sizeof *s);
    for (u32 b = 0; b < blocks; b++) {
        FlowInsn *insn = sketch_insn(s, FLOW_RET, WL_NONE);
        for (const char *at = edges; *at;) {
            if (sketch_name(at[0]) == b) {
                if (at[1] == '*') {
                    insn->guard = 0;
                } else {
                    insn->kind = FLOW_SWITCH;
                    sketch_target(s, sketch_name(at[1]));
                }
            }
            at += at[2] ? 3 : 2;
        }
    }
    return sketch_code(s, 1);
}

// Function "f" of machine code from lines "predicate|opcode|operands", the last one NULL; each is 16 bytes.
static inline void sass_of_lines(SassModule *module, const char *const *lines) {
    char json[8192];
    size_t at = (size_t)snprintf(json, sizeof json,
                                 "[{\"SM\":{\"version\":{\"major\":9,\"minor\":0}}},[{\"function-name\":\"f\","
                                 "\"start\":0,\"sass-instructions\":[");
    for (u32 i = 0; lines[i]; i++) {
        const char *opcode = strchr(lines[i], '|') + 1, *operands = strchr(opcode, '|') + 1;
        at += (size_t)snprintf(json + at, sizeof json - at,
                               "%s{\"predicate\":\"%.*s\",\"opcode\":\"%.*s\",\"operands\":\"%s\"}", i ? "," : "",
                               (int)(opcode - lines[i] - 1), lines[i], (int)(operands - opcode - 1), opcode, operands);
    }
    snprintf(json + at, sizeof json - at, "]}]]");
    assert_int_equal(sass_read(module, (Str){json, strlen(json)}, "f", NULL), STATUS_OK);
}

typedef struct Random {
    u64 state;
} Random;

static inline u32 random_below(Random *random, u32 limit) {  // xorshift64*, Vigna 2016
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return (u32)((random->state * 0x2545F4914F6CDD1Dull >> 32) % limit);
}

static inline void random_control(Sketch *s, Random *random, u32 insns, u32 values) {
    u32 what = random_below(random, 16), guard = random_below(random, 3) ? random_below(random, values) : WL_NONE;
    static const u8 leaving[] = {FLOW_RET, FLOW_EXIT, FLOW_TRAP};
    if (what == 0) {
        sketch_insn(s, leaving[random_below(random, 3)], guard);
    } else if (what == 1) {
        sketch_insn(s, FLOW_SWITCH, guard);
        for (u32 i = random_below(random, 4); i-- > 0;) sketch_target(s, random_below(random, insns));
    } else if (what < 6) {
        sketch_insn(s, FLOW_BRANCH, random_below(random, 6) ? random_below(random, values) : WL_NONE);
        sketch_target(s, random_below(random, insns + 1));
    } else {
        sketch_insn(s, FLOW_PLAIN, random_below(random, 5) ? WL_NONE : guard);
    }
}

// A random program of `insns` instructions over `values` values.
static inline const FlowCode *random_code(Sketch *s, Random *random, u32 insns, u32 values) {
    memset(s, 0, sizeof *s);
    for (u32 i = 0; i < insns; i++) {
        random_control(s, random, insns, values);
        if (s->insns[i].kind == FLOW_PLAIN)
            for (u32 d = random_below(random, 3); d-- > 0;) sketch_def(s, random_below(random, values));
        for (u32 u = random_below(random, 3); u-- > 0;) sketch_use(s, random_below(random, values));
    }
    return sketch_code(s, values);
}

#endif
