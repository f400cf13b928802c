/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Style sheets and scripts that outputs carry with them. The build makes C arrays of them
 * (report/embed.c): report.css becomes nytp_report_css.
 */
#ifndef NYTP_ASSET_H
#define NYTP_ASSET_H

#include <stddef.h>

struct nytp_asset {
    const char *name;
    const unsigned char *bytes;
    size_t len;
    const char *sha256; /* of the bytes, in base64, as a page's content policy names a script */
};

extern const struct nytp_asset nytp_report_css, nytp_report_js, nytp_flame_picture_js;

#endif
