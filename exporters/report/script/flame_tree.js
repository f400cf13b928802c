/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Flame graph: the tree, what is folded or inverted, and the place of each frame.
 */
/* ---------------------------------------------------------------- flame graph: trees */

/* A tree is arrays by node. Node 0 is the root; parents come before their children. */
function newTree(total) {
    const tree = {name: [], parent: [], width: [], calls: []}, children = new Map();
    tree.append = (parent, name, width, calls) => {
        tree.parent.push(parent);
        tree.width.push(width);
        tree.calls.push(calls);
        return tree.name.push(name) - 1;
    };
    /* Adds to the child of that name, and returns it. */
    tree.add = (parent, name, width, calls) => {
        const key = parent * 4194304 + name + 2, known = children.get(key), node = known || tree.append(parent, name, 0, 0);
        children.set(key, node);
        tree.width[node] += width;
        tree.calls[node] += calls;
        return node;
    };
    tree.append(-1, -2, total, 0);
    return tree;
}

/* flame.js has the frames in preorder: levels to go up, name, width, calls. */
function readTree(data) {
    const tree = newTree(data.total), path = [0];
    for (let i = 0; i < data.frames.length; i += 4) {
        const [up, ...frame] = data.frames.slice(i, i + 4);
        path.length -= i ? up : 0;
        path.push(tree.append(path.at(-1), ...frame));
    }
    return tree;
}

/* Returns the same stacks without folded frames: those become part of their caller. With
 * `collapse` a sub that calls itself is one frame. With `isMine` only stacks through such
 * names remain. */
function rewrite(tree, isFolded, collapse, isMine) {
    const n = tree.name.length, within = new Uint8Array(n), width = new Float64Array(n);
    for (let i = 1; i < n; i++)
        within[i] = within[tree.parent[i]] || isMine(tree.name[i]) ? 1 : 0;
    for (let i = n - 1; i > 0; i--) {
        if (within[i])
            width[i] = tree.width[i];
        if (!within[tree.parent[i]])
            width[tree.parent[i]] += width[i];
    }
    const all = isMine(-2), result = newTree(all ? tree.width[0] : width[0]), to = new Int32Array(n);
    for (let i = 1; i < n; i++) {
        const name = tree.name[i], up = to[tree.parent[i]], value = all ? tree.width[i] : width[i];
        if (value === 0 || isFolded(name) || (collapse && up && result.name[up] === name)) {
            to[i] = up;
        } else {
            to[i] = result.add(up, name, value, tree.calls[i]);
        }
    }
    return result;
}

/* Returns one part's widths and calls: [number minus previous number, width, calls, …]. */
function partOf(tree, list) {
    const width = tree.width.map(() => 0), calls = [...width];
    for (let i = 0, at = 0; i < list.length; i += 3) {
        at += list[i];
        width[at] = list[i + 1];
        calls[at] = list[i + 2];
    }
    return {...tree, width, calls};
}

/* Returns the same stacks without the time of subs that wait. */
function withoutWaits(tree, waits) {
    const lost = ownTimes(tree).map((own, i) => waits[tree.name[i]] ? own : 0);
    for (let i = lost.length - 1; i > 0; i--)
        lost[tree.parent[i]] += lost[i];
    return {...tree, width: tree.width.map((width, i) => width - lost[i])};
}

function ownTimes(tree) {
    const own = Float64Array.from(tree.width);
    for (let i = 1; i < own.length; i++)
        own[tree.parent[i]] -= tree.width[i];
    return own;
}

/* Adds the frames above `node` as a stack, innermost first. */
function addCallers(result, tree, node, width, calls) {
    let at = 0;
    for (let i = node; i > 0; i = tree.parent[i])
        at = result.add(at, tree.name[i], width, calls);
}

/* Returns the tree of subs with exclusive time, with their callers below. */
function invert(tree) {
    const result = newTree(tree.width[0]), own = ownTimes(tree);
    for (let i = 1; i < own.length; i++) {
        if (own[i] > 0)
            addCallers(result, tree, i, own[i], tree.calls[i]);
    }
    return result;
}

/* Returns the callees and the callers of one sub as two trees of the sub's width. */
function pivot(tree, name) {
    const n = tree.name.length, to = new Int32Array(n), below = newTree(0), above = newTree(0);
    for (let i = 1; i < n; i++) {
        const up = to[tree.parent[i]];
        if (up || tree.name[i] === name)
            to[i] = below.add(up, tree.name[i], tree.width[i], tree.calls[i]);
        if (!up && tree.name[i] === name) {
            below.width[0] = above.width[0] += tree.width[i];
            addCallers(above, tree, tree.parent[i], tree.width[i], tree.calls[i]);
        }
    }
    return {above, below};
}

/* ---------------------------------------------------------------- flame graph: places */

/* Places each node: children from their parent's left edge, widest first, small ones last.
 * `rows` has {place, nodes} for each depth, from left to right. */
function layOut(tree) {
    const n = tree.name.length, start = new Float64Array(n), end = new Float64Array(n), children = [], rows = [];
    const place = {tree, own: ownTimes(tree), start, end, rows};
    const isRest = i => tree.name[i] < 0 ? 1 : 0;
    const order = Array.from({length: n - 1}, (_, i) => i + 1);
    order.sort((a, b) => isRest(a) - isRest(b) || tree.width[b] - tree.width[a] || a - b);
    for (const i of order)
        (children[tree.parent[i]] = children[tree.parent[i]] || []).push(i);
    function below(node) {
        let x = start[node];
        for (const child of children[node] || []) {
            start[child] = x;
            end[child] = x += tree.width[child];
        }
        return children[node] || [];
    }
    end[0] = tree.width[0];
    for (let nodes = [0]; nodes.length; nodes = nodes.flatMap(below))
        rows.push({place, nodes});
    return place;
}

/* A picture has rows from top to bottom. A frame in it is {row, node}. */
function picture(tree, view) {
    if (view.pivot < 0)
        return {total: tree.width[0], middle: 0, rows: layOut(view.inverted ? invert(tree) : tree).rows};
    const {above, below} = pivot(tree, view.pivot), callers = layOut(above).rows.slice(1).reverse();
    return {total: below.width[0], middle: callers.length, rows: [...callers, ...layOut(below).rows.slice(1)]};
}
