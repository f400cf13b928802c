/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What an error says harms no terminal, whatever it quotes.
 */
#include "formats/base/error.h"

#include "t/tap.h"

static void test_quoted(const char *quoted, const char *expected, const char *name)
{
    struct nytp_error error = {0};
    nytp_error_set(&error, NYTP_ERR_FORMAT, "[%s]", quoted);
    is_text(error.message, expected, name);
}

int main(void)
{
    test_quoted("a\033[2J\nb", "[a?[2J?b]", "control characters");
    test_quoted("a\xc2\x9b"
                "2Jb",
                "[a?2Jb]", "control characters of Latin-1, as UTF-8");
    test_quoted("a\xe2\x80\xae"
                "b",
                "[a?b]", "marks that turn the direction of text");
    test_quoted("\xc3\xa4 \xe2\x82\xac", "[\xc3\xa4 \xe2\x82\xac]", "letters stay");
    return done_testing();
}
