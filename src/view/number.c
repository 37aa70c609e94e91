// SPDX-License-Identifier: Apache-2.0
#include "view/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_NS 1e20  // 3,000 years: a damaged profile

static NumberText print(const char *format, int digits, f64 value, const char *suffix) {
    NumberText number;
    snprintf(number.text, sizeof number.text, format, digits, value, suffix);
    char *comma = strchr(number.text, ',');  // the decimal point of some locales
    if (comma) *comma = '.';
    return number;
}

NumberText number_exact(f64 value) {
    if (!isfinite(value)) return (NumberText){""};
    if (value == trunc(value) && fabs(value) < 1e15) return print("%.*f%s", 0, value, "");
    return print("%.*g%s", 15, value, "");
}

NumberText number_fixed(f64 value, u32 digits) { return print("%.*f%s", (int)digits, value, ""); }

// Three significant digits with the largest unit that leaves at least 1.
static NumberText scaled(f64 value, f64 step, const char *const *units, u32 count) {
    u32 unit = 0;
    while (unit + 1 < count && fabs(value) >= step * 0.9995) {
        value /= step;
        unit++;
    }
    int digits = unit == 0 ? 0 : fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
    return print("%.*f%s", digits, value, units[unit]);
}

NumberText number_human(f64 value) {
    static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
    if (fabs(value) >= 9999.5) return scaled(value, 1000, units, WL_COUNT(units));
    return print("%.*f%s", value == trunc(value) ? 0 : 1, value, "");
}

NumberText number_time(f64 ns) {
    static const char *const units[] = {" ns", " us", " ms", " s"};
    return isfinite(ns) && fabs(ns) < MOST_NS ? scaled(ns, 1000, units, WL_COUNT(units)) : (NumberText){"-"};
}

NumberText number_bytes(u64 bytes) {
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    return scaled((f64)bytes, 1024, units, WL_COUNT(units));
}
