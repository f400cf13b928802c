/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A build tool: turns style sheets and scripts into C arrays, with the SHA-256 by which a
 * content policy names them (FIPS 180-4; base64 of RFC 4648).
 *
 * It drops comments, indentation, needless blanks and ends of lines, and semicolons before }.
 * So the input must follow these rules: no text spans lines; every statement ends in a
 * semicolon; comments begin with "/" and "*"; no - or + precedes another.
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

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractions of the first 64 primes' cube roots. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

static void add_block(uint32_t h[8], const unsigned char *block)
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
                            ((e & s[5]) ^ (~e & s[6])) + constants[i] + w[i];
        const uint32_t t2 = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) +
                            ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

/* SHA-256 (FIPS 180-4). */
static void sha256(const unsigned char *bytes, size_t len, unsigned char digest[32])
{
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, /* 5.3.3 */
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char last[128] = {0};
    size_t at = 0;
    for (; len - at >= 64; at += 64)
        add_block(h, bytes + at);
    memcpy(last, bytes + at, len - at);
    last[len - at] = 0x80;
    const size_t end = len - at < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        last[end - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
    add_block(h, last);
    if (end == 128)
        add_block(h, last + 64);
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

/* Characters that need no blank or end of a line behind or before them. In a style sheet a
 * blank before ( or : can matter, and one beside + or - or * does. */
struct marks {
    const char *behind, *before;
};
static const struct marks style_marks = {"{};,:(=<>&|?", "{}=<>&|?"};
static const struct marks script_marks = {"{};,:(=<>&|?+*/-)]", "{}=<>&|?:+*/-([!"};

/* Returns where the blanks, ends of lines and comments end that begin here. */
static size_t end_of_gap(const unsigned char *text, size_t len, size_t at)
{
    while (at < len) {
        const bool is_comment = text[at] == '/' && at + 1 < len && text[at + 1] == '*';
        if (!is_comment && text[at] != ' ' && text[at] != '\n')
            break;
        at += is_comment ? 2 : 1;
        while (is_comment && at < len && !(text[at - 1] == '*' && text[at] == '/'))
            at++;
        at += is_comment;
    }
    return at < len ? at : len;
}

/* Returns the new length. */
static size_t shorten(unsigned char *text, size_t len, const struct marks *marks)
{
    size_t to = 0;
    unsigned char quote = 0;
    for (size_t at = 0; at < len; at++) {
        const size_t end = quote == 0 ? end_of_gap(text, len, at) : at;
        if (end > at) {
            const bool ends_line = memchr(text + at, '\n', end - at) != NULL;
            if (to > 0 && end < len && text[to - 1] != '\n' &&
                strchr(marks->behind, text[to - 1]) == NULL &&
                strchr(marks->before, text[end]) == NULL)
                text[to++] = ends_line ? '\n' : ' ';
            at = end - 1;
            continue;
        }
        if (quote == 0 && text[at] == '}' && to > 0 && text[to - 1] == ';')
            to--;
        text[to++] = text[at];
        if (quote != 0 && text[at] == '\\' && at + 1 < len)
            text[to++] = text[++at];
        else if (text[at] == quote ||
                 text[at] == '\n') /* the quote was part of a regular expression */
            quote = 0;
        else if (quote == 0 && strchr("\"'`", text[at]) != NULL)
            quote = text[at];
    }
    return to;
}

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
    len = shorten(bytes, len, strcmp(suffix, "js") == 0 ? &script_marks : &style_marks);
    unsigned char digest[32];
    sha256(bytes, len, digest);
    char symbol[64]; /* report.css becomes nytp_report_css */
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
    printf(
        "/* Generated by exporters/report/embed.c */\n#include \"exporters/base/asset.h\"\n");
    for (int i = 1; i < argc; i++)
        if (embed_file(argv[i]) != 0)
            return 1;
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
