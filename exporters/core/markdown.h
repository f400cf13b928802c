/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names in Markdown (GitHub's, with tables), where many characters mean something.
 */
#ifndef NYTP_MARKDOWN_H
#define NYTP_MARKDOWN_H

#include "../../formats/core/model.h"
#include "out.h"

#include <string.h>

/* Comments on pull requests hold 64 kB; rows stop here and leave room for the end. */
#define NYTP_MARKDOWN_ROOM 58000u

/* As code, within a table or without. */
void nytp_markdown_code(struct nytp_out *out, struct nytp_name text);

/* As text in which nothing is mark-up. */
void nytp_markdown_text(struct nytp_out *out, struct nytp_name text);

#endif
