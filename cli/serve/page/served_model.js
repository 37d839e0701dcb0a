/*
 * The calls of the window that is shown, in the columns of a Model. Behind them are the selected call and its callers, the
 * innermost first: they are known exactly, whatever the window shows.
 */

const STACK = ["number", "depth", "fn", "how", "site", "begin0", "begin1", "end0", "end1", "inside0", "inside1", "calls"];
const FINE = 1.5; /* windows are asked for with so many pixels for each one of the screen */

/* The found calls of the window. */
class ServedFound extends Found {
	collect() {
		super.collect(this.model.n);
		this.calls = this.calls.subarray(0, this.model.countOfFunctions(this.functions));
	}

	rank() {
		return 0;
	}
}

class ServedModel extends Model {
	allocate() {
		this.windows = new Windows();
		this.stack = []; /* the selected call and its callers, without a lane none */
		this.stackLane = null;
		this.shown = null; /* the window in the columns */
		this.isSettled = false; /* the window fits what is on the screen */
		this.lanes.forEach((lane) => (lane.branches = { n: 0, first: 0, edge: [], before: [0, 0], end: [[], []], isMany: false }));
	}

	/* Asks for the whole run on an axis. */
	async loadWhole(axis) {
		super.prepareFirst(axis);
		this.windows.whole[axis.number] = await this.windows.get({
			axis: axis.number, from: axis.first, to: axis.last, pixels: 1500, first: 0, last: Math.max(this.lanes.length - 1, 0),
		});
	}

	prepare(axis) {
		super.prepareFirst(axis);
		this.use(this.windows.whole[axis.number]);
		this.changed();
	}

	/* Called when the columns have another window. */
	changed() {}

	/* --- columns --- */

	/* Puts a window into the columns. */
	use(window) {
		const axis = this.axes[window.asked.axis], room = window.n + this.stack.length;
		let at = 0;

		this.shown = window;
		this.n = window.n;
		for (const column of ["fn", "how", "site", "number", "count"])
			this[column] = new Float64Array(room);
		for (const each of this.axes) {
			each.start = [];
			each.end = [];
		}
		axis.start = new Float64Array(room);
		axis.end = new Float64Array(room);
		axis.busy = new Float64Array(room + 1);
		for (const lane of this.lanes) {
			const part = window.lanes.get(lane.number);
			for (const row of lane.rows)
				at = this.putRow(axis, row, part && part.rows.get(row.depth), at);
			lane.branches = (part && part.branches) || { n: 0, first: 0, edge: [], before: [0, 0], end: [[], []], isMany: false };
		}
		this.rowBegins = Float64Array.from(this.rows, (row) => row.begin);
		axis.gaps = this.lanes.map((lane) => this.gapsOf(axis, lane));
		this.putStack();
	}

	/* As Model.gapsOf. The ends are known in the window only. Other gaps end where they begin. */
	gapsOf(axis, lane) {
		const sorted = (lane.sorted = lane.sorted || []), { from, to } = this.shown.asked, row = lane.rows[0];
		const { list, begin } = (sorted[axis.number] = sorted[axis.number] || this.sortGaps(axis, lane));

		if (axis.name === "insns" || !row)
			return { list, begin, end: begin };
		const end = begin.slice(), last = firstAbove(begin, 0, begin.length, to, false);
		for (let i = Math.max(firstAbove(begin, 0, begin.length, from, true) - 1, 0); i < last; i++) {
			const next = firstAbove(axis.start, row.begin, row.end, begin[i], true);
			end[i] = next < row.end ? axis.start[next] : Math.max(Math.min(axis.last, to), begin[i]);
		}
		return { list, begin, end };
	}

	sortGaps(axis, lane) {
		const list = lane.gaps.slice().sort((a, b) => a.at[axis.number] - b.at[axis.number]);

		return { list, begin: Float64Array.from(list, (gap) => gap.at[axis.number]) };
	}

	putRow(axis, row, cells, at) {
		row.begin = row.end = at;
		if (!cells)
			return at;
		for (const column of ["fn", "how", "number", "count"])
			this[column].set(cells[column], at);
		axis.start.set(cells.start, at);
		axis.end.set(cells.end, at);
		for (let i = 0; i < cells.n; i++)
			axis.busy[at + i + 1] = axis.busy[at + i] + cells.busy[i];
		return (row.end = at + cells.n);
	}

