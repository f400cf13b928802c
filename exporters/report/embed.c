/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A build tool: turns style sheets and scripts into C arrays, with the SHA-256 by which a
 * content policy names them (FIPS 180-4; base64 of RFC 4648).
 *
 * It drops full-line comments, indentation, needless blanks, and semicolons before }. It joins
 * declarations on consecutive lines, and replaces some words of a script by shorter ones. So
 * the input must follow these rules: no text spans lines; no regular expression holds quotes;
 * every statement ends in a semicolon; no block ends with a loop without body; no - or +
 * precedes another.
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

/* Copies the line without indentation; nothing of a comment. Returns the number of bytes. */
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
        /* only a comment that reaches the end of its line, not one before code */
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

/* Characters that need no blank behind or before them. In a style sheet a blank before ( or :
 * can matter, and one beside + or - or * does. */
struct marks {
    const char *behind, *before;
    bool has_words; /* apply `words` below */
};
static const struct marks style_marks = {"{};,:(=<>&|?", "{}=<>&|?", false};
static const struct marks script_marks = {"{};,:(=<>&|?+*/-)]", "{}=<>&|?:+*/-([!", true};

/* In a correct script nothing is assigned to a const. */
static const struct {
    const char *word, *shorter;
} words[] = {{"const", "let"}, {"true", "!0"}, {"false", "!1"}, {"undefined", "void 0"}};

static bool is_of_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '$' || c == '.';
}

/* Replaces the word at *at, moved to its end, or returns false if there is nothing shorter. */
static bool shorten_word(unsigned char *line, size_t len, size_t *at, size_t *to)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i].word), end = *at + n;
        if (end > len || memcmp(line + *at, words[i].word, n) != 0 ||
            (*at > 0 && is_of_word(line[*at - 1])) ||
            (end < len && (is_of_word(line[end]) || line[end] == ':')))
            continue;
        memcpy(line + *to, words[i].shorter, strlen(words[i].shorter));
        *to += strlen(words[i].shorter);
        *at = end - 1;
        return true;
    }
    return false;
}

/* Drops needless blanks and semicolons outside quotes, and the end of a line behind a
 * character that cannot end a statement. Returns the new length. */
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
        const bool is_shortened =
            quote == 0 && marks->has_words && c != ' ' && shorten_word(line, len, &at, &to);
        if (!is_needless && !is_shortened)
            line[to++] = c;
    }
    if (to > 1 && line[to - 1] == '\n' && strchr("{};,(", line[to - 2]) != NULL)
        to--;
    return to;
}

static bool is_declaration(const unsigned char *line, size_t len)
{
    return len > 5 && memcmp(line, "let ", 4) == 0 && line[len - 1] == ';';
}

static size_t shorten_text(unsigned char *bytes, size_t len, const struct marks *marks)
{
    size_t to = 0;
    bool in_comment = false, declared = false;
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
        size_t short_len = drop_blanks(bytes + to, n, marks);
        const bool declares = marks->has_words && is_declaration(bytes + to, short_len);
        if (declares && declared && bytes[to - 1] == ';') {
            bytes[to - 1] = ',';
            short_len -= 4;
            memmove(bytes + to, bytes + to + 4, short_len);
        }
        declared = n > 0 ? declares : declared;
        to += short_len;
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
    len = shorten_text(bytes, len, strcmp(suffix, "js") == 0 ? &script_marks : &style_marks);
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
