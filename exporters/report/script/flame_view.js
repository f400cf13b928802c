/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Flame graph: the picture on a canvas and what the reader does with it.
 */
const ROW = 19, MOST_HEIGHT = 8000;
let flameData = null;
const waiting = [];

nytp.flame = data => {
    flameData = data;
    waiting.splice(0).forEach(work => work());
};

function withFlameData(section, work) {
    const inPage = find("#flame-data");
    if (!flameData && inPage)
        flameData = JSON.parse(inPage.textContent);
    if (flameData)
        work();
    else if (waiting.push(work) === 1)
        document.head.append(make("script", {src: section.dataset.src}));
}

/* Returns the colour of a package, always the same: pale in the light theme, else dark. */
function packageColour(text, isNative) {
    const key = isNative + text;
    if (!colours.has(key)) {
        let hash = 7;
        for (const letter of text)
            hash = (hash * 31 + letter.codePointAt(0)) % 100003;
        colours.set(key, `oklch(${isDark() ? 0.4 : 0.87} ${isNative ? 0.02 : 0.075} ${hash * 137 % 360})`);
    }
    return colours.get(key);
}

/* Returns as much of the name as fits: all, its last part, or the beginning of that. */
function fitting(pen, name, width) {
    const long = text => pen.measureText(text).width;
    if (width < 20)
        return "";
    if (long(name) <= width)
        return name;
    let text = name.split("::").pop();
    if (long(text) > width) {
        text = text.slice(0, Math.ceil(text.length * width / long(text)));
        while (text && long(text + "…") > width)
            text = text.slice(0, -1);
        text += "…";
    }
    return text.length > 2 ? text : "";
}

/* Waiting is hidden if the reader said so, or if it is over half of all time. */
const HIDE_WAITING = ["Hide waiting", "for input, locks, children, time"];
const hidesWaiting = (idle, whole) => !!+(settings().get("work") || idle * 2 > whole);

/* The line about the frame under the pointer. */
const newDetail = () => make("div", {className: "detail", role: "status"});

/* Prepares a canvas in pixels of the screen and returns its context. */
function penFor(canvas, width, height) {
    const scale = devicePixelRatio || 1, pen = canvas.getContext("2d");
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = height + "px";
    pen.scale(scale, scale);
    pen.font = "12px " + getComputedStyle(html).fontFamily;
    pen.textBaseline = "middle";
    return pen;
}

function setUpFlame(section) {
    const draw = () => withFlameData(section, () => drawFlame(section, flameData));
    if (!section.dataset.fid || settings().get("zoom")) {
        draw();
        return;
    }
    const open = button("Show the stacks through this file", "f", () => {
        open.remove();
        draw();
    });
    find(".view", section).append(open);
}

