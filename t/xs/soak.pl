#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A program that loads, evals, dies, forks, execs, exits and frees code without end: what a tick
# finds is gone a moment later. For as many seconds as it is told; prints "soaked".
#
#     NYTPROF=sample=10000:sample_budget=0 t/sanitized perl -d:NYTProf t/xs/soak.pl 600
use strict;
use warnings;
no warnings qw(recursion redefine);

use Time::HiRes ();

my $seconds = shift // 2;
my $until = Time::HiRes::time() + $seconds;
$SIG{__WARN__} = sub { };
my ($round, $kept) = (0, 0);

sub deep { my ($n) = @_; return $n < 1 ? 0 : 1 + deep($n - 1) }
sub tail { return scalar(() = $_[0] =~ /w(o)rd(\d+)/g) }
sub outer { tail(@_) }
sub lists { my @s = sort { $a % 100 <=> $b % 100 } map { ($_ * 7919) % 1009 } 1 .. 400; return grep { $_ & 1 } @s }
sub by_number { $a <=> $b }

package Tied { sub TIESCALAR { bless [] } sub FETCH { my $n = 0; $n += $_ for 1 .. 40; $n } }
package Gone { sub new { bless {} } sub DESTROY { my $n = 0; $n += $_ for 1 .. 60 } }
package Auto { our $AUTOLOAD; sub AUTOLOAD { my $n = $AUTOLOAD =~ s/.*:://r; return if $n eq 'DESTROY'; length $n } }
package Plus { use overload '+' => sub { $_[0][0] + (ref $_[1] ? $_[1][0] : $_[1]) }, '""' => sub { "p$_[0][0]" }; sub new { bless [ $_[1] ] } }
package main;

my $text = join ' ', map {"word$_"} 1 .. 200;
my @work = (
    sub { $kept += eval "my \$x = sub { my \$n = shift; return \$n + $round }; \$x->(1) + \$x->(2)" },
    sub { eval "sub Temp::f$round { my \@x = map { \$_ * 2 } 1 .. 50; scalar \@x } Temp::f$round()"; { no strict 'refs'; undef &{"Temp::f$round"}; delete $Temp::{"f$round"} } },
    sub { eval { die { at => $round } }; eval { deep(20); die "plain\n" }; eval { local $SIG{__DIE__} = sub { deep(5) }; die "hooked" }; eval "this is no perl $round +" },
    sub { deep(3000) if $round % 20 == 0; deep(60) },
    sub { outer($text) for 1 .. 3; lists(); my @s = sort by_number lists() },
    sub { tie my $t, 'Tied'; my $s = 0; $s += $t for 1 .. 20; untie $t },
    sub { my @o = map { Gone->new } 1 .. 20; @o = () },
    sub { Auto->something; Auto::other(1); my $p = Plus->new(3); my $q = $p + $p; "$p" },
    sub { my $s = $text; $s =~ s/(\d+)/$1 * 2 . ''/ge; my $n = 0; $text =~ /(?:word(\d+)(?{ $n++ }) )+/ },
    sub { return if $round % 10; my $pid = fork // return; if (!$pid) { deep(50); outer($text); $round % 20 ? exit 0 : do { require POSIX; POSIX::_exit(0) } } waitpid $pid, 0 },
    sub { return if $round % 25; my $pid = fork // return; if (!$pid) { exec $^X, '-e', 'my $n = 0; $n += $_ for 1 .. 3000; exit 0' } waitpid $pid, 0 },
    sub { return if $round % 15; delete $INC{'Text/Abbrev.pm'}; delete $INC{'Text/Wrap.pm'}; require Text::Abbrev; require Text::Wrap; Text::Wrap::wrap('', '  ', $text) },
    sub { my @c = map { my $n = $_; sub { my $s = 0; $s += $n for 1 .. 10; $s } } 1 .. 10; $kept += $_->() for @c },
    sub { my $i = $round; goto_target($i) ; local $_ = 'abc'; my @x = map { uc } split // },
    sub { local $SIG{ALRM} = sub { $kept++ }; kill ALRM => $$; select undef, undef, undef, 0.0005 },
    sub { pos($text) = 0; 1 while $text =~ /\G\s*(\w+)/gc; my %h = map { $_ => 1 } 1 .. 100; delete @h{1 .. 50}; my @k = sort keys %h },
);
sub goto_target { @_ = ($_[0] + 1); goto &goto_end }
sub goto_end { my $n = 0; $n += $_ for 1 .. 20; return $n }

while (Time::HiRes::time() < $until) {
    $round++;
    $_->() for @work;
}
print "soaked\n";
