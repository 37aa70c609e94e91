// SPDX-License-Identifier: Apache-2.0
// Random PTX kernels with a defined result: no data race, no unspecified value, only exact operations. The same seed
// gives the same text for ever (recorded results depend on it): RANDOM_VERSION says which generation of the texts.
// Needs nothing but C, so that it also runs where a GPU is.
#ifndef WL_RANDOM_PTX_H
#define WL_RANDOM_PTX_H

#include "base/types.h"

enum {
    RANDOM_VERSION = 1,
    RANDOM_INPUT = 8192,    // bytes that a kernel reads
    RANDOM_ACC = 2048,      // bytes of accumulators, changed by atomics of all threads
    RANDOM_SLOT = 64,       // bytes of global memory that only one thread uses
    RANDOM_ROW = 16,        // 64-bit words of results of a thread
    RANDOM_THREADS = 1024,  // a launch has no more
    RANDOM_BLOCK = 512,     // a block has no more
    RANDOM_NAME = 32,
};

// Statements left out, by number; for shrinking a program. NULL mask: none.
typedef struct RandomCut {
    const u8 *mask;
    u32 count;
} RandomCut;

typedef struct RandomProgram {
    u64 seed;
    char name[RANDOM_NAME];  // of the kernel
    u32 grid[3], block[3];
    u32 threads;     // of the launch
    u32 statements;  // numbered from 0, in the order of the text
    char *text;      // functions and kernel, without a module's head; NUL-terminated, of malloc
    size_t size;
} RandomProgram;

// The parameters of every kernel, in order: four addresses, then values made from the seed.
typedef struct RandomParams {
    u64 input, acc, slots, out;
    u8 p8;
    u16 p16;
    u32 p32;
    u64 p64;
    u8 bytes[16];
} RandomParams;

extern const char random_head[];  // .version and .target: once in a module

bool random_program(u64 seed, const RandomCut *cut, RandomProgram *program);  // false: out of memory
void random_free(RandomProgram *program);

// Fills a launch's input, accumulators and slots (RANDOM_SLOT bytes a thread) and the values of its parameters.
void random_data(const RandomProgram *program, u8 *input, u8 *acc, u8 *slots, RandomParams *params);

// One number for what a launch left behind.
u64 random_hash(const RandomProgram *program, const u8 *acc, const u8 *slots, const u64 *out);

#endif
