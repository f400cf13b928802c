/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A program of the build: turns style sheets and scripts into C arrays, with the SHA-256 that a
 * content policy names them by (FIPS 180-4; base64 of RFC 4648). Comments that have lines of
 * their own, the blanks that lines begin with, those beside marks that need none and semicolons
 * before } are left out: so no text in the two files may span lines, no regular expression hold
 * quotes, every statement ends in a semicolon, and no block ends with a loop without a body.
 *
 *     embed report.css report.js … > assets.c
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t rotated(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* The first 64 primes' cube roots, their fractions' first 32 bits; worked out with integers:
 * the largest r with r^3 <= p * 2^96 has them as its low 32 bits. Square roots likewise. */
static uint32_t root_bits(unsigned prime, int power)
{
    uint64_t low = 0, high = (uint64_t)1 << 38;
    while (low + 1 < high) {
        const uint64_t r = low + (high - low) / 2;
        /* compare in long division by steps: r^power with prime * 2^(32 * power) */
        unsigned __int128 left = (unsigned __int128)r * r;
        unsigned __int128 right = (unsigned __int128)prime << 64;
        if (power == 3) {
            /* r^3 <= p 2^96  <=>  r^2 <= floor(p 2^96 / r) */
            right = 0;
            unsigned __int128 rest = 0;
            for (int bit = 127; bit >= 0; bit--) {
                const unsigned digit = bit >= 96 ? prime >> (bit - 96) & 1 : 0;
                rest = rest << 1 | digit;
                right <<= 1;
                if (rest >= r) {
                    rest -= r;
                    right |= 1;
                }
            }
        }
        if (left <= right)
            low = r;
        else
            high = r;
    }
    return (uint32_t)low;
}

static void make_constants(uint32_t k[64], uint32_t h[8])
{
    unsigned n = 0;
    for (unsigned candidate = 2; n < 64; candidate++) {
        unsigned divisor = 2;
        while (divisor * divisor <= candidate && candidate % divisor != 0)
            divisor++;
        if (divisor * divisor <= candidate)
            continue;
        k[n] = root_bits(candidate, 3);
        if (n < 8)
            h[n] = root_bits(candidate, 2);
        n++;
    }
}

static void add_block(const uint32_t k[64], uint32_t h[8], const unsigned char *block)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) +
               (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
    }
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        const uint32_t e = s[4], a = s[0];
        const uint32_t t1 = s[7] + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                            ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
        const uint32_t t2 = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) +
                            ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

/* The SHA-256 of some bytes (FIPS 180-4). */
static void sha256(const unsigned char *bytes, size_t len, unsigned char digest[32])
{
    uint32_t k[64], h[8];
    unsigned char last[128] = {0};
    make_constants(k, h);
    size_t at = 0;
    for (; len - at >= 64; at += 64)
        add_block(k, h, bytes + at);
    memcpy(last, bytes + at, len - at);
    last[len - at] = 0x80;
    const size_t end = len - at < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        last[end - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
    add_block(k, h, last);
    if (end == 128)
        add_block(k, h, last + 64);
    for (int i = 0; i < 32; i++)
        digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

static void put_base64(const unsigned char *bytes, size_t len)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < len; i += 3) {
        const unsigned b = i + 1 < len ? bytes[i + 1] : 0, c = i + 2 < len ? bytes[i + 2] : 0;
        const unsigned word = (unsigned)bytes[i] << 16 | b << 8 | c;
        putchar(digits[word >> 18]);
        putchar(digits[word >> 12 & 63]);
        putchar(i + 1 < len ? digits[word >> 6 & 63] : '=');
        putchar(i + 2 < len ? digits[word & 63] : '=');
    }
}

/* The line without its first blanks, or nothing where it belongs to a comment. Returns the
 * bytes put to `to`. */
static size_t shorten_line(const unsigned char *line, size_t len, bool *in_comment,
                           unsigned char *to)
{
    size_t from = 0;
    while (from < len && (line[from] == ' ' || line[from] == '\t'))
        from++;
    size_t end = len;
    while (end > from && (line[end - 1] == ' ' || line[end - 1] == '\n'))
        end--;
    const bool ends_comment = end - from >= 2 && line[end - 2] == '*' && line[end - 1] == '/';
    const bool begins = end - from >= 2 && line[from] == '/' && line[from + 1] == '*';
    bool is_comment = *in_comment;
    if (begins && !is_comment) {
        /* only a comment that reaches the end of its line: not one before code */
        size_t close = from + 2;
        while (close + 1 < end && !(line[close] == '*' && line[close + 1] == '/'))
            close++;
        is_comment = close + 1 >= end || close + 2 == end;
    }
    *in_comment = is_comment && !ends_comment;
    if (is_comment || from == end)
        return 0;
    memcpy(to, line + from, len - from);
    return len - from;
}

