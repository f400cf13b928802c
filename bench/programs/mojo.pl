# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Requests to the Mojolicious application of MojoApplication.pm, all in this process.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/..";
use MojoApplication;

for (1 .. 150) {
    request(GET => '/');
    request(GET => "/row/$_");
    request(POST => '/form', "name=n$_&other=x");
}
