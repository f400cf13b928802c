/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * ELF symbols in memory; see symbols.h. Relies on the System V ABI (chapters "Object Files" and
 * "Dynamic Linking") and on the layout of .gnu.hash as written by binutils.
 */
#include "symbols.h"

#include "file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_HEADERS = 64,
    MAX_DYNAMIC = 512,
    MAX_CHAIN = 1 << 20, /* symbols of one bucket; ends a loop in damaged data */
    NAME_ROOM = 64,
    MAX_TABLE = 1 << 26, /* bytes of a file's symbols, and of their names */
    WORK_OF_SYMBOL = 3,
    WORK_OF_SECTION = 1000,
};

/* glibc replaces the file's addresses by absolute ones. */
static uint64_t absolute(const struct nytp_image *image, uint64_t value)
{
    return value == 0 || value >= image->start ? value : value + image->bias;
}

static void take_dynamic(struct nytp_image *image, uint64_t at, uint64_t size)
{
    Elf64_Dyn entries[MAX_DYNAMIC];
    const size_t n =
        size / sizeof *entries < MAX_DYNAMIC ? size / sizeof *entries : MAX_DYNAMIC;
    if (!nytp_memory_read(image->memory, at, entries, n * sizeof *entries))
        return;
    for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
        const Elf64_Dyn entry = entries[i];
        switch (entry.d_tag) {
        case DT_SYMTAB:
            image->symbols = absolute(image, entry.d_un.d_ptr);
            break;
        case DT_STRTAB:
            image->strings = absolute(image, entry.d_un.d_ptr);
            break;
        case DT_STRSZ:
            image->strings_len = entry.d_un.d_val;
            break;
        case DT_GNU_HASH:
            image->gnu_hash = absolute(image, entry.d_un.d_ptr);
            break;
        case DT_HASH:
            image->hash = absolute(image, entry.d_un.d_ptr);
            break;
        }
    }
}

bool nytp_image_at(struct nytp_image *image, struct nytp_memory *memory, uint64_t start)
{
    Elf64_Ehdr head;
    Elf64_Phdr headers[MAX_HEADERS];
    *image = (struct nytp_image){.memory = memory, .start = start};
    if (!nytp_memory_read(memory, start, &head, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_phentsize != sizeof *headers ||
        head.e_phnum == 0 || head.e_phnum > MAX_HEADERS ||
        !nytp_memory_read(memory, start + head.e_phoff, headers,
                          head.e_phnum * sizeof *headers))
        return false;
    image->machine = head.e_machine;
    for (int i = 0; i < head.e_phnum; i++)
        if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0)
            image->bias = start - headers[i].p_vaddr;
    for (int i = 0; i < head.e_phnum; i++)
        if (headers[i].p_type == PT_DYNAMIC)
            take_dynamic(image, headers[i].p_vaddr + image->bias, headers[i].p_memsz);
    return true;
}

/* Returns the symbol's address if it has this name, else 0. */
static uint64_t if_named(const struct nytp_image *image, uint32_t index, const char *name)
{
    Elf64_Sym symbol;
    char found[NAME_ROOM];
    const size_t len = strlen(name) + 1;
    if (!nytp_memory_read(image->memory, image->symbols + index * sizeof symbol, &symbol,
                          sizeof symbol) ||
        symbol.st_value == 0 || symbol.st_shndx == SHN_UNDEF || len > sizeof found ||
        symbol.st_name + len > image->strings_len ||
        !nytp_memory_read(image->memory, image->strings + symbol.st_name, found, len) ||
        memcmp(found, name, len) != 0)
        return 0;
    return symbol.st_value + image->bias;
}

static uint64_t by_gnu_hash(const struct nytp_image *image, const char *name)
{
    struct {
        uint32_t n_buckets, first, n_words, shift;
    } head;
    uint32_t hash = 5381;
    for (const char *at = name; *at != '\0'; at++)
        hash = hash * 33 + (uint8_t)*at;
    if (!nytp_memory_read(image->memory, image->gnu_hash, &head, sizeof head) ||
        head.n_buckets == 0)
        return 0;
    const uint64_t buckets = image->gnu_hash + sizeof head + head.n_words * UINT64_C(8);
    const uint64_t chains = buckets + head.n_buckets * UINT64_C(4);
    uint32_t index =
        nytp_memory_u32(image->memory, buckets + hash % head.n_buckets * UINT64_C(4));
    if (index < head.first)
        return 0;
    for (int i = 0; i < MAX_CHAIN; i++, index++) {
        const uint64_t link = chains + (uint64_t)(index - head.first) * 4;
        const uint32_t other = nytp_memory_u32(image->memory, link);
        const uint64_t found = (other | 1) == (hash | 1) ? if_named(image, index, name) : 0;
        if (found != 0 || other == 0 || (other & 1))
            return found;
    }
    return 0;
}

