/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Attributes that other recorders do not have. They are comments, since programs print all
 * attributes that they find and skip comments (nytprof-v5.md, "Records"):
 *
 *     #nytp-attribute KEY=VALUE
 */
#ifndef NYTP_ATTRIBUTE_RECORDS_H
#define NYTP_ATTRIBUTE_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_ATTRIBUTE_HEAD "nytp-attribute"

/* Reads the ATTRIBUTE event from a comment. Its texts point into the comment. Returns false,
 * with `attribute` untouched, for any other comment. */
bool nytp_attribute_record_read(const struct nytp_event *comment, struct nytp_event *attribute);

#endif
