// SPDX-License-Identifier: MIT
// usage: parquet.cjs OUT.parquet TABLE.arrow [OUT.parquet TABLE.arrow]...
//
// Writes each table of `ptcap decode --format arrow` as Parquet, with DuckDB from npm (@duckdb/node-api) and two threads. DuckDB's
// own reader of Arrow files is the extension nanoarrow, which npm does not have. So a table function gives apache-arrow's batches to
// DuckDB: numbers are copied as they are, and a column with a dictionary becomes an ENUM, whose numbers are the indexes.
// Memory does not depend on the number of rows. The rows of a row group are in order, but row groups need not be.
//
// Prints a line of JSON for each: {"rows", "seconds", "user", "system", "peak_kb", "bytes"}. NODE_PATH has the packages: see bench_parquet.py.
"use strict";
const fs = require("fs");
const arrow = require("apache-arrow");
const duckdb = require("@duckdb/node-api");
const bindings = require("@duckdb/node-bindings");

const ROWS = 2048; // of DuckDB's data chunk; a divisor of the rows of a batch
const READ = 4 << 20;
const MAGIC = 8;   // bytes; behind them a file is a stream
const TAIL = 10;   // bytes: the length of the footer, and the magic

// The bytes of a file in front of its footer, which is at the end: its length in 4 bytes, then "ARROW1".
function* bytesOf(path) {
	const fd = fs.openSync(path), size = fs.fstatSync(fd).size, tail = Buffer.alloc(TAIL);
	fs.readSync(fd, tail, 0, TAIL, size - TAIL);
	for (let at = MAGIC, end = size - TAIL - tail.readInt32LE(0); at < end;) {
		const bytes = Buffer.allocUnsafeSlow(Math.min(READ, end - at)), n = fs.readSync(fd, bytes, 0, bytes.length, at);
		if (!n)
			throw new Error(`${path} ends too early`);
		yield bytes.subarray(0, n);
		at += n;
	}
	fs.closeSync(fd);
}

function numbersOf(type) {
	if (type.bitWidth === 64)
		return type.isSigned ? duckdb.BIGINT : duckdb.UBIGINT;
	return type.bitWidth === 32 ? duckdb.INTEGER : duckdb.TINYINT;
}

// The ENUM of a dictionary, and the array that its numbers need.
function enumOf(dictionary) {
	const names = dictionary ? [...dictionary] : [], n = names.length;
	const width = n <= 0xff ? Uint8Array : n <= 0xffff ? Uint16Array : Uint32Array;
	return { type: duckdb.ENUM(names.length ? names : [""]), width };
}

class Table {
	constructor(path) {
		this.batches = arrow.RecordBatchReader.from(bytesOf(path)).open();
		this.fields = this.batches.schema.fields;
		this.rows = this.at = 0;
		this.take();
		this.columns = this.fields.map((field, i) => arrow.DataType.isDictionary(field.type) ?
			enumOf(this.batch?.data.children[i].dictionary) : { type: numbersOf(field.type) });
	}
	take() {
		const next = this.batches.next();
		this.batch = next.done ? null : next.value;
		this.at = 0;
		this.narrow = null;
	}
	// The arrays of the batch's columns: indexes of dictionaries as narrow as their ENUM.
	arrays() {
		this.narrow ??= this.columns.map((column, i) => {
			const values = this.batch.data.children[i].values;
			return column.width ? new column.width(values) : values;
		});
		return this.narrow;
	}
	// Copies the next rows to a data chunk of DuckDB. Returns their number.
	fill(chunk) {
		while (this.batch && this.at === this.batch.numRows)
			this.take();
		if (!this.batch)
			return 0;
		const n = Math.min(ROWS, this.batch.numRows - this.at), data = this.batch.data.children;
		bindings.data_chunk_set_size(chunk, n);
		this.arrays().forEach((array, i) => {
			const vector = bindings.data_chunk_get_vector(chunk, i), size = array.BYTES_PER_ELEMENT, bits = data[i].nullBitmap;
			bindings.copy_data_to_vector(vector, 0, array.buffer, array.byteOffset + this.at * size, n * size);
			if (data[i].nullCount) {
				bindings.vector_ensure_validity_writable(vector);
				bindings.copy_data_to_vector_validity(vector, 0, bits.buffer, bits.byteOffset + this.at / 8, (n + 7) >> 3);
			}
		});
		this.at += n;
		this.rows += n;
		return n;
	}
}

async function write(out, path) {
	const table = new Table(path), instance = await duckdb.DuckDBInstance.create(":memory:", { threads: "2" });
	const connection = await instance.connect();
	connection.registerTableFunction(duckdb.DuckDBTableFunction.create({
		name: "rows_of_table",
		bindFunction: (info) => table.fields.forEach((field, i) => info.addResultColumn(field.name, table.columns[i].type)),
		initFunction: (info) => info.setMaxThreads(2),
		mainFunction: (info, output) => {
			if (!table.fill(output.chunk))
				output.rowCount = 0;
		},
	}));
	await connection.run("SET preserve_insertion_order = false");
	const begin = process.hrtime.bigint(), before = process.resourceUsage();
	await connection.run(`COPY (FROM rows_of_table()) TO '${out.replaceAll("'", "''")}' (FORMAT parquet)`);
	const after = process.resourceUsage();
	process.stdout.write(JSON.stringify({
		rows: table.rows,
		seconds: Number(process.hrtime.bigint() - begin) / 1e9,
		user: (after.userCPUTime - before.userCPUTime) / 1e6,
		system: (after.systemCPUTime - before.systemCPUTime) / 1e6,
		peak_kb: after.maxRSS,
		bytes: fs.statSync(out).size,
	}) + "\n");
}

async function main(files) {
	for (let i = 0; i < files.length; i += 2)
		await write(files[i], files[i + 1]);
}

main(process.argv.slice(2)).catch((e) => {
	process.stderr.write(`${e.stack}\n`);
	process.exitCode = 1;
});
