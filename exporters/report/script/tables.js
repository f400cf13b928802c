/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Tables: sort and filter.
 */
/* Returns the exact number of a cell. A cell in nanoseconds has all digits in its text. */
const numberOf = cell => +(cell.dataset.n || cell.textContent.replace(/[^\d.-]/g, ""));

function cellValue(row, column, isText) {
    const cell = row.cells[column];
    return isText ? (find("a", cell) || cell).textContent : numberOf(cell);
}

function setUpTable(box, main) {
    const table = find("table", box), heads = [...table.tHead.rows[0].cells];
    const name = table.id.slice(prefix().length), key = name === main ? "" : name + ".";
    const written = [...table.tBodies].flatMap(body => [...body.rows]);
    const sumColumn = heads.findIndex(head => head.dataset.key === box.dataset.sum);
    let texts = null, order = null;

    function place(rows) {
        const perBody = Math.ceil(rows.length / table.tBodies.length);
        [...table.tBodies].forEach((body, i) =>
            body.replaceChildren(...rows.slice(i * perBody, (i + 1) * perBody)));
    }

    /* The page is initially sorted by the column in data-sort. */
    function sort(wanted) {
        const column = heads.findIndex(head => head.dataset.key === wanted.replace("-", ""));
        if (wanted === order || column < 0)
            return;
        const isText = heads[column].dataset.kind === "text", upward = isText !== wanted.startsWith("-"), sign = upward ? 1 : -1;
        if (order || wanted !== box.dataset.sort) {
            const keyed = written.map(row => ({row, value: cellValue(row, column, isText)}));
            keyed.sort((a, b) => sign * ((a.value > b.value) - (a.value < b.value)));
            place(keyed.map(entry => entry.row));
        }
        order = wanted;
        heads.forEach((head, i) => i === column
            ? head.setAttribute("aria-sort", upward ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
    }

    const input = field("filter, or re:expression", "Filter " + name), said = make("output");

    function filter() {
        const matches = matcher(input);
        if (!matches) {
            said.textContent = "no regular expression";
            return;
        }
        texts = texts || written.map(row => heads.map((head, i) =>
            head.dataset.kind ? row.cells[i].textContent + " " + row.cells[i].title : "").join(" "));
        let shown = 0, sum = 0;
        written.forEach((row, i) => {
            row.hidden = !matches(texts[i]);
            if (!row.hidden) {
                shown++;
                sum += sumColumn < 0 ? 0 : cellValue(row, sumColumn, false);
            }
        });
        said.textContent = input.value ? `${count(shown)} of ${count(written.length)}`
            + (sumColumn < 0 ? "" : ", " + time(sum)) : "";
    }

    function follow() {
        const now = settings();
        sort(now.get(key + "sort") || box.dataset.sort || "");
        if (input.value !== (now.get(key + "q") || "") || texts) {
            input.value = now.get(key + "q") || "";
            filter();
        }
    }

    heads.filter(head => head.dataset.key).forEach(head => {
        const label = make("button", {type: "button", title: head.title});
        label.append(...head.childNodes);
        head.append(label);
        label.onclick = () => {
            const next = order === head.dataset.key ? "-" + order : head.dataset.key;
            setting(key + "sort", next === box.dataset.sort ? "" : next);
            sort(next);
        };
    });
    if (written.length > 20) {
        input.oninput = () => {
            filter();
            setting(key + "q", input.value);
        };
        table.before(div("bar", input, said));
    }
    redraws.push(follow);
    follow();
}
