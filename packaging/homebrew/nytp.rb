# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Untried: nobody has run brew on it. Its commands of perl and make were run on Debian, and `ruby -c` passes. The
# publisher fills in homepage, url and sha256. nytp-spy is for Linux alone and is not built on macOS.
class Nytp < Formula
  desc "Profiler for Perl programs and exporters for its profiles"
  homepage "https://example.org/nytp"
  url "https://example.org/nytp/nytp-0.1.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["Artistic-1.0-Perl", "GPL-1.0-or-later"]

  depends_on "pcre2"
  depends_on "perl"
  uses_from_macos "zlib"

  def install
    system "perl", "Makefile.PL", "INSTALL_BASE=#{libexec}", "NO_PACKLIST=1", "NO_PERLLOCAL=1"
    system "make"
    system "make", "pure_install"
    bin.install Dir[libexec/"bin/*"]
    bin.env_script_all_files libexec/"bin", PERL5LIB: libexec/"lib/perl5"
    man1.install Dir[libexec/"man/man1/*"]
  end

  def caveats
    <<~EOS
      perl -d:NYTProf needs PERL5LIB=#{opt_libexec}/lib/perl5; the commands set it.
    EOS
  end

  test do
    (testpath/"app.pl").write "sub work { my $x = 0; $x += $_ for 1 .. 1000; $x } work() for 1 .. 100;\n"
    assert_match "main::work", shell_output("#{bin}/nytp run --top=3 app.pl")
  end
end
