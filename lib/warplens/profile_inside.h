// SPDX-License-Identifier: Apache-2.0
// A WlProfile as the other parts of the library see it.
#ifndef WL_LIB_PROFILE_INSIDE_H
#define WL_LIB_PROFILE_INSIDE_H

#include "store/store.h"
#include "warplens/profile.h"

#define PUBLIC __attribute__((visibility("default")))

struct WlProfile {
    Profile *profile;
    Diag diag;
    ProfileSummary summary;
    const ProfileFunction *functions;
    u32 count;
    char error[1024];
};

// The last entry of the profile's diag, or the status in words.
void profile_keep_error(WlProfile *p, Status status);

#endif
