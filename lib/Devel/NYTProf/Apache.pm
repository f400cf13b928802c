# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Apache;

use strict;
use warnings;

our $VERSION = '6.14';

# The profiler reads its settings when it is loaded.
BEGIN {
    if (!defined $ENV{NYTPROF} || $ENV{NYTPROF} eq '') {
        $ENV{NYTPROF} = "file=/tmp/nytprof.$$.out";
        warn "NYTPROF is not set, so it defaults to $ENV{NYTPROF}\n";
    }
    # mod_perl runs END blocks late, and the server exits without them
    $ENV{NYTPROF} .= ':endatexit=1' if $ENV{NYTPROF} !~ /(?:\A|:)endatexit=/;
}

use Devel::NYTProf;

=head1 NAME

Devel::NYTProf::Apache - profile what runs in mod_perl

=head1 SYNOPSIS

    # in httpd.conf, before every other PerlModule:
    PerlPassEnv NYTPROF
    PerlModule Devel::NYTProf::Apache

=head1 DESCRIPTION

Loads the profiler into an Apache server with mod_perl 1 or 2, and ends each process's profile
with the process. By default profiles are F</tmp/nytprof.PID.out>, and F</tmp/nytprof.PID.out.PID>
of children; give all to L<nytp-export(1)>. Where others' files or links have these names, the
process id is appended once more.

Use C<MaxRequestsPerChild> or C<apachectl graceful-stop> so that children end. With a threaded MPM
(worker, event) each interpreter has a profile F</tmp/nytprof.PID.out.PID.tN>; see
L<Devel::NYTProf/THREADS>. Virtual hosts with a perl of their own (C<PerlOptions +Parent>) are not
supported.

=cut

sub child_init { return 0 }

# Ends the profile of a process, whose END blocks may never run.
sub child_exit {
    DB::finish_profile() if defined &DB::finish_profile;
    return 0;
}

# Both generations of mod_perl return 0 for "go on".
sub register {
    if (exists $ENV{MOD_PERL_API_VERSION} && $ENV{MOD_PERL_API_VERSION} >= 2) {
        require Apache2::ServerUtil;
        my $server = Apache2::ServerUtil->server;
        $server->push_handlers(PerlChildInitHandler => \&child_init);
        $server->push_handlers(PerlChildExitHandler => \&child_exit);
        return 2;
    }
    if ($ENV{MOD_PERL} || $INC{'Apache.pm'}) {
        require Apache;
        Apache->push_handlers(PerlChildInitHandler => \&child_init);
        Apache->push_handlers(PerlChildExitHandler => \&child_exit);
        return 1;
    }
    return 0;
}

warn "Devel::NYTProf::Apache: this is no mod_perl; only the profiler is loaded\n"
    if !register();

1;
