# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# require and use at run time, import lists, do FILE, @INC hooks, __DATA__.
use strict;
use warnings;

BEGIN {
    unshift @INC, sub {
        my (undef, $file) = @_;
        return if $file !~ m{^Virtual/(\w+)\.pm$};
        my $text = "package Virtual::$1;\nsub name {\n    return '$1';\n}\n1;\n";
        open my $fh, '<', \$text or die;
        return $fh;
    };
}
use Virtual::Early;
require Virtual::Late;
print Virtual::Early::name(), Virtual::Late::name(), "\n";
for my $module (qw(Text::ParseWords Text::Tabs Text::Wrap)) {
    (my $file = "$module.pm") =~ s{::}{/}g;
    require $file;
    $module->import;
}
print join('|', Text::ParseWords::shellwords(q{a "b c" d})), "\n";
$Text::Wrap::columns = 20;
print Text::Wrap::wrap('', '  ', 'some words that need more than one line'), "\n";
while (my $line = <DATA>) {
    chomp $line;
    print "[$line]";
}
print "\n";
__DATA__
one
two
