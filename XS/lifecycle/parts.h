/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table of the recorder's parts (XS/state/parts.def), and the room of their structs. All
 * that calls the hooks is below the parts that have them, and reaches them by nytp_parts_do()
 * (XS/state/state.h).
 */
#ifndef NYTP_PARTS_H
#define NYTP_PARTS_H

/* Call it when the library is loaded. */
void nytp_parts_begin(void);

#endif
