// SPDX-License-Identifier: Apache-2.0
// Names of kernels in a limited width.
#ifndef WL_VIEW_SHORT_NAME_H
#define WL_VIEW_SHORT_NAME_H

#include "base/arena.h"

// `name`, a C++ name without return type and parameters, in at most `most` columns (12 or more). What goes first are
// template arguments, then inner namespaces, then the outer one, since the function's own name tells most:
// "cub::detail::Kernel<int>", "cub::detail::Kernel<..>", "cub::..::Kernel<..>", "Kernel<..>", "Ker..nel<..>". The
// beginning of the function's arguments is kept where there is room: "at::Kernel<4, at::Functor<flo..>".
// NULL when memory is out.
const char *short_name(Arena *arena, const char *name, u32 most);

// ... of a name of which short_name() leaves the same as of `other`, which is another: with the first word of the
// template arguments in which they differ, "launch_box<..merge_path..>", if there is one.
const char *short_name_apart(Arena *arena, const char *name, const char *other, u32 most);

#endif
