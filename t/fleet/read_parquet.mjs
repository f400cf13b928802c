// SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
//
// Rows of Parquet files as three readers see them: for each file or query one line, a list of objects.
//
//     node read_parquet.mjs NODE_FOLDER hyparquet|wasm FILE...
//     node read_parquet.mjs NODE_FOLDER duckdb SQL...
import {createRequire} from "node:module";
import fs from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";
import zlib from "node:zlib";

const [modules, reader, ...questions] = process.argv.slice(2);
const installed = createRequire(path.resolve(modules, "x.js"));

// Times as milliseconds, whole numbers beyond 2^53 as text.
function plain(value) {
    if (value instanceof Date)
        return value.getTime();
    if (typeof value === "bigint")
        return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    if (typeof value === "object" && value?.[Symbol.iterator])      // arrays, Arrow's vectors
        return Array.from(value, plain);
    if (value !== null && typeof value === "object")
        return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
    return value;
}

async function byHyparquet(file) {
    const folder = path.join(modules, "node_modules/hyparquet");
    const entry = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
    const {parquetReadObjects} = await import(pathToFileURL(path.resolve(folder, entry.main || "src/hyparquet.js")));
    const bytes = fs.readFileSync(file);
    return parquetReadObjects({file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
        compressors: {GZIP: packed => zlib.gunzipSync(packed)}});
}

async function byDuckdb(sql) {
    const {DuckDBInstance} = installed("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    await connection.run("SET TimeZone = 'UTC'");
    return (await connection.runAndReadAll(sql)).getRowObjectsJS();
}

// Rust's arrow and parquet, compiled to WebAssembly.
async function byWasm(file) {
    const table = installed("parquet-wasm").readParquet(new Uint8Array(fs.readFileSync(file)));
    return installed("apache-arrow").tableFromIPC(table.intoIPCStream()).toArray().map(row => ({...row}));
}

const readers = {hyparquet: byHyparquet, duckdb: byDuckdb, wasm: byWasm};
for (const question of questions)
    console.log(JSON.stringify(plain(await readers[reader](question))));
