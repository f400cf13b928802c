# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Print every chunk of a profile, first through for_chunks with a block, then some tags through
# a hash of callbacks. Run on the stock modules and on ours.
use strict;
use warnings;
use Devel::NYTProf::Data;
use Devel::NYTProf::ReadStream qw(for_chunks);
my ($file) = @ARGV;
local $SIG{__WARN__} = sub { my $text = shift; $text =~ s/ at \S+ line \d+.*//s; print "WARN\t$text\n" };

sub show {
    return join "\t", map { defined $_ ? $_ : 'undef' } map {
        my $text = $_;
        utf8::encode($text) if utf8::is_utf8($text);
        $text =~ s/([\\\x00-\x1f])/sprintf '\\x%02x', ord $1/ge;
        $text
    } @_;
}
my $n = 0;
for_chunks { print $., "\t", show(@_), "\n"; $n++ } filename => $file, quiet => 1;
print "chunks\t$n\n";
my $result = Devel::NYTProf::Data->new({
    filename => $file,
    quiet => 1,
    callback => {
        map {
            my $tag = $_;
            ($tag => sub { print "hash\t$tag\t", show(@_), "\n" })
        } qw(VERSION ATTRIBUTE PID_START PID_END SUB_CALLERS SUB_INFO START_DEFLATE)
    },
});
print "result\t", defined $result ? 'defined' : 'undef', "\n";
