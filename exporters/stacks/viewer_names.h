/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Names as a viewer may see them: one line of printable text, not taken for the format's own
 * syntax, and different for different subs. Shared by the formats whose viewers tell functions
 * apart by their name.
 *
 * Escaping: a control character, a leading blank (viewers skip it), a leading "(" before a
 * digit (callgrind's name ids), the first character of a whole name "???" (callgrind's
 * "unknown"), and a backslash that could be taken for one of these escapes, become \xHH.
 * Undoing every \xHH gives the recorded name back, so two names never become one. All else
 * stays as it is, a trailing blank too: Try::Tiny's names have one.
 *
 * Two subs of one name in files of different names (merged recordings, string evals) get
 * their file appended, "main::work [/x/a.pl]".
 */
#ifndef NYTP_VIEWER_NAMES_H
#define NYTP_VIEWER_NAMES_H

#include "formats/model/model.h"

struct nytp_viewer_names {
    struct nytp_name *subs;         /* by sub index; never empty */
    struct nytp_name *files;        /* by file index; [0] is empty */
    struct nytp_viewer_text *texts; /* owns what is not borrowed from the profile */
};

/* The file that a sub is in. 0 for xsubs and opcodes: recordings list them under some file that
 * uses them, where a source view would look for them in vain. */
static inline uint32_t nytp_sub_file(const struct nytp_profile *profile, uint32_t sub)
{
    const struct nytp_sub *s = &profile->subs[sub];
    return s->kind == NYTP_SUB_XSUB || s->kind == NYTP_SUB_OPCODE ? 0 : s->file;
}

/* The file of a line of a sub: its own where the recording does not tell. */
static inline uint32_t nytp_line_file(const struct nytp_profile *profile, uint32_t sub,
                                      uint32_t file, uint32_t line)
{
    const bool own = file == 0 || (line == 0 && file == profile->subs[sub].file);
    return own ? nytp_sub_file(profile, sub) : file;
}

/* The profile must outlive the names. Returns NULL if memory is out. */
struct nytp_viewer_names *nytp_viewer_names_new(const struct nytp_profile *profile);
void nytp_viewer_names_free(struct nytp_viewer_names *names);

/* Any other text, escaped; lives as long as the names. Returns false if memory is out. */
bool nytp_viewer_names_escape(struct nytp_viewer_names *names, struct nytp_name name,
                              struct nytp_name *escaped);

#endif
