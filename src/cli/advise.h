// SPDX-License-Identifier: Apache-2.0
// Advice as `warplens advise` and the end of `warplens run` make it.
#ifndef WL_CLI_ADVISE_H
#define WL_CLI_ADVISE_H

#include "view/advice/advice_report.h"

// Opens the profile, makes the advice and writes it. `exporter` NULL: in brief, each line beginning "warplens: ".
WL_MUST_USE Status advise_profile(const char *path, const AdviceOptions *options, const AdviceExporter *exporter,
                                  const AdviceReportOptions *report, Output *out, Diag *diag);

// Opens the profile, makes the advice and gives both to `use`.
typedef Status AdviseUse(Profile *profile, const AdviceList *list, void *context, Diag *diag);
WL_MUST_USE Status advise_each(const char *path, AdviseUse *use, void *context, Diag *diag);

// The end of `warplens run`: the best advice in a few lines on stderr, and how to see more. In a process of its own
// with a limit of some seconds, so that it cannot take the run down; says nothing where there is no advice. `kept`: the
// profile stays, so that more can be seen of it.
void advise_briefly(const char *path, bool kept);

#endif
