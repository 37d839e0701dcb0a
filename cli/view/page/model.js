/* The calls of the recording. A call is a number: an index in columns. Calls of one row (a depth of a thread) follow each
 * other by time. */

/* How a call began and ended, by enum ptc_call_how. */
const ENTERED = ["", "it ran when the trace began", "a return; its call was before the trace", "another function jumped to it (tail call)", "a signal", "",
	"inlined"];
const LEFT = ["", "", "a return to a caller from before the trace", "it jumped to another function (tail call)", "sigreturn", "longjmp or an exception",
	"inlined", "a gap hides its end", "it ran when the thread, its program or the trace ended"];
const HOW_CALL = 0, HOW_TRACE = 1, HOW_RETURN = 2, HOW_GAP = 7, HOW_END = 8;
const AXES = ["insns", "time"];
const BLOCK = 64; /* calls whose longest one is known */

/* Returns an array for numbers up to @most. */
function columnFor(most, n) {
	return most < 65536 ? new Uint16Array(n) : most < 4294967296 ? new Uint32Array(n) : new Float64Array(n);
}

/* Returns the first index in [begin, end) whose value is above @v (or equal, if @equal). */
function firstAbove(column, begin, end, v, equal) {
	while (begin < end) {
		const mid = (begin + end) >>> 1;
		if (equal ? column[mid] < v : column[mid] <= v)
			begin = mid + 1;
		else
			end = mid;
	}
	return begin;
}

class Model {
	constructor(meta) {
		const most = [0, 0];
		let n = 0;

		this.meta = meta;
		this.rows = []; /* { lane, depth, number, begin, end } in the order of their calls */
		this.lanes = meta.threads.map((thread, number) => {
			const lane = { number, thread, rows: [], calls: thread.rows.reduce((sum, calls) => sum + calls, 0), collapsed: false, top: 0, gaps: [] };
			thread.rows.forEach((calls, depth) => {
				const row = { lane, depth, number: this.rows.length, begin: n, end: n + calls, filled: n };
				lane.rows.push(row);
				this.rows.push(row);
				n += calls;
			});
			lane.extra = thread.branches ? 1 : 0; /* rows above the calls */
			AXES.forEach((axis, i) => (most[i] = Math.max(most[i], thread.last[i], thread.end[i])));
			return lane;
		});
		this.axes = AXES.filter((axis) => axis === "insns" || meta.times).map((name, i) => ({ name, number: i, first: 0, last: most[i] }));
		this.allocate(n);
		meta.gaps.forEach((gap) => gap.thread >= 0 && this.lanes[gap.thread].gaps.push(gap));
		this.lanes.forEach((lane) => (lane.isOfSnapshot = lane.gaps.some((gap) => gap.cause === "snapshot")));
	}

	/* Makes the columns of @n calls, and those of branches. */
	allocate(n) {
		const { meta } = this;

		this.n = n;
		this.fn = columnFor(meta.functions.name.length, n);
		this.site = columnFor(meta.sites.off.length + 1, n);
		this.calledEnd = new Uint32Array(n); /* behind the last call that a call made */
		this.how = new Uint8Array(n); /* how it was entered, and in the high bits how it ended */
		for (const axis of this.axes) {
			axis.start = columnFor(axis.last, n);
			axis.end = columnFor(axis.last, n);
		}
		for (const lane of this.lanes) {
			const { thread } = lane;
			lane.branches = {
				n: 0, edge: new Uint32Array(thread.branches), before: thread.first, /* before: where the first one begins */
				end: this.axes.map((axis) => columnFor(axis.last, thread.branches)),
			};
		}
		this.rowBegins = Float64Array.from(this.rows, (row) => row.begin);
		this.open = this.lanes.map((lane) => new Int32Array(lane.rows.length));
	}

	/* Called before each frame. */
	beforeDraw() {}

	enter(number, depth, fn, how, site, insns, time) {
		const row = this.lanes[number].rows[depth], call = row.filled++;

		this.fn[call] = fn;
		this.site[call] = site;
		this.how[call] = how;
		this.axes[0].start[call] = insns;
		if (this.axes.length > 1)
			this.axes[1].start[call] = time;
		this.open[number][depth] = call;
	}

	leave(number, depth, how, insns, time) {
		const call = this.open[number][depth];

		this.how[call] |= how << 4;
		this.calledEnd[call] = depth + 1 < this.lanes[number].rows.length ? this.lanes[number].rows[depth + 1].filled : 0;
		this.axes[0].end[call] = insns;
		if (this.axes.length > 1)
			this.axes[1].end[call] = time;
	}

	branch(number, edge, insns, time) {
		const { branches } = this.lanes[number], i = branches.n++;

		branches.edge[i] = edge;
		branches.end[0][i] = insns;
		if (this.axes.length > 1)
			branches.end[1][i] = time;
	}

	/*
	 * Returns the gaps of a lane in the order of their places. end: where trace goes on behind a gap. On the axis of
	 * instructions that is where it ended. Both columns do not decrease.
	 */
	gapsOf(axis, lane) {
		const list = lane.gaps.slice().sort((a, b) => a.at[axis.number] - b.at[axis.number]), row = lane.rows[0];
		const begin = Float64Array.from(list, (gap) => gap.at[axis.number]);
		const end = axis.name === "insns" || !row ? begin : begin.map((at) => {
			const next = firstAbove(axis.start, row.begin, row.end, at, true);
			return next < row.end ? axis.start[next] : Math.max(axis.last, at);
		});

		return { list, begin, end };
	}