static uint64_t by_hash(const struct nytp_image *image, const char *name)
{
    uint32_t hash = 0, counts[2];
    for (const char *at = name; *at != '\0'; at++) {
        hash = (hash << 4) + (uint8_t)*at;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    if (!nytp_memory_read(image->memory, image->hash, counts, sizeof counts) || counts[0] == 0)
        return 0;
    const uint64_t buckets = image->hash + sizeof counts;
    const uint64_t chains = buckets + counts[0] * UINT64_C(4);
    uint32_t index = nytp_memory_u32(image->memory, buckets + hash % counts[0] * UINT64_C(4));
    for (int i = 0; i < MAX_CHAIN && index != 0 && index < counts[1]; i++) {
        const uint64_t found = if_named(image, index, name);
        if (found != 0)
            return found;
        index = nytp_memory_u32(image->memory, chains + index * UINT64_C(4));
    }
    return 0;
}

/* Searches the table that a linker leaves in the file and `strip` removes. */
static uint64_t by_file(const struct nytp_image *image, const char *name)
{
    const size_t len = strlen(name) + 1;
    Elf64_Sym symbol;
    if (!nytp_memory_spend(image->memory, image->table_len / sizeof symbol * WORK_OF_SYMBOL))
        return 0;
    for (uint64_t at = 0; at + sizeof symbol <= image->table_len; at += sizeof symbol) {
        memcpy(&symbol, image->table + at, sizeof symbol);
        if (symbol.st_value != 0 && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_name + len <= image->names_len &&
            memcmp(image->names + symbol.st_name, name, len) == 0)
            return symbol.st_value + image->bias;
    }
    return 0;
}

/* Returns the bytes of a section, for free(), or NULL. */
static uint8_t *read_section(const struct nytp_image *image, int fd, const Elf64_Shdr *section)
{
    uint8_t *const bytes =
        section->sh_size <= MAX_TABLE && nytp_memory_spend(image->memory, section->sh_size / 8)
            ? malloc(section->sh_size + 1)
            : NULL;
    if (bytes != NULL && nytp_file_read(fd, section->sh_offset, bytes, section->sh_size))
        return bytes;
    free(bytes);
    return NULL;
}

static bool read_tables(struct nytp_image *image, int fd, const Elf64_Ehdr *head)
{
    Elf64_Shdr table, names;
    for (uint16_t i = 0; i < head->e_shnum; i++) {
        if (!nytp_memory_spend(image->memory, WORK_OF_SECTION) ||
            !nytp_file_read(fd, head->e_shoff + i * sizeof table, &table, sizeof table))
            return false;
        if (table.sh_type != SHT_SYMTAB || table.sh_link >= head->e_shnum)
            continue;
        if (!nytp_file_read(fd, head->e_shoff + table.sh_link * sizeof names, &names,
                            sizeof names))
            return false;
        image->table = read_section(image, fd, &table);
        image->names = read_section(image, fd, &names);
        image->table_len = table.sh_size;
        image->names_len = names.sh_size;
        return image->table != NULL && image->names != NULL;
    }
    return false;
}

bool nytp_image_take_file(struct nytp_image *image, int fd)
{
    Elf64_Ehdr head;
    if (nytp_file_read(fd, 0, &head, sizeof head) && head.e_shentsize == sizeof(Elf64_Shdr) &&
        read_tables(image, fd, &head))
        return true;
    nytp_image_free(image);
    return false;
}

void nytp_image_free(struct nytp_image *image)
{
    free(image->table);
    free(image->names);
    image->table = image->names = NULL;
    image->table_len = image->names_len = 0;
}

uint64_t nytp_symbol(const struct nytp_image *image, const char *name)
{
    uint64_t found = 0;
    if (image->symbols != 0 && image->gnu_hash != 0)
        found = by_gnu_hash(image, name);
    else if (image->symbols != 0 && image->hash != 0)
        found = by_hash(image, name);
    return found != 0 || image->table == NULL ? found : by_file(image, name);
}
