// SPDX-License-Identifier: Apache-2.0
#include "flow/affine_poly.h"

static i64 wrap_add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
static i64 wrap_multiply(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }

Poly poly_constant(i64 value) { return (Poly){.constant = value}; }

Poly poly_factor(u32 factor) {
    return (Poly){.count = 1, .terms = {{.coefficient = 1, .factors = {factor, WL_NONE, WL_NONE}}}};
}

u32 term_degree(const AffineTerm *term) {
    u32 degree = 0;
    while (degree < AFFINE_DEGREE && term->factors[degree] != WL_NONE) degree++;
    return degree;
}

static int compare_terms(const AffineTerm *a, const AffineTerm *b) {
    for (u32 i = 0; i < AFFINE_DEGREE; i++)
        if (a->factors[i] != b->factors[i]) return a->factors[i] < b->factors[i] ? -1 : 1;
    return 0;
}

static bool add_term(Poly *poly, const AffineTerm *term) {
    u32 at = 0;
    while (at < poly->count && compare_terms(&poly->terms[at], term) < 0) at++;
    if (at < poly->count && compare_terms(&poly->terms[at], term) == 0) {
        i64 sum = wrap_add(poly->terms[at].coefficient, term->coefficient);
        poly->terms[at].coefficient = sum;
        if (sum != 0) return true;
        poly->count--;
        for (; at < poly->count; at++) poly->terms[at] = poly->terms[at + 1];
        return true;
    }
    if (term->coefficient == 0) return true;
    if (poly->count == AFFINE_TERMS) return false;
    for (u32 i = poly->count++; i > at; i--) poly->terms[i] = poly->terms[i - 1];
    poly->terms[at] = *term;
    return true;
}

bool poly_add(Poly *to, const Poly *from, i64 scale) {
    to->constant = wrap_add(to->constant, wrap_multiply(from->constant, scale));
    for (u32 i = 0; i < from->count; i++) {
        AffineTerm term = from->terms[i];
        term.coefficient = wrap_multiply(term.coefficient, scale);
        if (!add_term(to, &term)) return false;
    }
    return true;
}

static bool multiply_terms(const AffineTerm *a, const AffineTerm *b, AffineTerm *result) {
    u32 m = term_degree(a), n = term_degree(b);
    if (m + n > AFFINE_DEGREE) return false;
    result->coefficient = wrap_multiply(a->coefficient, b->coefficient);
    for (u32 i = 0, x = 0, y = 0; i < AFFINE_DEGREE; i++) {
        if (x < m && (y == n || a->factors[x] <= b->factors[y]))
            result->factors[i] = a->factors[x++];
        else
            result->factors[i] = y < n ? b->factors[y++] : WL_NONE;
    }
    return true;
}

bool poly_multiply(const Poly *a, const Poly *b, Poly *result) {
    *result = poly_constant(0);
    if (!poly_add(result, b, a->constant)) return false;
    for (u32 i = 0; i < a->count; i++) {
        AffineTerm term = a->terms[i];
        term.coefficient = wrap_multiply(term.coefficient, b->constant);
        if (!add_term(result, &term)) return false;
        for (u32 k = 0; k < b->count; k++)
            if (!multiply_terms(&a->terms[i], &b->terms[k], &term) || !add_term(result, &term)) return false;
    }
    return true;
}

void poly_scale(Poly *poly, i64 scale) {
    Poly scaled = poly_constant(0);
    (void)poly_add(&scaled, poly, scale);  // never more terms than before
    *poly = scaled;
}

bool poly_equal(const Poly *a, const Poly *b) {
    if (a->constant != b->constant || a->count != b->count) return false;
    for (u32 i = 0; i < a->count; i++)
        if (compare_terms(&a->terms[i], &b->terms[i]) != 0 || a->terms[i].coefficient != b->terms[i].coefficient)
            return false;
    return true;
}
