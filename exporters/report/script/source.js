/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Source pages: keys, minimap.
 */
const heatOf = element => +((/\bh(\d)/.exec(element.className) || [0, 0])[1]);

/* Marks this row, if any, and no other. */
function markHere(row) {
    all(".here").forEach(old => old.classList.remove("here"));
    if (row)
        row.classList.add("here");
}

function goToRow(row) {
    address(row.id.slice(prefix().length));
    markHere(row);
}

/* Lines without a heat class did not run; the mark's class is removed for this test. */
function setUpSource(box, tools) {
    const rows = all("tbody > tr", box), ran = rows.filter(row => row.className);

    const onlyRan = button("Only lines that ran", "c", () => press(onlyRan, box.classList.toggle("only-ran")));
    press(onlyRan, false);
    /* Goes to the next hot line after the marked one, or after the first in view. */
    function step(by) {
        const least = Math.max(1, ...ran.map(row => heatOf(row) - 2));
        const here = find(".here", box) || firstVisible() || box;
        const hot = ran.filter(row => heatOf(row) >= least && row !== here
            && here.compareDocumentPosition(row) & (by > 0 ? 4 : 2));
        const row = hot.at(by > 0 ? 0 : -1);
        if (row) {
            row.scrollIntoView({block: "center"});
            goToRow(row);
        }
    }

    const firstVisible = () => {
        const edge = box.getBoundingClientRect();
        const under = document.elementFromPoint(edge.left + 30, Math.max(edge.top, 80) + 4);
        return under && under.closest("tbody tr");
    };

    box.addEventListener("click", event => {
        if (event.target.matches("tr[id] > th"))
            goToRow(event.target.parentElement);
    });
    minimap(box, rows, firstVisible);
    setUpColours(box);
    tools.append(onlyRan, button("▴", "k: the hot line before", () => step(-1)),
        button("▾", "j: the next hot line", () => step(1)));
    page.keys = {j: () => step(1), k: () => step(-1), c: () => onlyRan.click()};
}

/* Draws all of the source on one strip: its hot lines and the part in view. */
function minimap(box, rows, firstVisible) {
    const canvas = make("canvas", {className: "minimap", title: "hot lines: click to go", "aria-hidden": "true"});
    box.append(canvas);

    function draw() {
        const height = innerHeight - canvas.getBoundingClientRect().top - 6, width = canvas.clientWidth;
        if (!width)
            return;
        const pen = penFor(canvas, width, height), lines = shownRows(), at = lines.indexOf(firstVisible());
        if (at >= 0) {
            pen.fillStyle = colour("rule");
            pen.fillRect(0, at / lines.length * height, width, Math.max(6, innerHeight / 20 / lines.length * height));
        }
        const strokes = lines.map((row, i) => [heatOf(row), i]).filter(([heat]) => heat > 0).sort((a, b) => a[0] - b[0]);
        pen.fillStyle = colour("hot");
        for (const [heat, i] of strokes) {
            const long = width * (heat + 1) / 8;
            pen.fillRect(width - long, i / lines.length * height, long, Math.max(2, height / lines.length));
        }
    }
    const shownRows = () => box.classList.contains("only-ran") ? rows.filter(row => row.className) : rows;
    canvas.onclick = event => {
        const lines = shownRows();
        lines[Math.min(lines.length - 1, Math.floor(event.offsetY / canvas.clientHeight * lines.length))]
            .scrollIntoView({block: "center"});
    };
    addEventListener("scroll", drawnIn(box, draw), {passive: true});
}

/* Draws again when the element's size, the theme or the address changes. */
function drawnIn(element, paint) {
    const draw = later(paint);
    new ResizeObserver(draw).observe(element);
    addEventListener("resize", draw);
    redraws.push(draw);
    return draw;
}

/* Returns a function that runs `work` once before the next frame, however often called. */
function later(work) {
    let asked = false;
    return () => {
        if (asked)
            return;
        asked = true;
        requestAnimationFrame(() => {
            asked = false;
            work();
        });
    };
}
