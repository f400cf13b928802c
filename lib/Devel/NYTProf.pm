# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf;

our $VERSION = '6.14';

# Under -d perl would compile the statements below for DB::DB to look at.
BEGIN { $^P &= ~0x02 if $^P }

# A debugger has to live here; perl would otherwise go looking for perl5db.pl.
package DB;

use Devel::NYTProf::Core;

package Devel::NYTProf;

# -d:NYTProf=file=x,calls=1 arrives as ('file=x', 'calls=1').
sub import {
    my (undef, @settings) = @_;
    Devel::NYTProf::Core::set_options(map { [split /=/, $_, 2] } @settings);
    Devel::NYTProf::Core::_start();
    return;
}

Devel::NYTProf::Core::_load();

1;
