// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "binary/demangle.h"

u32 terminal_width(void) {
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) return size.ws_col;
    const char *columns = getenv("COLUMNS");
    return columns ? (u32)strtoul(columns, NULL, 10) : 0;
}

bool terminal_is_utf8(void) {
    setlocale(LC_CTYPE, "");
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    setlocale(LC_CTYPE, "C");
    return utf8;
}

bool terminal_has_colors(void) {
    const char *terminal = getenv("TERM"), *no_color = getenv("NO_COLOR");  // https://no-color.org: set and not empty
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && terminal && strcmp(terminal, "dumb");
}

const char *terminal_demangle(void *context, const char *mangled) {
    char **last = context;
    mem_free(*last);
    *last = demangle_name(mangled);
    return *last ? *last : mangled;
}