	/* Finds the begin of an axis. */
	prepareFirst(axis) {
		axis.first = this.meta.threads.reduce((first, t) => Math.min(first, t.first[axis.number]), axis.last);
	}

	/* Makes an axis ready to draw: sums of lengths, the longest calls of blocks, and the gaps of each lane. */
	prepare(axis) {
		const { start, end } = axis, n = this.n;

		if (axis.busy)
			return;
		this.prepareFirst(axis);
		axis.gaps = this.lanes.map((lane) => this.gapsOf(axis, lane));
		axis.busy = new Float64Array(n + 1);
		axis.longest = [];
		for (let i = 0, sum = 0; i < n; i++)
			axis.busy[i + 1] = sum += end[i] - start[i];
		for (let size = BLOCK, below = null; size < n; size *= BLOCK) {
			const blocks = new Uint32Array(Math.ceil(n / size));
			for (let k = 0; k < blocks.length; k++) {
				const from = k * BLOCK, to = Math.min(from + BLOCK, below ? below.length : n);
				let best = below ? below[from] : from;
				for (let i = from; i < to; i++) {
					const call = below ? below[i] : i;
					if (end[call] - start[call] > end[best] - start[best])
						best = call;
				}
				blocks[k] = best;
			}
			axis.longest.push(blocks);
			below = blocks;
		}
	}

	/* Returns the longest of the calls [begin, end). */
	longest(axis, begin, end) {
		const { start, end: ends, longest } = axis;
		let best = begin, size = 1, level = -1, i = begin;
		const take = (call) => {
			if (ends[call] - start[call] > ends[best] - start[best])
				best = call;
		};

		while (i < end) {
			while (level + 1 < longest.length && i % (size * BLOCK) === 0 && i + size * BLOCK <= end) {
				level++;
				size *= BLOCK;
			}
			while (level >= 0 && (i % size !== 0 || i + size > end)) {
				level--;
				size /= BLOCK;
			}
			take(level < 0 ? i : longest[level][i / size]);
			i += size;
		}
		return best;
	}

	rowOf(call) {
		return this.rows[firstAbove(this.rowBegins, 0, this.rows.length, call, false) - 1];
	}

	/* Returns the call of a row at @place; -1: none. */
	callAt(axis, row, place) {
		const call = firstAbove(axis.start, row.begin, row.end, place, false) - 1;

		return call >= row.begin && axis.end[call] > place ? call : -1;
	}

	/* Returns the call that made @call; -1: none. */
	callerOf(call) {
		const row = this.rowOf(call), above = row.lane.rows[row.depth - 1];

		return above ? firstAbove(this.calledEnd, above.begin, above.end, call, false) : -1;
	}

	/* Returns the calls from the outermost one to @call. Each has the next one inside. */
	stackOf(call) {
		const stack = [];

		for (; call >= 0; call = this.callerOf(call))
			stack.unshift(call);
		return stack;
	}

	/* Returns the calls that @call made itself, as [begin, end) of the row below. */
	calledBy(call) {
		const row = this.rowOf(call), below = row.lane.rows[row.depth + 1];

		if (!below)
			return [0, 0];
		return [call > row.begin ? this.calledEnd[call - 1] : below.begin, this.calledEnd[call]];
	}

	/* Returns how many calls @call made itself. */
	callsOf(call) {
		const [begin, end] = this.calledBy(call);

		return end - begin;
	}

	/* Returns the length of @call less the calls that it made. */
	selfOf(axis, call) {
		const [begin, end] = this.calledBy(call);

		return axis.end[call] - axis.start[call] - (axis.busy[end] - axis.busy[begin]);
	}

	/* Returns how many calls are drawn as @call. */
	countOf() {
		return 1;
	}

	/* Returns the calls of the functions that have a 1 in @functions. */
	found(functions) {
		return new Found(this, functions);
	}

	/* Returns the words of the tip for @call. */
	tipOf(axis, call) {
		return `${this.name(this.fn[call]).slice(0, 300)}\n${shown(axis, axis.end[call] - axis.start[call])}`;
	}

	/* Returns the depths for the overview (marks.js). */
	depths(axis, width) {
		return depthsOf(this, axis, width);
	}

	/* Returns the words for place @number of a list of places: "main+0x12", "libx.so+0x1234", and the source line. */
	place(places, number, omits) {
		const i = number - 1;

		if (i < 0)
			return "";
		const known = typeof places.off[i] === "number", name = this.text(places.function[i]), file = this.text(places.file[i]);
		const at = known ? `${omits ? "" : name}+0x${places.off[i].toString(16)}` : (file ? baseOf(file) + "+0x" : "0x") + places.off[i];
		return places.source[i] ? (omits ? "" : at + "  ") + `${baseOf(this.text(places.source[i]))}:${places.line[i]}` : at;
	}

	text(number) {
		return this.meta.texts[number] || "";
	}

	/* Returns the name of a function: its symbol, or file+0x12, or an address. */
	name(fn) {
		const f = this.meta.functions, file = this.text(f.file[fn]);

		return this.text(f.name[fn]) || (file ? baseOf(file) + "+0x" : "0x") + f.off[fn];
	}

	/* Returns "file:line" of a function, or "". */
	sourceOf(fn) {
		const f = this.meta.functions;

		return f.source[fn] ? this.text(f.source[fn]) + ":" + f.line[fn] : "";
	}
}

/* Returns the last part of a path. */
function baseOf(path) {
	return path.slice(path.lastIndexOf("/") + 1);
}
