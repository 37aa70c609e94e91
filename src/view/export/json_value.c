// SPDX-License-Identifier: Apache-2.0
#include "view/export/json_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"

json_t *json_text(Json *json, const char *value) {
    if (!value) return json_null();
    const char *clean = utf8_clean(&json->scratch, (Str){value, strlen(value)}, false);
    if (!clean) json->out->status = STATUS_NO_MEMORY;
    return json_string(clean);
}

json_t *json_figure(f64 value) {
    if (!isfinite(value)) return json_null();
    bool whole = value == trunc(value) && fabs(value) <= 9007199254740992.0;
    return whole ? json_integer((json_int_t)value) : json_real(value);
}

json_t *json_count(u64 value) { return json_integer((json_int_t)value); }

void json_write(Json *json, json_t *value, bool open) {
    char *dumped = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (dumped) {
        output_bytes(json->out, dumped, strlen(dumped) - open);
    } else {
        json->out->status = STATUS_NO_MEMORY;
    }
    free(dumped);
    json_decref(value);
    arena_reset(&json->scratch);
}
