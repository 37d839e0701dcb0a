/* Search, and the table of functions. */

const TABLE_ROWS = 300; /* functions that the table shows at once */

/* The calls of the functions that a search found. */
class Found {
	constructor(model, functions) {
		this.model = model;
		this.functions = functions; /* 1 for each function that was found */
		this.total = 0; /* calls of the recording */
		for (let fn = 0; fn < functions.length; fn++)
			if (functions[fn])
				this.total += model.meta.functions.calls[fn];
		this.collect(this.total);
	}

	/* Lists the calls that the model has, at most @n. */
	collect(n) {
		const { model, functions } = this;

		this.calls = new Uint32Array(n);
		for (let i = 0, at = 0; i < model.n && at < n; i++)
			if (functions[model.fn[i]])
				this.calls[at++] = i;
	}

	/* Returns the number of a call among those that were found, from 1. 0: not known. */
	rank(axis, call) {
		return this.around(axis, call).rank + 1;
	}

	/* Returns the part [begin, end) of this.calls that is of @row. */
	range(row) {
		const n = this.calls.length;

		return [firstAbove(this.calls, 0, n, row.begin, true), firstAbove(this.calls, 0, n, row.end, true)];
	}

	/* Returns the first index in [begin, end) of this.calls whose call ends behind @place. */
	firstFrom(axis, begin, end, place) {
		while (begin < end) {
			const mid = (begin + end) >>> 1;
			if (axis.end[this.calls[mid]] <= place)
				begin = mid + 1;
			else
				end = mid;
		}
		return begin;
	}

	/* Returns how many calls of @row come before a place in the order of start, lane and depth. */
	before(axis, row, place, isAlso) {
		let [begin, end] = this.range(row);
		const first = begin;

		while (begin < end) {
			const mid = (begin + end) >>> 1, start = axis.start[this.calls[mid]];
			if (start < place || (isAlso && start === place))
				begin = mid + 1;
			else
				end = mid;
		}
		return begin - first;
	}

	/*
	 * Returns the calls before and behind @call (-1: in front of all) in the order of their starts, and how many come
	 * before it. At equal starts lanes and depths decide.
	 */
	around(axis, call) {
		const model = this.model, own = call < 0 ? null : model.rowOf(call), place = call < 0 ? -Infinity : axis.start[call];
		const key = (i) => [axis.start[i], model.rowOf(i).number, i];
		const isLess = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
		let rank = 0, previous = -1, next = -1, isOver = false;

		for (const row of model.rows) {
			const [begin, end] = this.range(row);
			isOver = isOver || row === own;
			let at = begin + (row === own ? firstAbove(this.calls, begin, end, call, true) - begin : this.before(axis, row, place, !isOver));
			rank += at - begin;
			if (at > begin && (previous < 0 || isLess(key(this.calls[at - 1]), key(previous)) > 0))
				previous = this.calls[at - 1];
			if (at < end && this.calls[at] === call)
				at++;
			if (at < end && (next < 0 || isLess(key(this.calls[at]), key(next)) < 0))
				next = this.calls[at];
		}
		return { previous, next, rank };
	}
}

class Functions {
	/* @on: choose(functions) is called with 1 for each function of a chosen line. */
	constructor(model, elements, on) {
		const f = model.meta.functions, n = f.name.length;

		this.model = model;
		this.elements = elements;
		this.on = on;
		this.names = Array.from({ length: n }, (_, fn) => model.name(fn));
		this.order = Array.from({ length: n }, (_, fn) => fn);
		this.sorted = "self";
		this.matches = null; /* 1 for each function that fits the search */
		for (const head of elements.heads)
			head.onclick = () => this.sort(head.dataset.sort);
	}

	/* The values of a column of the table, for the axis that is shown. */
	column(key) {
		const f = this.model.meta.functions;

		if (key === "calls")
			return f.calls;
		return this.axis.name === "time" ? f[key + "_ns"] : f[key];
	}

	sort(key) {
		this.sorted = key;
		this.show(this.axis);
	}

	/* Returns 1 for each function whose name has @text in it; null: no function has, or no text. */
	search(text) {
		const words = text.toLowerCase(), found = new Uint8Array(this.names.length);
		let any = false;

		this.matches = null;
		if (words) {
			this.names.forEach((name, fn) => {
				if (name.toLowerCase().includes(words))
					found[fn] = any = 1;
			});
			this.matches = found;
		}
		this.show(this.axis);
		return any ? found : null;
	}

	show(axis) {
		const { sorted, names } = this;

		this.axis = axis;
		const values = sorted === "name" ? null : this.column(sorted);
		this.order.sort((a, b) => (values ? values[b] - values[a] : 0) || (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
		for (const head of this.elements.heads)
			if (head.dataset.sort === sorted)
				head.setAttribute("aria-sort", "descending");
			else
				head.removeAttribute("aria-sort");
		const listed = this.matches ? this.order.filter((fn) => this.matches[fn]) : this.order;
		this.elements.rows.replaceChildren(...listed.slice(0, TABLE_ROWS).map((fn) => this.line(fn)));
		this.elements.more.textContent = listed.length > TABLE_ROWS
			? `${(listed.length - TABLE_ROWS).toLocaleString("en")} more functions: search for them.` : listed.length ? "" : "No function has such a name.";
	}

	line(fn) {
		const tr = document.createElement("tr"), cell = (text) => {
			const td = document.createElement("td");
			td.textContent = text;
			tr.append(td);
			return td;
		};
		const name = this.names[fn], file = this.model.text(this.model.meta.functions.file[fn]);

		cell(/\+0x[0-9a-f]+$/.test(name) ? shorter(name, 30) : shorter(name, 300)).title = `${name.slice(0, 2000)}\n${this.model.sourceOf(fn) || file}`;
		cell(this.model.meta.functions.calls[fn].toLocaleString("en"));
		cell(shown(this.axis, this.column("self")[fn]));
		cell(shown(this.axis, this.column("total")[fn]));
		tr.classList.toggle("chosen", fn === this.chosen);
		tr.dataset.fn = fn;
		tr.onclick = () => this.on.choose(fn);
		return tr;
	}

	/* Mark the line of a function; -1: none. */
	mark(fn) {
		this.chosen = fn;
		for (const tr of this.elements.rows.children)
			tr.classList.toggle("chosen", Number(tr.dataset.fn) === fn);
	}
}
