/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Takes the facts of a stream that are no execution: settings, the recorder's comments, places
 * of subs, source text. Private to the files that fill a builder (builder.h).
 */
#ifndef NYTP_BUILDER_FACTS_H
#define NYTP_BUILDER_FACTS_H

#include "builder_state.h"

/* Take in an event of one of these tags; any other changes nothing. False with the builder's
 * error set: memory or a limit is out.
 *
 * ATTRIBUTE, OPTION: kept as strings, of each key the last value, the first 1000 keys of each
 * kind. The attributes ticks_per_sec, sampled, thread and parent_thread, and the option calls,
 * also say how what follows is to be read.
 *
 * COMMENT: about the open process, passed over where none is. It tells a sample's processor
 * time (sample_records.h), costs of recording (cost_records.h), labels (label_records.h), what
 * regular expressions took (regex_records.h), names of calls that are open and calls that are
 * none (open_calls.h). Other comments are passed over.
 *
 * SUB_INFO: a range of lines of a sub; a sub may have several.
 */
bool nytp_builder_fact(struct nytp_builder *builder, const struct nytp_event *e);

/* SRC_LINE: the text of a line, copied if the options ask for sources. There may be as many of
 * them as there are statements, so they come here directly. False with the builder's error set:
 * memory is out. */
bool nytp_builder_source_line(struct nytp_builder *builder, const struct nytp_event *e);

#endif