	/* Puts the selected call and its callers behind the window. */
	putStack() {
		this.stack.forEach((call, i) => {
			const at = this.n + i;
			for (const column of ["fn", "how", "site", "number"])
				this[column][at] = call[column];
			this.count[at] = 1;
			for (const axis of this.axes) {
				axis.start[at] = call["begin" + axis.number];
				axis.end[at] = call["end" + axis.number];
			}
		});
	}

	/* Takes the selected call and its callers; an empty list: none. */
	setStack(lane, stack) {
		this.stackLane = lane;
		this.stack = stack;
		this.use(this.shown);
	}

	/* --- the window that fits the screen --- */

	/* Returns what a frame shows, or null. */
	wanted(chart) {
		const { scroll } = chart.elements, top = scroll.scrollTop, { axis } = chart;
		const seen = this.lanes.filter((lane) => !lane.collapsed && lane.top < top + chart.height && lane.top + LANE_HEAD + (lane.rows.length + lane.extra) * ROW > top);
		const from = Math.max(Math.floor(chart.from), axis.first), to = Math.min(Math.ceil(chart.to), axis.last);

		return seen.length && from <= to ? { axis: axis.number, from, to, first: seen[0].number, last: seen[seen.length - 1].number } : null;
	}

	beforeDraw(chart) {
		const wanted = this.wanted(chart);

		if (!wanted) {
			this.isSettled = true;
			return;
		}
		const best = this.windows.best(wanted), pixel = (chart.to - chart.from) / chart.width;
		if (best !== this.shown) {
			this.use(best);
			this.changed();
		}
		this.isSettled = best.covers(wanted) && (best.isExact || best.pixel <= Math.max(pixel, 1));
		if (!this.isSettled && !this.windows.asking)
			this.load(chart, wanted);
	}

	/* Asks for the window @wanted with room at both sides. */
	async load(chart, wanted) {
		const { axis } = chart, room = Math.ceil((wanted.to - wanted.from) / 2);
		const asked = { ...wanted, from: Math.max(wanted.from - room, axis.first), to: Math.min(wanted.to + room, axis.last) };

		const pixel = (chart.to - chart.from) / chart.width;
		asked.pixels = Math.min(Math.max(Math.ceil(((asked.to - asked.from) / pixel) * FINE), 1), 16384);
		try {
			this.windows.keep(await this.windows.get(asked));
		} catch (error) {
			return this.failed(error);
		}
		chart.request();
	}

	/* --- calls --- */

	rowOf(call) {
		return call < this.n ? super.rowOf(call) : this.stackLane.rows[this.stack[call - this.n].depth];
	}

	countOf(call) {
		return this.count[call];
	}

	longest(axis, begin, end) {
		let best = begin;

		for (let i = begin + 1; i < end; i++)
			if (axis.busy[i + 1] - axis.busy[i] > axis.busy[best + 1] - axis.busy[best])
				best = i;
		return best;
	}

	callerOf(call) {
		return call >= this.n && call + 1 < this.n + this.stack.length ? call + 1 : -1;
	}

	callsOf(call) {
		return this.stack[call - this.n].calls;
	}

	selfOf(axis, call) {
		return axis.end[call] - axis.start[call] - this.stack[call - this.n]["inside" + axis.number];
	}

	found(functions) {
		return new ServedFound(this, functions);
	}

	/* Returns how many calls of the window are of @functions. */
	countOfFunctions(functions) {
		let n = 0;

		for (let i = 0; i < this.n; i++)
			n += functions[this.fn[i]];
		return n;
	}

	tipOf(axis, call) {
		const count = this.count[call];

		return count > 1 ? `${count.toLocaleString("en")} calls, the longest one of ${this.name(this.fn[call]).slice(0, 300)}` : super.tipOf(axis, call);
	}

	depths(axis, width) {
		const { shown } = this;

		this.use(this.windows.whole[axis.number]);
		const depths = depthsOf(this, axis, width);
		this.use(shown);
		return depths;
	}
}
