// SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
//
// Prints DuckDB's answers: for each query one line, a list of rows.
//
//     node duckdb.mjs NODE_FOLDER SQL...
import {createRequire} from "node:module";
import path from "node:path";

const [modules, ...queries] = process.argv.slice(2);
const {DuckDBInstance} = createRequire(path.resolve(modules, "x.js"))("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
for (const query of queries) {
    const answer = await connection.runAndReadAll(query);
    console.log(JSON.stringify(answer.getRowObjectsJson()));
}
