/* Asks the server for windows: parts of the recording, in which calls below a pixel are merged. README.md has their bytes. */

const KEPT = 8; /* windows */
const BRANCHES_LISTED = 1, BRANCHES_MANY = 2;

/* Reads the numbers of an answer. */
class Answer extends Numbers {
	constructor(bytes) {
		super(bytes, 0, bytes.length);
	}

	/* Returns a number that is told as its distance from @before. */
	behind(before) {
		const v = this.next();

		return before + (v % 2 ? -(v + 1) / 2 : v / 2);
	}
}

/* Returns the bytes of an answer of the server. */
async function ask(path, parameters) {
	const response = await fetch(`${path}?${new URLSearchParams(parameters)}`, { cache: "no-store" });

	if (!response.ok)
		throw new Error(await response.text());
	return new Answer(new Uint8Array(await response.arrayBuffer()));
}

/* The calls of a part of some threads on one axis: rows of cells. */
class Window {
	/* @asked: axis (a number), from, to, pixels, first, last */
	constructor(asked, answer) {
		this.asked = asked;
		this.pixel = (asked.to - asked.from) / asked.pixels;
		this.lanes = new Map(); /* by number: { rows: Map of depth to cells, branches } */
		this.n = 0;
		this.isExact = true; /* each call is a cell */
		for (let thread = answer.next(); thread; thread = answer.next())
			this.lanes.set(thread - 1, { rows: this.readRows(answer), branches: this.readBranches(answer) });
	}

	readRows(answer) {
		const rows = new Map();

		for (let left = answer.next(); left; left--)
			rows.set(answer.next(), this.readRow(answer));
		return rows;
	}

	readRow(answer) {
		const n = answer.next(), row = { n };

		for (const column of ["start", "end", "fn", "how", "number", "count", "busy"])
			row[column] = new Float64Array(n);
		for (let i = 0, end = 0, number = 0; i < n; i++) {
			row.start[i] = answer.behind(end);
			row.end[i] = end = row.start[i] + answer.next();
			row.fn[i] = answer.next();
			row.how[i] = answer.next();
			row.number[i] = number = answer.behind(number);
			row.count[i] = answer.next();
			row.busy[i] = row.count[i] > 1 ? answer.next() : end - row.start[i];
			if (row.count[i] > 1)
				this.isExact = false;
		}
		this.n += n;
		return row;
	}

	readBranches(answer) {
		const state = answer.next(), branches = { first: 0, n: 0, isMany: state === BRANCHES_MANY, before: [0, 0], edge: [], end: [[], []] };

		if (state !== BRANCHES_LISTED)
			return branches;
		branches.first = answer.next();
		branches.before = [answer.next(), answer.next()];
		branches.n = answer.next();
		branches.edge = new Uint32Array(branches.n);
		branches.end = [new Float64Array(branches.n), new Float64Array(branches.n)];
		for (let i = 0, at = branches.before.slice(); i < branches.n; i++) {
			branches.edge[i] = answer.next();
			for (const axis of [0, 1])
				branches.end[axis][i] = at[axis] += answer.next();
		}
		return branches;
	}

	/* Returns whether the window has all of @wanted: axis, from, to, first, last. */
	covers(wanted) {
		const { axis, from, to, first, last } = this.asked;

		return axis === wanted.axis && from <= wanted.from && to >= wanted.to && first <= wanted.first && last >= wanted.last;
	}
}

/* The windows that were asked for, the most recent ones. */
class Windows {
	constructor() {
		this.kept = [];
		this.whole = []; /* by axis: all threads from begin to end, in as many cells as an overview needs */
		this.asking = 0;
	}

	async get(asked) {
		this.asking++;
		try {
			return new Window(asked, await ask("window", { ...asked, branches: 1 }));
		} finally {
			this.asking--;
		}
	}

	keep(window) {
		this.kept.unshift(window);
		this.kept.length = Math.min(this.kept.length, KEPT);
	}

	/* Returns the window with @wanted that has the smallest pixels. All threads have at least a window of the whole run. */
	best(wanted) {
		const all = this.kept.filter((window) => window.covers(wanted));

		return all.reduce((best, window) => (window.isExact || window.pixel < best.pixel ? window : best), this.whole[wanted.axis]);
	}
}
