/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names in Markdown (GitHub's, with tables), where many characters mean something.
 */
#ifndef NYTP_MARKDOWN_H
#define NYTP_MARKDOWN_H

#include "formats/model/model.h"
#include "out.h"

#include <string.h>

/* Comments on pull requests hold 64 kB. Who writes rows stops after so many bytes, which leaves
 * room for the end of the text. */
#define NYTP_MARKDOWN_ROOM 58000u

/* Put it as code; the first in a table, the second anywhere else, where a bar is one. */
void nytp_markdown_code(struct nytp_out *out, struct nytp_name text);
void nytp_markdown_code_in_text(struct nytp_out *out, struct nytp_name text);

/* Put it as text in which nothing is mark-up. */
void nytp_markdown_text(struct nytp_out *out, struct nytp_name text);

#endif
