/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The only place where bytes of a profile become HTML, XML, a URL or JSON inside a script:
 * names and sources are whatever a program made them, markup and script included.
 *
 * Every function here treats text so:
 * - A byte that is no part of valid UTF-8 is taken for Latin-1.
 * - A control character (NUL too) is shown as its picture, U+2400 to U+2421; a tab stays.
 * - Characters that change how the rest of a line reads (bidirectional controls, C1 controls,
 *   line separators, noncharacters) are shown by number: <U+202E> in corner brackets.
 * So the result is valid UTF-8, one line, and safe where the function's comment says.
 */
#ifndef NYTP_HTML_H
#define NYTP_HTML_H

#include "out.h"

/* Put it as text of an element of HTML. Quotes and ">" stay as they are: they mean nothing
 * there, and source is full of "->". The functions below do the same for other places. */
void nytp_html_text(struct nytp_out *out, const char *text, size_t len);

/* As text of an element of XML, where "]]>" must not stand; of HTML, too. */
void nytp_xml_text(struct nytp_out *out, const char *text, size_t len);

/* As the value of an attribute in quotes of either kind. */
void nytp_html_attribute(struct nytp_out *out, const char *text, size_t len);

/* nytp_xml_text() of a NUL-terminated text. */
void nytp_html_puts(struct nytp_out *out, const char *text);

/* Percent-encoded, as one segment of a relative URL or as a fragment, and so as an id without
 * blanks: all but letters, digits and "-._~()[]@!,;" is encoded byte by byte, "/" and ":" too,
 * so that no name can become a scheme or leave the folder. Nothing is made visible here: the
 * bytes are the file's name. */
void nytp_html_url(struct nytp_out *out, const char *text, size_t len);

/* As an id, and as a fragment that leads to it: ":" stays, too. */
void nytp_html_id(struct nytp_out *out, const char *text, size_t len);

/* The path of a file: URL: as nytp_html_url(), but "/" stays. */
void nytp_html_url_path(struct nytp_out *out, const char *text, size_t len);

/* A quoted string of JSON that may also stand inside <script>. */
void nytp_html_json(struct nytp_out *out, const char *text, size_t len);

#endif
