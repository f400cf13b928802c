# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# One request on demand: when, answer, slower_than and keep of Plack::Middleware::NYTP and Mojolicious::Plugin::NYTP.

use lib 't/lib';
use NYTPTest qw(new_dir root);
use WebServer qw(find_command free_port get put run_app start_server stop_server);

use IO::Socket::INET;
use POSIX ();

my $top = root();
plan skip_all => 'nytp-export is not built' if !-x "$top/bin/nytp-export";
plan skip_all => 'Plack is not installed' if !eval { require Plack };
local $ENV{NYTP_EXPORT} = "$top/bin/nytp-export";

sub profiles { return sort map {m{([^/]+)\z}} glob "$_[0]/*.out" }

my $ASKING = <<'P';
use strict;
use warnings;
use Plack::Builder;
our (@said, $options, $app, %page);
my $plain = ['Content-Type' => 'text/plain'];
sub ask {
    my ($path, %more) = @_;
    my $env = {REQUEST_METHOD => 'GET', SCRIPT_NAME => '', PATH_INFO => $path, QUERY_STRING => '', %more};
    my $response = eval { $app->($env) } // return "died: $@";
    return told($response) if ref $response ne 'CODE';
    my ($first, @pieces);
    my $is_ok = eval {
        $response->(sub {
            $first = $_[0];
            return if defined $first->[2];
            return bless [\@pieces], 'Pieces';
        });
        1;
    };
    return "died: $@" if !$is_ok && (!$first || defined $first->[2] || !@pieces);
    return ($is_ok ? '' : "died: $@") . 'later: ' . told($first && [@$first[0, 1], $first->[2] // \@pieces]);
}
sub Pieces::write { push @{ $_[0][0] }, $_[1] }
sub Pieces::close { }
sub told {
    my ($response) = @_;
    return 'nothing' if !$response;
    my ($status, $headers, $body) = @$response;
    my $text = '';
    Plack::Util::foreach($body, sub { $text .= $_[0] });
    return "$status [@$headers] $text";
}
package Body { sub new { bless {n => 3} } sub getline { return $_[0]{n}-- > 0 ? 'body' : undef } sub close { push @main::said, 'closed' } }
my $kept;
%page = (
    '/list' => sub { [200, $plain, ['a', 'b', wantarray // 'undef']] },
    '/file' => sub { open my $fh, '<', 'text' or die; [200, $plain, $fh] },
    '/body' => sub { [200, $plain, Body->new] },
    '/delayed' => sub { sub { $_[0]->([202, $plain, ['delayed']]) } },
    '/stream' => sub { sub { my $w = $_[0]->([200, $plain]); $w->write($_) for qw(one two); $w->close } },
    '/dropped' => sub { sub { my $w = $_[0]->([200, $plain]); $w->write('left') } },
    '/dies' => sub { die "on purpose\n" },
    '/dies/late' => sub { sub { die "later\n" } },
    '/dies/midway' => sub { sub { my $w = $_[0]->([200, $plain]); $w->write('some'); die "midway\n" } },
    '/moved' => sub { [302, ['Location' => '/list', 'Set-Cookie' => 'id=secret', 'ETag' => '"x"'], []] },
    '/bad' => sub { [200, ['Content-Type' => 'text/html'], ["</pre><script>alert('&')</script>\xc3\xa4\r\n\xff"]] },
    "/caf\xc3\xa9" => sub { [200, $plain, ['named']] },
    '/utf8' => sub { [200, ['Content-Type' => 'text/html'], ["\xc3\xa4\xe2\x80\xae"]] },
    '/long' => sub { [200, $plain, ['x' x 70_000, "\xc3\xa4" x 10_000]] },
);
$app = builder { enable 'NYTP', dir => 'prof', @{ $options }; sub { $page{$_[0]{PATH_INFO}}->($_[0]) } };
P
sub asking {
    my ($options, $then) = @_;
    return "BEGIN { \$main::options = [$options] }\n$ASKING$then";
}

my $ASK_ALL = 'print "$_: ", ask($_, %env) =~ s/(died: .*? at ).*/$1/r, "\n" for grep { $_ ne "/long" } sort keys %page; print "@said\n";';

subtest 'the answer stays as it is, with a header where it is asked for' => sub {
    my $folder = new_dir();
    put("$folder/text", "of a file\n");
    my $options = q{header => 'X-Profile', when => sub { my ($env) = @_; die "odd\n" if $env->{DIES}; $env->{WANTED} }};
    my $plain = run_app($folder, asking($options, 'my %env;' . $ASK_ALL));
    like $plain, qr{/stream: later: 200 \[Content-Type text/plain\] onetwo\n}, 'without the profiler';
    is run_app($folder, asking($options, 'my %env;' . $ASK_ALL), 'start=no'), $plain, 'not triggered: the same';
    is_deeply [profiles("$folder/prof")], [], 'and nothing is recorded';
    my $dies = run_app($folder, asking($options, 'my %env = (DIES => 1);' . $ASK_ALL), 'start=no');
    is scalar(() = $dies =~ /^NYTP: when: odd$/mg), 13, 'a sub that dies says no, and why';
    is $dies =~ s/^NYTP: when: odd\n//mgr, $plain, 'the answers are the same';
    my $triggered = run_app($folder, asking($options, 'my %env = (WANTED => 1);' . $ASK_ALL), 'start=no');
    my @named = $triggered =~ m{ X-Profile prof/(\d+\.\d+\.\d+\.out)}g;
    is $triggered =~ s{ X-Profile prof/[\d.]+\.out}{}gr, $plain, 'triggered: the same but for the header';
    is @named, 11, 'that is where an answer is';
    is scalar(() = profiles("$folder/prof")), 13, 'each has a profile';
    is_deeply [grep { !-s "$folder/prof/$_" } @named], [], 'those that were named';
};

subtest 'a sub for the label that dies or returns nothing spoils no answer' => sub {
    my $folder = new_dir();
    my $program = asking(<<'P', 'sub between { return 1 } for (1 .. 4) { $main::n = $_; print ask("/list"), "\n"; between() }');
label => sub { my $n = $main::n; die "odd\n" if $n == 1 || $n == 2 && $_[0] =~ / 200/; return $n == 3 ? () : "as $_[0]" }
P
    my $plain = run_app($folder, $program);
    my $text = run_app($folder, $program, 'start=no');
    is scalar(() = $text =~ /^NYTP: label: odd$/mg), 3, 'it is told why';
    is $text =~ s/^NYTP: label: odd\n//mgr, $plain, 'the answers are the same';
    my $table = qx{"$top/bin/nytp-export" --by=request $folder/prof 2>&1};
    is join(', ', sort $table =~ /^ +(\d+) .*  ((?:as )?GET .*)$/mg), '1, 3, GET /list 200, as GET /list 200', 'the text that the sub was given';
    unlike qx{"$top/bin/nytp-export" --quiet --top=0 $folder/prof 2>&1}, qr/main::between /, 'recording ends with the request';
};

subtest 'the report is the answer, and has the application\'s in it' => sub {
    my $folder = new_dir();
    put("$folder/text", "of a file\n");
    my $text = run_app($folder, asking(q{answer => 1, header => 'X-Profile', when => sub { 1 }}, <<'P'), 'start=no');
for my $path (sort keys %page) {
    my $answer = ask($path);
    print "$path: ", $answer =~ /^died/ ? $answer : told_report($answer), "\n";
}
print 'HEAD: ', ask('/list', REQUEST_METHOD => 'HEAD') =~ s/[\d.]+out\]/N]/r, "\n";
sub told_report {
    my ($answer) = @_;
    my ($start, $headers, $html) = $answer =~ /\A(.*?)\[(.*?)\] (.*)\z/s or return "odd: $answer";
    $headers =~ s/Content-Length (\d+)/$1 == length $html ? 'Length' : "Length $1"/e;
    $headers =~ s/X-Profile prof\S+/Profile/;
    my $where = index $html, '<main id="main">';
    my ($section) = $html =~ m{<main id="main">\n<details class="answer"><summary>(.*?)</pre></details>\n<h1>Profile of GET }s;
    my @gone = ($section // 'none') =~ s{</summary>\n<pre>\n}{ | }r =~ s/\n/ /gr;
    return "$start [$headers] @gone" . ($html =~ m{</html>\s*\z} ? '' : ' cut');
}
P
    my $h = '[Content-Type text/html; charset=utf-8 Length Cache-Control no-store Profile]';
    my ($cut) = $text =~ /^\/long: (.*)$/m;
    $cut =~ s/(x{9,})\s*/length $1/e;
    like $cut, qr/answered 200, 90000 bytes \| Content-Type: text\/plain  65536\(24464 bytes more\)\z/, 'at most 64 kB of it';
    is $text =~ s/^\/long: .*\n//mr, <<"T", 'all kinds of answers';
/bad: 200  [Content-Type text/html; charset=utf-8 Length Cache-Control no-store Profile] GET /bad: the application answered 200, 38 bytes | Content-Type: text/html  &lt;/pre&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;\xc3\x83\xc2\xa4 \xc3\xbf
/body: 200  $h GET /body: the application answered 200, 12 bytes | Content-Type: text/plain  bodybodybody
/caf\xc3\xa9: 200  $h GET /caf\xc3\xa9: the application answered 200, 5 bytes | Content-Type: text/plain  named
/delayed: later: 200  $h GET /delayed: the application answered 202, 7 bytes | Content-Type: text/plain  delayed
/dies: died: on purpose

/dies/late: died: later

/dies/midway: died: midway

/dropped: later: 200  $h GET /dropped: the application answered 200, 4 bytes | Content-Type: text/plain  left
/file: 200  $h GET /file: the application answered 200, 10 bytes | Content-Type: text/plain  of a file 
/list: 200  $h GET /list: the application answered 200, 2 bytes | Content-Type: text/plain  ab
/moved: 200  [Set-Cookie id=secret Content-Type text/html; charset=utf-8 Length Cache-Control no-store Profile] GET /moved: the application answered 302, 0 bytes | Location: /list Set-Cookie: (not shown) ETag: &quot;x&quot;  
/stream: later: 200  $h GET /stream: the application answered 200, 6 bytes | Content-Type: text/plain  onetwo
/utf8: 200  $h GET /utf8: the application answered 200, 5 bytes | Content-Type: text/html  \xc3\xa4\\x{202e}
HEAD: 200 [Content-Type text/plain X-Profile prof/N] ab
T
};

subtest 'the application\'s own children, folders and exceptions' => sub {
    my $folder = new_dir();
    my $text = run_app($folder, asking(q{answer => 1, when => sub { 1 }}, <<'P'), 'start=no');
use POSIX ();
my ($mine, @ended);
$SIG{CHLD} = sub { local ($!, $?); while ((my $pid = waitpid -1, POSIX::WNOHANG()) > 0) { push @ended, $pid == $mine ? 'mine' : $pid } };
$page{'/child'} = sub {
    pipe my $in, my $out or die;
    $mine = fork // die;
    if (!$mine) { close $out; my $wait = <$in>; POSIX::_exit(0) }
    close $in;
    chdir '/' or die;
    return [200, [], bless [$out], 'Closing'];
};
sub Closing::getline { return undef }
sub Closing::close { close $_[0][0] }
$@ = 'kept';
$? = 3;
print ask('/child') =~ /answered 200/ ? "answered\n" : "not\n";
print "status $?\n";
select undef, undef, undef, 0.01 until @ended;
ask('/child');
select undef, undef, undef, 0.01 until @ended > 1;
print "@ended\n";
print -d '/prof' ? "a folder elsewhere\n" : "none\n";
P
    is $text, "answered\nstatus 3\nmine mine\nnone\n", 'its handler of SIGCHLD sees its own children only; it may go elsewhere';
    is scalar(() = profiles("$folder/prof")), 2, 'the profiles are where they were to be';
};

subtest 'no nytp-export: a page that says so' => sub {
    local $ENV{NYTP_EXPORT} = '/nowhere/nytp-export';
    my $text = run_app(new_dir(), asking(q{answer => 1, when => sub { 1 }}, 'print ask("/list");'), 'start=no');
    like $text, qr/\A500 \[Content-Type text\/html; charset=utf-8 Content-Length \d+ Cache-Control no-store\] .*There is no report/s, 'status 500';
    like $text, qr/the application answered 200, 2 bytes.*\n\nab<\/pre>/s, 'with what the application answered';
};

subtest 'slower_than and keep' => sub {
    my $folder = new_dir();
    my $text = run_app($folder, asking(q{slower_than => 0.25, keep => 2, header => 'X-Profile'}, <<'P'), 'start=no');
my $now = 0;
{ no warnings qw(once prototype redefine); *Time::HiRes::time = sub { return $now } }
$page{"/takes/$_"} = eval "sub { \$now += $_; [200, [], []] }" for 0.125, 0.25, 0.5, 1, 2;
$page{'/body/late'} = sub { [200, [], bless {}, 'Late'] };
sub Late::getline { $now += 0.5; return $_[0]{n}++ ? undef : 'x' }
sub Late::close { }
print ask("/takes/$_") =~ s/\d{6,}\.\d+/N/r, "\n" for 0.125, 0.5, 0.25, 1, 2;
print ask('/body/late'), "\n";
P
    is $text, "200 [] \n200 [X-Profile prof/N.2.out] \n200 [] \n200 [X-Profile prof/N.4.out] \n200 [X-Profile prof/N.5.out] \n200 [] x\n",
        'a profile that is to go is not named, and none that may go yet';
    is_deeply [map {/\.(\d+)\.out\z/} profiles("$folder/prof")], [5, 6], 'the latest two of those that were slow are kept';
};

subtest 'options' => sub {
    my %said = (
        'answer => 1' => 'answer needs when', 'when => 1' => "when is a sub, not '1'", 'keep => 0' => "keep is a whole number from 1 on, not '0'",
        'slower_than => "x"' => "slower_than is a number of seconds, not 'x'", 'dir => undef, keep => 2' => 'keep needs dir',
        'dir => undef, when => sub { 1 }' => 'when needs dir');
    for my $options (sort keys %said) {
        like run_app(new_dir(), asking($options, '')), qr/^NYTP: \Q$said{$options}\E at /, $options;
    }
};

# The example of the documentation, with a session of its own making.
my $SESSION = <<'P';
package Plack::Middleware::Session;
use parent 'Plack::Middleware';
sub call {
    my ($self, $env) = @_;
    $env->{'psgix.session'} = {is_admin => 1} if ($env->{HTTP_COOKIE} // '') eq 'id=of-an-admin';
    $env->{'psgix.session'} = {} if ($env->{HTTP_COOKIE} // '') eq 'id=of-somebody';
    return $self->app->($env);
}
1;
P

sub example {
    open my $fh, '<', "$top/lib/Plack/Middleware/NYTP.pm" or die $!;
    my $pod = do { local $/; <$fh> };
    my ($example) = $pod =~ /for those who may:\n\n(.*?)^=head1/ms or die 'no example';
    return $example;
}

subtest 'starman: reports for an admin, and 1,000 requests beside them' => sub {
    my $starman = find_command('starman') or plan skip_all => 'starman is not installed';
    my $folder = new_dir();
    my $port = free_port();
    mkdir "$folder/lib" and mkdir "$folder/lib/Plack" and mkdir "$folder/lib/Plack/Middleware" or die;
    put("$folder/lib/Plack/Middleware/Session.pm", $SESSION);
    put("$folder/app.psgi", <<'P' . example());
use strict;
use warnings;
use Plack::Builder;
sub echo { my $t = 0; $t += $_ for 1 .. 500; return "$_[0]{PATH_INFO} of $$" }
my $app = sub { return [200, ['Content-Type' => 'text/plain'], [echo($_[0])]] };
P
    local $ENV{PERL5LIB} = "$folder/lib";
    my $server = start_server($folder, $port, 'start=no', $starman, '--workers', 3, '--listen', "127.0.0.1:$port", 'app.psgi');
    ok $server, 'it starts' or return diag qx{cat $folder/server.log};
    my @children = map { my $child = $_; my $pid = fork // die; exit_with_odd($server, $child) if !$pid; $pid } 1 .. 4;
    my @reports = map { ask_as($server, "/admin/$_?nytprof=1", 'id=of-an-admin') } 1 .. 10;
    my $odd = 0;
    waitpid($_, 0), $odd += $? for @children;
    is $odd, 0, 'each of 1,000 others has its own answer';
    my @right = grep { my $n = $_ + 1; $reports[$_] =~ m{\A200 .*: the application answered 200.*\n\n/admin/$n of \d+</pre>.*::</i>echo.*</html>\s*\z}s } 0 .. 9;
    is @right, 10, 'ten reports, each with its own answer' or diag substr $reports[0], 0, 300;
    my @others = map { ask_as($server, '/x?nytprof=1', $_) } '', 'id=of-somebody', 'nytprof=1; is_admin=1';
    is_deeply [map {s/ of \d+\z//r} @others], [('200 /x') x 3], 'a stranger\'s parameter or cookie does nothing';
    is ask_as($server, '/x?no', 'id=of-an-admin') =~ s/ of \d+\z//r, '200 /x', 'nor an admin who does not ask';
    is stop_server($server, 'QUIT'), 0, 'it ends well';
    is scalar(() = profiles("$folder/prof")), 10, 'ten profiles';
};

# A client: 250 requests, each of which has to have the answer to its own path. Ends with how many had another.
sub exit_with_odd {
    my ($server, $child) = @_;
    my $odd = grep { get($server, "/$child/$_?nytprof=1") !~ m{\A200 /$child/$_ of \d+\z} } 1 .. 250;
    POSIX::_exit($odd > 255 ? 255 : $odd);
}

# As get(), with a cookie.
sub ask_as {
    my ($server, $path, $cookie) = @_;
    return get($server, "$path HTTP/1.0\r\nCookie: $cookie\r\nX:");
}

my $MOJO = <<'P';
use Mojolicious::Lite -signatures;
use Test::Mojo;
use Mojo::IOLoop;
app->log->level('fatal');
app->secrets(['of the test']);
plugin NYTP => {dir => 'prof', header => 'X-Profile', ANSWER when => sub ($c) { $c->session('is_admin') && $c->param('nytprof') }};
sub slow { my $t = 0; $t += $_ for 1 .. 1000; return '<slow>' }
get '/slow' => sub ($c) { $c->res->headers->header('X-Own' => 'x'); $c->render(text => slow()) };
get '/later' => sub ($c) { $c->render_later; Mojo::IOLoop->timer(0.01 => sub { $c->render(text => slow(), status => 202) }) };
get '/pieces' => sub ($c) { $c->write_chunk('piece' => sub { $c->finish }) };
get '/dies' => sub ($c) { die "on purpose\n" };
get '/login' => sub ($c) { $c->session(is_admin => 1)->render(text => 'in') };
my $t = Test::Mojo->new;
for my $who (qw(stranger admin)) {
    for my $path (qw(/slow?nytprof=1 /later?nytprof=1 /pieces?nytprof=1 /dies?nytprof=1 /slow)) {
        my $res = $t->ua->get($path)->result;
        my $text = $res->body;
        my ($section) = $text =~ m{<details class="answer"><summary>(.*?)</summary>.*?</pre></details>}s;
        $text = $section =~ s/\d{3,} bytes/N bytes/r if defined $section;
        $text = 'error page' if $text =~ /on purpose/;
        my @header = $res->headers->header('X-Profile') ? 'named' : ();
        push @header, 'own' if $res->headers->header('X-Own');
        push @header, 'cookie' if $res->headers->set_cookie;
        print join(' ', $who, $path, $res->code, $text, @header), "\n";
    }
    $t->ua->get('/login');
}
P

subtest 'Mojolicious' => sub {
    plan skip_all => 'Mojolicious is not installed' if !eval { require Test::Mojo };
    my $stranger = "stranger /slow?nytprof=1 200 <slow> own\nstranger /later?nytprof=1 202 <slow>\nstranger /pieces?nytprof=1 200 piece\n"
        . "stranger /dies?nytprof=1 500 error page\nstranger /slow 200 <slow> own\n";
    my $folder = new_dir();
    is run_app($folder, $MOJO =~ s/ANSWER//r, 'start=no'), $stranger . <<'T', 'the answer as it is, with a header';
admin /slow?nytprof=1 200 <slow> named own cookie
admin /later?nytprof=1 202 <slow> named cookie
admin /pieces?nytprof=1 200 piece named cookie
admin /dies?nytprof=1 500 error page named cookie
admin /slow 200 <slow> own cookie
T
    is scalar(() = profiles("$folder/prof")), 4, 'four profiles';
    is run_app(new_dir(), $MOJO =~ s/ANSWER/answer => 1,/r, 'start=no'), $stranger . <<'T', 'the report as the answer';
admin /slow?nytprof=1 200 GET /slow: the application answered 200, 6 bytes named cookie
admin /later?nytprof=1 200 GET /later: the application answered 202, 6 bytes named cookie
admin /pieces?nytprof=1 200 piece named cookie
admin /dies?nytprof=1 200 GET /dies: the application answered 500, N bytes named cookie
admin /slow 200 <slow> own cookie
T
};

done_testing();