/* Marks with no need of a blank behind or before them. In a style sheet one before ( or : can
 * matter, and beside + or - or * it does. */
struct marks {
    const char *behind, *before;
};
static const struct marks style_marks = {"{};,:(=<>&|?", "{}=<>&|?"};
static const struct marks script_marks = {"{};,:(=<>&|?+*/)]", "{}=<>&|?:+*/([!"};

/* Takes out blanks and semicolons that mean nothing, but not inside quotes; and the end of a
 * line behind a mark that no statement of a script ends with but for its own semicolon. Returns
 * the new length. */
static size_t drop_blanks(unsigned char *line, size_t len, const struct marks *marks)
{
    size_t to = 0;
    unsigned char quote = 0;
    for (size_t at = 0; at < len; at++) {
        const unsigned char c = line[at];
        if (quote == 0 && c == '}' && to > 0 && line[to - 1] == ';')
            to--;
        if (quote != 0 && c == '\\' && at + 1 < len) {
            line[to++] = c;
            line[to++] = line[++at];
            continue;
        }
        if (c == quote)
            quote = 0;
        else if (quote == 0 && (c == '"' || c == '\'' || c == '`'))
            quote = c;
        const bool is_needless = quote == 0 && c == ' ' && to > 0 && at + 1 < len &&
                                 (strchr(marks->behind, line[to - 1]) != NULL ||
                                  strchr(marks->before, line[at + 1]) != NULL);
        if (!is_needless)
            line[to++] = c;
    }
    if (to > 1 && line[to - 1] == '\n' && strchr("{};,(", line[to - 2]) != NULL)
        to--;
    return to;
}

static size_t shorten_text(unsigned char *bytes, size_t len, const struct marks *marks)
{
    size_t to = 0;
    bool in_comment = false;
    for (size_t at = 0, next; at < len; at = next) {
        const unsigned char *end = memchr(bytes + at, '\n', len - at);
        next = end != NULL ? (size_t)(end - bytes) + 1 : len;
        static unsigned char line[1 << 16];
        const size_t line_len = next - at < sizeof line ? next - at : sizeof line;
        memcpy(line, bytes + at, line_len);
        const size_t n = shorten_line(line, line_len, &in_comment, bytes + to);
        if (n > 0 && to > 0 && bytes[to] == '}' && bytes[to - 1] == '\n') {
            to--;
            memmove(bytes + to, bytes + to + 1, n);
        }
        if (n > 0 && to > 0 && bytes[to] == '}' && bytes[to - 1] == ';') {
            to--; /* the last declaration or statement of a block needs none */
            memmove(bytes + to, bytes + to + 1, n);
        }
        to += drop_blanks(bytes + to, n, marks);
    }
    return to;
}

/* Print a file as a C array, with its hash. */
static int embed_file(const char *path)
{
    static unsigned char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t len = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file == NULL || ferror(file) || len == sizeof bytes) {
        fprintf(stderr, "embed: cannot read %s as a whole\n", path);
        return 1;
    }
    fclose(file);
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *suffix = strrchr(name, '.') != NULL ? strrchr(name, '.') + 1 : name;
    len = shorten_text(bytes, len, strcmp(suffix, "js") == 0 ? &script_marks : &style_marks);
    unsigned char digest[32];
    sha256(bytes, len, digest);
    char symbol[64]; /* report.css is nytp_report_css */
    snprintf(symbol, sizeof symbol, "%s", name);
    for (char *c = symbol; *c != '\0'; c++)
        *c = *c == '.' ? '_' : *c;
    printf("\nstatic const unsigned char %s_bytes[] = {", symbol);
    for (size_t i = 0; i < len; i++)
        printf(i % 20 == 0 ? "\n    %u," : " %u,", bytes[i]);
    printf("\n    0};\nconst struct nytp_asset nytp_%s = {\n"
           "    \"%s\", %s_bytes, %lu, \"",
           symbol, name, symbol, (unsigned long)len);
    put_base64(digest, sizeof digest);
    printf("\"};\n");
    return 0;
}

int main(int argc, char **argv)
{
    printf("/* Generated by exporters/report/embed.c */\n#include \"exporters/base/asset.h\"\n");
    for (int i = 1; i < argc; i++)
        if (embed_file(argv[i]) != 0)
            return 1;
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
