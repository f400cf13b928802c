# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Core;

use strict;
# no warnings.pm: modules loaded here would be missing from the profile
use Devel::NYTProf::Object;

our $VERSION = '6.14';

# The object is loaded already if this file is loaded again. A program that replaces DB::set_option wants to see the
# options, not to record.
if (!defined &set_text) {
    defined &DB::set_option
        ? from_object('nytp_set_text', 'Devel::NYTProf::Core::set_text')
        : load_object();
}
set_text($ENV{NYTPROF}) if defined $ENV{NYTPROF};

# Does XSLoader's work. XSLoader itself would then be missing from the profile of a program that uses it. An object that
# is linked into perl is XSLoader's to find.
sub load_object {
    my $boot = from_object('boot_Devel__NYTProf', 'Devel::NYTProf::bootstrap');
    return &$boot('Devel::NYTProf', $VERSION) if $boot;
    return run_unprofiled() if Devel::NYTProf::Object::kinds();
    require XSLoader;
    return XSLoader::load('Devel::NYTProf', $VERSION);
}

# The program may be one that a recorded program has started, with another perl: it runs as without us. What it calls of
# the recorder does nothing.
sub run_unprofiled {
    print STDERR 'Devel::NYTProf: the program runs unprofiled: ', Devel::NYTProf::Object::missing(), "\n";
    $^P = 0;
    my @of_programs = ('label', map {"${_}_profile"} qw(enable disable finish checkpoint rotate label));
    my @of_modules  = map {"Core::$_"} qw(set_text set_list _load _start _write_marks);
    no strict 'refs';
    *{$_} = sub { return } for (map {"DB::$_"} @of_programs), map {"Devel::NYTProf::$_"} @of_modules, 'Startup::_watch', 'Startup::_stop';
    return;
}

# Makes a function of the object a sub. mod_perl unloads libperl before a restart, and the objects in DynaLoader's list.
# Elsewhere the object is not in that list: perl would still run our ops after unloading.
sub from_object {
    my ($function, $name) = @_;
    my $file = Devel::NYTProf::Object::find() // return;
    DynaLoader::boot_DynaLoader('DynaLoader') if !defined &DynaLoader::dl_error;
    my $library = DynaLoader::dl_load_file($file, 0)
        or die "Devel::NYTProf: cannot load $file: " . DynaLoader::dl_error() . "\n";
    push @DynaLoader::dl_librefs, $library if $ENV{MOD_PERL};
    my $symbol = DynaLoader::dl_find_symbol($library, $function)
        or die "Devel::NYTProf: $file is no Devel::NYTProf\n";
    return DynaLoader::dl_install_xsub($name, $symbol, $file);
}

1;

__END__

=head1 NAME

Devel::NYTProf::Core - load the shared object and hand it its options

=head1 DESCRIPTION

Not for direct use: see L<Devel::NYTProf>, and L<Devel::NYTProf::Data> for reading profiles.
Loading this module loads the shared object, unless C<DB::set_option> exists, and hands it the
options of C<$ENV{NYTPROF}>. It does not start profiling.

=head2 How a call is measured

The clock is read before the call. A destructor, the first thing in a Perl sub's scope, reads it
again, however the scope is left: return, die, last, exit, goto. An XS sub or builtin runs inside
perl's own handler; its destructor runs only if the call dies.

Times are points on one axis of 100 ns ticks, without the profiler's own writing and first looks
at files, subs and places. For every call

    inclusive = exclusive + sum of the inclusive times of the calls that it made

holds exactly. Recursive calls are accounted apart from the outermost one.

=head1 FUNCTIONS

    Devel::NYTProf::Core::set_text('file=a\:b:calls=1');     # as in the environment
    Devel::NYTProf::Core::set_list('file=a:b', 'calls=1');   # as behind -d:NYTProf=

=cut
