/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Attributes that other recorders do not have, as comments in the stream, which other readers
 * of the format pass over (nytprof-v5.md, "Records"): programs print all attributes that they
 * find.
 *
 *     #nytp-attribute KEY=VALUE
 */
#ifndef NYTP_ATTRIBUTE_RECORDS_H
#define NYTP_ATTRIBUTE_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_ATTRIBUTE_HEAD "nytp-attribute "

/* Read a comment as the ATTRIBUTE event that it stands for. Texts of the event lie in the
 * comment's. False, and `attribute` is as it was, when it is some other comment. */
bool nytp_attribute_record_read(const struct nytp_event *comment, struct nytp_event *attribute);

#endif