/* Returns the first node of a row, from left to right, that ends behind x. */
function firstEndingAfter(row, x) {
    let low = 0, high = row.nodes.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (row.place.end[row.nodes[middle]] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One flame graph. `scene` is the picture; `from` and `to` are the zoom; `chosen` is the
 * keyboard's frame, `over` the mouse's. */
function drawFlame(section, data) {
    const home = page, box = find(".view", section), fid = +(section.dataset.fid || 0);
    const recorded = readTree(data), now = settings(), packages = data.names.map(name => name.slice(0, Math.max(0, name.lastIndexOf("::"))));
    const view = {pivot: data.names.indexOf(now.get("pivot")), only: now.get("only")};
    const library = new Set(data.library);
    let read, idle, tree, scene, from, to, over = null, chosen = null, found = null;
    /* an SVG element has no such property */
    all(".still", section).forEach(still => still.setAttribute("hidden", ""));

    const ns = width => time(width * data.unit_ns);
    const frameOf = (row, node) => {
        const {place} = scene.rows[row], {tree} = place;
        return {row, node, start: place.start[node], end: place.end[node], own: place.own[node],
            name: tree.name[node], width: tree.width[node], calls: tree.calls[node]};
    };
    const same = (a, b) => a && b && a.row === b.row && a.node === b.node;
    const label = frame => frame.name >= 0 ? data.names[frame.name]
        : frame.name === -1 ? `${count(frame.calls)} small frames` : "all";
    const isZoomed = () => from > 0 || to < scene.total;

    /* Chooses all stacks, or those of the chosen row: a process, a label, a package. */
    function choosePart() {
        read = data.parts[view.only] ? partOf(recorded, data.parts[view.only]) : recorded;
        const busy = withoutWaits(read, data.waits);
        idle = read.width[0] - busy.width[0];
        if (view.work)
            read = busy;
    }
    choosePart();

    /* controls */
    const canvas = make("canvas", {tabIndex: 0, role: "application", "aria-label":
        "Flame graph: arrows move, Enter zooms, Escape goes back, p: callers and callees, i: inverted"});
    const space = make("div"), graph = div("graph", canvas, space);
    const detail = newDetail(), said = make("output");
    const tip = make("div", {className: "tip", hidden: true});
    const search = field("find subs, or re:expression", "Find in the flame graph", {value: now.get("find") || "", oninput: () => {
        setting("find", search.value);
        look();
    }});
    const fold = field("fold: expression", "subs or files that become part of their callers",
        {value: kept("fold"), onchange: () => {
            kept("fold", fold.value);
            rebuild();
        }});
    const toggles = [["inverted", setting, 1, now.get("inverted"), "", "Inverted", "i: who took time, under it who called"],
        ["collapse", setting, 1, now.get("collapse"), "", "Recursion as one", "direct recursion"],
        ["library", kept, library.size, kept("library"), "", "Fold library", "modules of perl's own folders"],
        ["work", setting, idle, hidesWaiting(idle, read.width[0]), "0", ...HIDE_WAITING]
    ].filter(([, , isOf]) => isOf).map(([key, keep, , isOn, off, ...words]) => {
        view[key] = !!isOn;
        const element = button(...words, () => {
            view[key] = !view[key];
            if (view.inverted)
                view.pivot = -1;
            keep(key, view[key] ? "1" : off);
            rebuild();
        });
        return {key, element};
    });
    const whole = button("Whole graph", "Escape", () => {
        view.pivot = -1;
        view.only = null;
        rebuild();
    });
    box.append(div("bar", search, said, ...toggles.map(toggle => toggle.element), fold, whole), graph, detail, tip);
    all("[data-part]", home).forEach(row => {
        const {part} = row.dataset, element = button("Only this", "in the flame graph", () => {
            view.only = view.only === part ? null : part;
            rebuild();
            section.scrollIntoView();
        });
        row.lastElementChild.prepend(element, " ");
        toggles.push({key: part, element});
    });

    /* Shows the hottest subs of the part, if the page has that table. A class marks the other
     * tables, which are of the whole program. */
    function showTables() {
        const tables = all("[data-of]", home), own = tables.find(box => box.dataset.of === view.only);
        tables.forEach(box => box.hidden = box !== own);
        if (own && !own.isSetUp) {
            own.isSetUp = true;
            setUpTable(own.firstChild);
        }
        if (tables.length)
            tables[0].previousElementSibling.hidden = !!own;
        home.classList.toggle("part", !!view.only);
    }

    /* building */
    function rebuild() {
        choosePart();
        const inPackage = data.parts[view.only] ? "" : view.only;
        home.classList.toggle("no-waits", !!view.work);
        const folds = matcher(fold, fold.value && "re:" + fold.value);
        const isFolded = name => name >= 0 && (fold.value && folds && (folds(data.names[name]) || folds(data.hrefs[name]))
            || (view.library && library.has(data.fids[name])));
        tree = fid || fold.value || view.only || view.collapse || view.library
            ? rewrite(read, isFolded, view.collapse, name => fid ? data.fids[name] === fid : !inPackage || packages[name] === inPackage) : read;
        showTables();
        scene = picture(tree, view);
        toggles.forEach(({key, element}) => press(element, key === view.only || !!view[key]));
        setting("only", view.only || "");
        over = chosen = null;
        setting("pivot", data.names[view.pivot] || "");
        zoom(null);
        look();
    }

    /* Finds matching frames, and the time of all stacks with any, each counted once. */
    function look() {
        const matches = matcher(search), inside = new Uint8Array(tree.name.length);
        found = search.value && matches && data.names.map(matches);
        let sum = 0, frames = 0;
        for (let i = 1; found && i < inside.length; i++) {
            const isIn = inside[tree.parent[i]], isHit = found[tree.name[i]];
            inside[i] = isIn || isHit ? 1 : 0;
            sum += isHit && !isIn ? tree.width[i] : 0;
        }
        scene.rows.forEach(row => row.nodes.forEach(node => frames += found && found[row.place.tree.name[node]] ? 1 : 0));
        said.textContent = found ? `${count(frames)} frames, ${ns(sum)}, ${percent(sum, tree.width[0])}` : "";
        draw();
    }

    /* drawing */
    function fill(frame) {
        if (frame.name < 0)
            return colour("raised");
        return packageColour(packages[frame.name], data.kinds[frame.name] > 0);
    }

    function paint() {
        const tall = scene.rows.length * ROW, most = Math.round(innerHeight * 0.68), width = graph.clientWidth;
        const height = Math.min(tall, Math.max(most, graph.clientHeight), MOST_HEIGHT);
        if (!width)
            return;
        const pen = penFor(canvas, width, height), top = graph.scrollTop, perTick = width / (to - from);
        space.style.height = tall - height + "px";
        whole.hidden = !isZoomed() && view.pivot < 0 && !view.only;
        scene.rows.forEach((row, r) => {
            const y = r * ROW - top;
            for (let x = y > -ROW && y < height ? from : to; x < to;) {
                const node = row.nodes[firstEndingAfter(row, x)];
                if (node === undefined || row.place.start[node] >= to)
                    break;
                const frame = frameOf(r, node), left = Math.max(0, (frame.start - from) * perTick);
                paintFrame(pen, frame, {left, y, wide: Math.min(width, (frame.end - from) * perTick) - left});
                x = frame.end + 0.6 / perTick;
            }
        });
    }

    function paintFrame(pen, frame, {left, y, wide}) {
        const isHit = found && found[frame.name], isChosen = same(frame, chosen);
        pen.fillStyle = isHit ? colour("hit") : found ? colour("raised") : fill(frame);
        pen.fillRect(left, y, Math.max(0.6, wide - 0.6), ROW - 1);
        if (isChosen || same(frame, over)) {
            pen.strokeStyle = colour("ink");
            pen.lineWidth = isChosen ? 2 : 1;
            pen.strokeRect(left + 1, y + 1, Math.max(1, wide - 2.6), ROW - 3);
        }
        if (wide > 28) {
            pen.fillStyle = colour("ink");
            pen.fillText(fitting(pen, label(frame), wide - 8), left + 4, y + ROW / 2);
        }
    }
    const draw = drawnIn(graph, paint);

    /* Shows the text of the line below the graph at the pointer. */
    function point(event) {
        tip.hidden = !over;
        tip.textContent = all("b, span", detail).map(one => one.textContent).concat(over && data.places[over.name] || []).join("\n");
        const {clientX: x, clientY: y} = event, {offsetWidth: wide, offsetHeight: high} = tip;
        tip.style.left = Math.min(x + 14, innerWidth - wide - 8) + "px";
        tip.style.top = (y + 20 + high > innerHeight ? y - high - 10 : y + 18) + "px";
    }

    function describe() {
        const frame = over || chosen, parts = [];
        const say = text => parts.push(span(text));
        if (!frame) {
            say(`${ns(scene.total)} in all. ${view.work && idle ? "Hidden: " + ns(idle) + ". " : ""}Click or Enter zooms, Escape goes back, arrows move.`);
        } else {
            parts.push(make("b", {}, label(frame)));
            say(`${ns(frame.width)}, ${percent(frame.width, read.width[0])}`);
            if (!view.inverted && frame.row >= scene.middle)
                say(`own ${ns(frame.own)}`);
        }
        if (frame && frame.name >= 0) {
            const href = data.hrefs[frame.name], kind = ["", "xsub", "builtin", "main program", "did not return"][data.kinds[frame.name]];
            say(`${count(frame.calls)} call${frame.calls === 1 ? "" : "s"}`);
            if (kind)
                say(kind);
            if (href)
                parts.push(make("a", {href}, "source line"));
            parts.push(button("Callers and callees", "p", () => turn(frame.name)));
        }
        detail.replaceChildren(...parts);
    }

    /* moving */
    function zoom(frame) {
        [from, to] = frame ? [frame.start, frame.end] : [0, scene.total || 1];
        setting("zoom", isZoomed() ? frame.row + "." + frame.start : "");
        describe();
        draw();
    }

    function choose(frame) {
        const y = frame.row * ROW;
        chosen = frame;
        over = null;
        if (y < graph.scrollTop || y + ROW > graph.scrollTop + canvas.clientHeight)
            graph.scrollTop = y - canvas.clientHeight / 2;
        describe();
        draw();
    }

    /* Shows one sub in the middle, its callers above and its callees below. */
    function turn(name) {
        Object.assign(view, {pivot: name, inverted: false});
        setting("inverted", "");
        rebuild();
        choose(frameOf(scene.middle, scene.rows[scene.middle].nodes[0]));
        canvas.focus();
    }

    /* Goes one step back: out of the search, the zoom, the pivot. */
    function back() {
        if (isZoomed())
            zoom(null);
        else if (view.pivot >= 0 || view.only)
            whole.click();
        else if (search.value) {
            search.value = "";
            search.oninput();
        }
    }

    function nearest(row, x) {
        const line = scene.rows[row];
        return line && frameOf(row, line.nodes[Math.min(line.nodes.length - 1, firstEndingAfter(line, x))]);
    }

    function frameAt(event) {
        const line = Math.floor((event.offsetY + graph.scrollTop) / ROW), x = from + event.offsetX / canvas.clientWidth * (to - from);
        const frame = nearest(line, x);
        return frame && frame.start <= x && x < frame.end ? frame : null;
    }

    function move(rows, steps) {
        const here = chosen, nodes = here && scene.rows[here.row].nodes;
        if (!here)
            return choose(nearest(scene.middle, from));
        const next = rows ? nearest(here.row + rows, here.start)
            : frameOf(here.row, nodes[nodes.indexOf(here.node) + steps] || here.node);
        if (next && (steps || (next.start < here.end && next.end > here.start)))
            choose(next);
    }
    const keys = {ArrowUp: () => move(-1, 0), ArrowDown: () => move(1, 0), ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1),
        Enter: () => chosen && zoom(chosen), Escape: back, i: () => toggles[0].element.click(),
        p: () => chosen && chosen.name >= 0 && turn(chosen.name)};
    canvas.onkeydown = event => onKeys(event, keys);
    canvas.onmousemove = canvas.onmouseleave = event => {
        const frame = event.type === "mouseleave" ? null : frameAt(event);
        if (frame !== over && !same(frame, over)) {
            over = frame;
            describe();
            draw();
        }
        point(event);
    };
    canvas.onclick = event => {
        const frame = frameAt(event);
        if (frame) {
            choose(frame);
            zoom(frame);
        }
    };
    graph.onscroll = draw;
    rebuild();
    const [row, start] = (now.get("zoom") || "-1.0").split(".").map(Number);
    if (scene.rows[row]) {
        choose(nearest(row, start));
        zoom(chosen);
    }
    home.graph = canvas;
}
