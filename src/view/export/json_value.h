// SPDX-License-Identifier: Apache-2.0
// What JSON documents are made with: jansson values whose texts are valid UTF-8 and whose numbers are finite.
#ifndef WL_VIEW_EXPORT_JSON_VALUE_H
#define WL_VIEW_EXPORT_JSON_VALUE_H

#include <jansson.h>

#include "base/arena.h"
#include "base/diag.h"
#include "view/output.h"

typedef struct Json {
    Output *out;
    Arena scratch;  // texts of one value
    Diag *diag;
} Json;

json_t *json_text(Json *json, const char *value);  // NULL becomes null
// Whole numbers as integers, as far as a double holds them exactly; null for NaN and infinity.
json_t *json_figure(f64 value);
json_t *json_count(u64 value);
// Writes and frees `value`; `open` leaves out the last bracket so that more members can follow.
void json_write(Json *json, json_t *value, bool open);

#endif
