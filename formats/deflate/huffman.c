/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Huffman's algorithm over sorted counts; see huffman.h. It allocates nothing and avoids
 * qsort(), which may: it has to run while the process dies of a signal.
 */
#include "huffman.h"

#include <stdbool.h>
#include <string.h>

enum {
    FEW_LEAVES = 48,
};

/* A count above its symbol, which decides between equal counts. */
typedef uint64_t leaf;

static leaf leaf_of(uint32_t count, size_t symbol)
{
    return (uint64_t)count << 16 | symbol;
}

static uint32_t count_of(leaf leaf)
{
    return (uint32_t)(leaf >> 16);
}

static size_t symbol_of(leaf leaf)
{
    return leaf & 0xFFFF;
}

/* Insertion sort, for few leaves that are nearly in order. */
static void sort_few(leaf *leaves, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const leaf moved = leaves[i];
        size_t at = i;
        for (; at > 0 && moved < leaves[at - 1]; at--)
            leaves[at] = leaves[at - 1];
        leaves[at] = moved;
    }
}

/* Radix sort by eight bits of the counts at a time, lowest first. It is stable, and the leaves
 * come in order of their symbols. It has no comparison that the processor could mispredict. */
static void sort_leaves(leaf *leaves, size_t n)
{
    leaf room[NYTP_HUFFMAN_MOST];
    uint32_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= count_of(leaves[i]);
    if (n < FEW_LEAVES) {
        sort_few(leaves, n);
        return;
    }
    for (unsigned shift = 0; shift < 32 && all >> shift > 0; shift += 8) {
        uint16_t starts[257] = {0};
        for (size_t i = 0; i < n; i++)
            starts[1 + (count_of(leaves[i]) >> shift & 0xFF)]++;
        for (size_t i = 1; i < 256; i++)
            starts[i] = (uint16_t)(starts[i] + starts[i - 1]);
        for (size_t i = 0; i < n; i++)
            room[starts[count_of(leaves[i]) >> shift & 0xFF]++] = leaves[i];
        memcpy(leaves, room, n * sizeof *leaves);
    }
}

static size_t collect_leaves(const uint32_t *counts, size_t n, leaf *leaves)
{
    size_t n_leaves = 0, missing = 2;
    for (size_t i = 0; i < n; i++)
        missing -= counts[i] > 0 && missing > 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_raised = counts[i] == 0 && missing > 0;
        missing -= is_raised;
        if (counts[i] > 0 || is_raised)
            leaves[n_leaves++] = leaf_of(is_raised ? 1 : counts[i], i);
    }
    return n_leaves;
}

/* Computes the depth of each leaf in the tree that results from joining the two smallest
 * weights until one is left. The leaves are sorted, and inner nodes are made in order of
 * weight, so the smallest is always at the head of one of two queues. Returns the greatest
 * depth. */
static unsigned depths(const leaf *leaves, size_t n, uint8_t *depth)
{
    uint32_t weights[2 * NYTP_HUFFMAN_MOST];
    uint16_t parents[2 * NYTP_HUFFMAN_MOST];
    uint8_t node_depths[2 * NYTP_HUFFMAN_MOST];
    for (size_t i = 0; i < n; i++)
        weights[i] = count_of(leaves[i]);
    size_t next_leaf = 0, inner = n;
    const size_t root = 2 * n - 2;
    for (size_t made = n; made <= root; made++) {
        weights[made] = 0;
        for (int child = 0; child < 2; child++) {
            const bool takes_leaf =
                next_leaf < n && (inner == made || weights[next_leaf] <= weights[inner]);
            const size_t taken = takes_leaf ? next_leaf++ : inner++;
            weights[made] += weights[taken];
            parents[taken] = (uint16_t)made;
        }
    }
    node_depths[root] = 0;
    for (size_t i = root; i-- > 0;)
        node_depths[i] = (uint8_t)(node_depths[parents[i]] + 1);
    memcpy(depth, node_depths, n);
    return depth[0]; /* the rarest is the deepest */
}

static uint32_t reversed(uint32_t bits)
{
    bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
    bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
    bits = (bits & 0x0F0F) << 4 | (bits >> 4 & 0x0F0F);
    return (bits & 0x00FF) << 8 | bits >> 8;
}

void nytp_huffman_number(struct nytp_code *codes, size_t n)
{
    uint16_t of_len[NYTP_HUFFMAN_LONGEST + 1] = {0}, next[NYTP_HUFFMAN_LONGEST + 1] = {0};
    for (size_t i = 0; i < n; i++)
        of_len[codes[i].len]++;
    of_len[0] = 0;
    for (unsigned len = 1; len <= NYTP_HUFFMAN_LONGEST; len++)
        next[len] = (uint16_t)((next[len - 1] + of_len[len - 1]) << 1);
    for (size_t i = 0; i < n; i++) {
        const unsigned len = codes[i].len;
        if (len == 0)
            continue;
        codes[i].bits = (uint16_t)(reversed(next[len]++) >> (16 - len));
    }
}

void nytp_huffman_build(const uint32_t *counts, size_t n, unsigned longest,
                        struct nytp_code *codes)
{
    leaf leaves[NYTP_HUFFMAN_MOST];
    uint8_t depth[NYTP_HUFFMAN_MOST];
    const size_t n_leaves = collect_leaves(counts, n, leaves);
    sort_leaves(leaves, n_leaves);
    /* Flatter counts make a flatter tree. In the end all are 1. */
    while (depths(leaves, n_leaves, depth) > longest)
        for (size_t i = 0; i < n_leaves; i++)
            leaves[i] = leaf_of((count_of(leaves[i]) + 1) / 2, symbol_of(leaves[i]));
    for (size_t i = 0; i < n; i++)
        codes[i].len = 0;
    for (size_t i = 0; i < n_leaves; i++)
        codes[symbol_of(leaves[i])].len = depth[i];
    nytp_huffman_number(codes, n);
}
