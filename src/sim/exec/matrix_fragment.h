// SPDX-License-Identifier: Apache-2.0
// Fragments in the registers of a warp from and to the panels and tiles that matrix_sum.h works on.
#ifndef WL_SIM_EXEC_MATRIX_FRAGMENT_H
#define WL_SIM_EXEC_MATRIX_FRAGMENT_H

#include "sim/exec/matrix.h"
#include "sim/exec/matrix_sum.h"

#define matrix_gather_panel SIM_ISA_NAME(matrix_gather_panel)
#define matrix_expand SIM_ISA_NAME(matrix_expand)
#define matrix_gather_sums SIM_ISA_NAME(matrix_gather_sums)
#define matrix_scatter_sums SIM_ISA_NAME(matrix_scatter_sums)

// Registers of the fragment of a matrix with `elements` in all.
static inline u32 matrix_register_count(u32 elements, u8 type) { return elements / LANES / matrix_elements(type); }

// A, or B by columns, from `count` registers.
void matrix_gather_panel(const Exec *x, const SimOperand *regs, u32 count, MatrixShape s, MatrixRole role, u8 type,
                         Panel *panel);
// From the stored half of a sparse A to all of it: 16 rows, `k` elements each after expansion. `metadata`: a register
// of each lane; `present`: by row, the k that are stored. False with a fault: the shape has no such selector, which is
// an illegal instruction.
bool matrix_expand(Exec *x, const u32 *metadata, u32 selector, u8 type, u32 k, const Panel *stored, Panel *a,
                   u64 *present);
// C: a tile for each eight columns.
void matrix_gather_sums(const Exec *x, const SimOperand *regs, u32 count, MatrixShape s, u8 type, MatrixTile *tiles);
void matrix_scatter_sums(const Exec *x, const SimOperand *regs, u32 count, MatrixShape s, u8 type,
                         const MatrixTile *tiles, u32 mask);

#endif
