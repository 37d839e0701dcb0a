// SPDX-License-Identifier: MIT
// Asks DuckDB (@duckdb/node-api). Standard input: [QUERY]. Standard output: [[[VALUE...]]]. Numbers of 64 bits are strings.
"use strict";
const fs = require("fs");
const duckdb = require("@duckdb/node-api");

async function main() {
	const connection = await (await duckdb.DuckDBInstance.create(":memory:")).connect(), answers = [];
	for (const query of JSON.parse(fs.readFileSync(0, "utf8")))
		answers.push((await connection.runAndReadAll(query)).getRowsJson());
	process.stdout.write(JSON.stringify(answers));
}

main().catch((e) => {
	process.stderr.write(`${e.stack}\n`);
	process.exitCode = 1;
});
