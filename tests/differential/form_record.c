// SPDX-License-Identifier: Apache-2.0
#include "form_record.h"

#include <stdlib.h>
#include <string.h>

static const FormRecord records[] = {
#include "forms.inc"
};
enum { BUCKETS = 1 << 15 };
static u32 heads[BUCKETS], nexts[WL_COUNT(records)];  // index + 1
static bool ready;

static u32 bucket(const char *mnemonic, u32 variant) {
    u32 h = 2166136261u + variant;
    for (const char *p = mnemonic; *p; p++) h = (h ^ (u8)*p) * 16777619u;
    return (h ^ h >> 15) % BUCKETS;
}
static void index_records(void) {
    for (u32 i = 0; i < WL_COUNT(records); i++) {
        u32 b = bucket(records[i].mnemonic, records[i].variant);
        nexts[i] = heads[b], heads[b] = i + 1;
    }
    ready = true;
}
const FormRecord *form_record(const FormCase *form) {
    if (!ready) index_records();
    for (u32 i = heads[bucket(form->mnemonic, form->variant)]; i; i = nexts[i - 1])
        if (records[i - 1].variant == form->variant && !strcmp(records[i - 1].mnemonic, form->mnemonic))
            return &records[i - 1];
    return NULL;
}
u32 form_record_count(void) { return WL_COUNT(records); }
