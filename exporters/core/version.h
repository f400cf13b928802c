/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The version of the plain-C half.
 */
#ifndef NYTP_VERSION_H
#define NYTP_VERSION_H

#define NYTP_VERSION "0.1.0"

#endif
