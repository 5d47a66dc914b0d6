/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of a report page: one file, no network, no script; light and dark; a grid of cards that becomes one
 * column on a phone.
 */
#ifndef FTH_REPORT_PAGE_H
#define FTH_REPORT_PAGE_H

#include "base/base.h"

void fth_page_begin(struct fth_str *out, const char *title);
/* Ends with who made it; version and command may be NULL. */
void fth_page_end(struct fth_str *out, const char *version, const char *command);

#endif
