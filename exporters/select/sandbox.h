/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Web frameworks load an application's file into a package of its own, whose name holds a hash
 * of the file's path, or the path: "Mojo::Server::Sandbox::34a6...::index",
 * "Plack::Sandbox::_2fx_2fapp_2epsgi::index". Both are "app.pl::index" after this.
 */
#ifndef NYTP_SANDBOX_H
#define NYTP_SANDBOX_H

#include "formats/model/label_sums.h"
#include "formats/model/model.h"

/* False with *error set (memory); the profile is then only good for nytp_profile_free(). */
bool nytp_name_sandboxes(struct nytp_profile *profile, struct nytp_error *error);

/* nytp_label_sums_rows() with such names. */
struct nytp_label_row *nytp_label_rows_named(struct nytp_label_sums *sums, uint32_t *n_rows);

#endif
