// SPDX-License-Identifier: Apache-2.0
// Arithmetic of small polynomials with wrapping 64-bit coefficients, for affine.c. Values, no memory.
#ifndef WL_FLOW_AFFINE_POLY_H
#define WL_FLOW_AFFINE_POLY_H

#include "flow/affine.h"

typedef struct Poly {
    i64 constant;
    u32 count;
    AffineTerm terms[AFFINE_TERMS];  // ascending by factors, no coefficient zero
} Poly;

Poly poly_constant(i64 value);
Poly poly_factor(u32 factor);
// These return false when the result has too many terms or factors; it is then unspecified.
bool poly_add(Poly *to, const Poly *from, i64 scale);  // to += scale * from
bool poly_multiply(const Poly *a, const Poly *b, Poly *result);
void poly_scale(Poly *poly, i64 scale);
bool poly_equal(const Poly *a, const Poly *b);
u32 term_degree(const AffineTerm *term);

#endif
