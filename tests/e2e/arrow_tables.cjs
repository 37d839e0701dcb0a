// SPDX-License-Identifier: MIT
// Reads tables of `ptcap decode --format arrow` with two readers that are not ptcap's: apache-arrow in JavaScript, and DuckDB,
// compiled to WebAssembly, which has Arrow's C++ reader. NODE_PATH has the packages of tests/npm.
//
// Standard input: {"tables": {NAME: FILE}, "groups": [[NAME, COLUMN...]], "sql": [QUERY], "duck": whether DuckDB reads}. Standard output:
// {"rows": {NAME: N}, "batches": {NAME: N}, "types": {NAME: {COLUMN: TYPE}}, "groups": [[[VALUE..., COUNT]]] of apache-arrow,
// "duck": the same of DuckDB, "sql": [[[VALUE...]]]}. Numbers of 64 bits are strings.
"use strict";
const fs = require("fs");
const path = require("path");
const arrow = require("apache-arrow");

const MAGIC = "ARROW1\0\0";

function plain(v) {
	return typeof v === "bigint" ? v.toString() : v === undefined ? null : v;
}

// A file is a stream between the magic and the footer. DuckDB's extension nanoarrow reads it in this way, too.
function streamOf(bytes) {
	return bytes.toString("latin1", 0, MAGIC.length) === MAGIC ? bytes.subarray(MAGIC.length) : bytes;
}

function groupsOf(table, columns) {
	const vectors = columns.map((name) => table.getChild(name)), counts = new Map();
	for (let i = 0; i < table.numRows; i++) {
		const key = JSON.stringify(vectors.map((v) => plain(v.get(i))));
		counts.set(key, (counts.get(key) || 0) + 1);
	}
	return [...counts].map(([key, n]) => [...JSON.parse(key), n]);
}

async function openDuckdb() {
	const blocking = require.resolve("@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs"), duckdb = require(blocking);
	const dist = path.dirname(blocking);
	const db = await duckdb.createDuckDB({ mvp: { mainModule: path.join(dist, "duckdb-mvp.wasm"), mainWorker: "" },
		eh: { mainModule: path.join(dist, "duckdb-eh.wasm"), mainWorker: "" } }, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
	await db.instantiate();
	db.open({});
	return db.connect();
}

function rowsOf(connection, query) {
	const result = connection.query(query);
	return result.toArray().map((row) => result.schema.fields.map((f) => plain(row[f.name])));
}

async function main() {
	const want = JSON.parse(fs.readFileSync(0, "utf8")), tables = {}, connection = want.duck && (await openDuckdb());
	const out = { rows: {}, batches: {}, types: {}, groups: [], duck: [], sql: [] };
	for (const [name, file] of Object.entries(want.tables)) {
		const bytes = fs.readFileSync(file), table = arrow.tableFromIPC(bytes);
		tables[name] = table;
		out.rows[name] = table.numRows;
		out.batches[name] = table.batches.filter((b) => b.numRows).length;
		out.types[name] = Object.fromEntries(table.schema.fields.map((f) => [f.name, `${f.type}`]));
		if (connection)
			connection.insertArrowFromIPCStream(streamOf(bytes), { name, create: true });
	}
	for (const [name, ...columns] of want.groups || []) {
		const list = columns.map((c) => `"${c}"`).join(", ");
		out.groups.push(groupsOf(tables[name], columns));
		if (connection)
			out.duck.push(rowsOf(connection, `SELECT ${list}, count(*)::INTEGER AS n FROM ${name} GROUP BY ALL`));
	}
	for (const query of want.sql || [])
		out.sql.push(rowsOf(connection, query));
	process.stdout.write(JSON.stringify(out));
}

main().catch((e) => {
	process.stderr.write(`${e.stack}\n`);
	process.exitCode = 1;
});
