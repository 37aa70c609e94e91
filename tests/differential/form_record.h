// SPDX-License-Identifier: Apache-2.0
// What a GPU gave for the forms: forms.inc.
#ifndef WL_FORM_RECORD_H
#define WL_FORM_RECORD_H

#include "form.h"

typedef struct FormRecord {
    const char *mnemonic;
    u32 variant;
    u64 hash;  // form_hash; 0: not recorded, or an approximation whose bits are not followed
} FormRecord;

const FormRecord *form_record(const FormCase *form);  // NULL: no such form
u32 form_record_count(void);

#endif
