// SPDX-License-Identifier: Apache-2.0
// What the parts of the generator share. All values live in a fixed pool of registers, each holding something defined
// at any time, so that every statement may be left out; what a statement needs for itself it takes as temporaries.
#ifndef WL_RANDOM_GEN_H
#define WL_RANDOM_GEN_H

#include "random_ptx.h"

typedef enum RandomClass { C16, C32, C64, CPRED, CLASS_COUNT } RandomClass;

enum { POOL_16 = 4, POOL_32 = 8, POOL_64 = 6, POOL_PRED = 4, POOL_UNIFORM = 3, LOCAL_BYTES = 64, MAX_FUNCS = 4 };

// Shared memory of a kernel, by offset.
enum {
    SHARED_EXCHANGE = 0,                               // 16 bytes a thread, exchanged between barriers
    SHARED_OWN = SHARED_EXCHANGE + 16 * RANDOM_BLOCK,  // 16 bytes that only one thread uses
    SHARED_ACC = SHARED_OWN + 16 * RANDOM_BLOCK,
    SHARED_BARRIER = SHARED_ACC + RANDOM_ACC,
    SHARED_BYTES = SHARED_BARRIER + 16,
};

typedef struct Name {
    char s[16];
} Name;

typedef struct Gen {
    RandomProgram *program;
    u64 state;
    char *text;
    size_t len, cap;
    bool failed;  // out of memory
    const RandomCut *cut;
    u32 statements;
    u32 temps[CLASS_COUNT], temps_max[CLASS_COUNT];
    u32 labels;
    u32 functions;  // those with a lower number can be called
    bool recursive[MAX_FUNCS];
} Gen;

// Where a statement stands.
typedef struct Scope {
    Name mask;        // register with the lanes of the warp that execute this
    bool warp;        // the mask is right: warp-wide instructions may stand here
    bool converged;   // all threads of the block execute this: barriers may stand here
    bool function;    // in a function: no shared memory, no exit
    bool may_exit;    // outside of all loops and branches of the kernel
    u32 depth;        // of nesting
    u32 weight;       // how often this may be executed, at most
    u32 break_label;  // WL_NONE: not in a loop that can be left
    bool *left;       // of that loop: some lanes left it elsewhere than at its end
} Scope;

// random_gen.c
u64 gen_random(Gen *g);
u32 gen_below(Gen *g, u32 n);
bool gen_chance(Gen *g, u32 percent);
void gen_emit(Gen *g, const char *format, ...) WL_PRINTF(2, 3);
Name gen_pool(Gen *g, RandomClass c);  // a register of the pool, any
Name gen_temp(Gen *g, RandomClass c);
u32 gen_label(Gen *g);
void gen_statements(Gen *g, Scope *scope, u32 count);
// One of the alternatives of each brace in a pattern: "{add,sub}.{u32,s32}".
void gen_expand(Gen *g, const char *pattern, char *text, size_t size);

// A function's text: registers, what `head` makes, the pool, `count` statements, what `tail` makes.
void gen_function_body(Gen *g, Scope *scope, u32 count, void (*head)(Gen *), void (*tail)(Gen *));

// random_ops.c: arithmetic on registers
void gen_operation(Gen *g, Scope *scope);
void gen_carry_chain(Gen *g);
void gen_move(Gen *g);
void gen_special(Gen *g);
void gen_uniform(Gen *g);

// random_memory.c
void gen_load_input(Gen *g, bool function);
void gen_local(Gen *g);
void gen_slot(Gen *g, bool function);
void gen_copy_async(Gen *g);
void gen_accumulate(Gen *g, const Scope *scope);
void gen_read_shared_acc(Gen *g);
void gen_exchange(Gen *g);
void gen_specialise(Gen *g);
void gen_barrier_reduce(Gen *g);
void gen_shared_init(Gen *g);

// random_warp.c
void gen_warp(Gen *g, const Scope *scope);

// random_flow.c
void gen_if(Gen *g, Scope *scope);
void gen_loop(Gen *g, Scope *scope);
void gen_switch(Gen *g, Scope *scope);
void gen_call(Gen *g, const Scope *scope);
void gen_break(Gen *g, Scope *scope);
void gen_exit(Gen *g, Scope *scope);
void gen_function(Gen *g, u32 index);
void gen_results(Gen *g);

#endif
