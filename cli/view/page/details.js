/* What is known about the selected call. All texts of a recording become text nodes. */

function element(tag, text, parent, name) {
	const e = document.createElement(tag);

	if (text !== undefined)
		e.textContent = text;
	if (name)
		e.className = name;
	if (parent)
		parent.append(e);
	return e;
}

class Details {
	/* @on: select(call), reveal(call), only(fn), step(by). */
	constructor(model, box, on) {
		this.model = model;
		this.box = box;
		this.on = on;
	}

	/* Returns where a call was made: "file.c:12", "+0x34" in the caller, or "libx.so+0x1234"; "" if that is not known. */
	siteOf(call) {
		return this.model.place(this.model.meta.sites, this.model.site[call], true);
	}

	empty() {
		this.box.replaceChildren();
		element("p", "Click a call, or search for a function.", this.box, "hint");
	}

	show(call, axis) {
		const { model } = this, fn = model.fn[call], how = model.how[call];
		const length = axis.end[call] - axis.start[call], self = model.selfOf(axis, call), lane = model.rowOf(call).lane.thread;
		const facts = element("dl"), fact = (name, value) => {
			if (!value)
				return;
			element("dt", name, facts);
			element("dd", value, facts);
		};

		this.box.replaceChildren();
		element("h2", model.name(fn), this.box);
		fact("source", model.sourceOf(fn));
		fact("file", model.text(model.meta.functions.file[fn]));
		fact("begins", this.placeOf(axis, axis.start[call]));
		fact("length", `${shown(axis, length)}, ${shown(axis, self)} itself`);
		if (model.axes.length > 1 && axis.name === "time")
			fact("", (model.axes[0].end[call] - model.axes[0].start[call]).toLocaleString("en") + " instructions");
		fact("calls", model.callsOf(call).toLocaleString("en"));
		fact("entered", (how & 15) === HOW_CALL ? this.siteOf(call) && "from " + this.siteOf(call) : ENTERED[how & 15]);
		fact("left", LEFT[how >> 4]);
		fact("thread", `${lane.name || ""} tid ${lane.tid}`);
		this.box.append(facts);
		this.addButtons(call, fn);
		this.addStack(call);
		this.addSourceOfPlace("called at", model.meta.sites, model.site[call]);
		this.addSource("begins at", model.meta.functions.source[fn], model.meta.functions.line[fn]);
	}

	/* Show branch @i of a lane. */
	showBranch(lane, i, axis) {
		const { model } = this, { branches } = model.meta, edge = lane.branches.edge[i], facts = element("dl");
		const fact = (name, value) => {
			element("dt", name, facts);
			element("dd", value, facts);
		};
		const before = i ? lane.branches.end[0][i - 1] : lane.branches.before[0];

		this.box.replaceChildren();
		element("h2", `branch: ${branches.kinds[branches.kind[edge]]}`, this.box);
		fact("from", model.place(branches.places, branches.from[edge]) || "outside of the trace");
		fact("to", model.place(branches.places, branches.to[edge]) || "outside of the trace");
		fact("place", this.placeOf(axis, lane.branches.end[axis.number][i]));
		fact("after", `${(lane.branches.end[0][i] - before).toLocaleString("en")} instructions since the branch before`);
		fact("thread", `${lane.thread.name || ""} tid ${lane.thread.tid}`);
		this.box.append(facts);
		this.addSourceOfPlace("from", branches.places, branches.from[edge]);
		this.addSourceOfPlace("to", branches.places, branches.to[edge]);
		element("p", "Left and right arrows: the branches before and behind it.", this.box, "hint");
	}

	/* Show the source around a line, if the page has it. @title: what the line is. */
	addSource(title, source, line) {
		const text = this.model.meta.sources[source];

		if (text === undefined)
			return;
		this.split = this.split || {};
		const lines = this.split[source] = this.split[source] || text.split("\n");
		const first = Math.max(line - 3, 1), last = Math.min(line + 4, lines.length);
		if (line > lines.length)
			return;
		element("p", `${title}: ${baseOf(this.model.text(source))}:${line}`, this.box, "hint");
		const box = element("pre", undefined, this.box, "source"), width = String(last).length;
		for (let n = first; n <= last; n++)
			element(n === line ? "b" : "span", `${String(n).padStart(width)} ${lines[n - 1]}\n`, box);
	}

	/* Show the source of place @number of a list of places. */
	addSourceOfPlace(title, places, number) {
		if (number && places.source[number - 1])
			this.addSource(title, places.source[number - 1], places.line[number - 1]);
	}

	/* Returns a place: on the axis of time in seconds of the recording's clock, as decode prints it. */
	placeOf(axis, place) {
		if (axis.name !== "time")
			return `instruction ${place.toLocaleString("en")} of the thread`;
		const ns = BigInt(this.model.meta.first_ns) + BigInt(Math.round(place));
		return `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, "0")} s`;
	}

	addButtons(call, fn) {
		const bar = element("div", undefined, this.box, "buttons"), button = (text, title, act) => {
			const b = element("button", text, bar);
			b.title = title;
			b.onclick = act;
		};

		button("Zoom to it", "F", () => this.on.reveal(call));
		button("All its calls", "Find all calls of this function", () => this.on.only(fn));
	}

	/* The calls from the outermost one to @call, each with the line that calls the next one. */
	addStack(call) {
		const stack = this.model.stackOf(call), list = element("ol"), most = 200;

		stack.slice(-most).reverse().forEach((each, i, all) => {
			const li = element("li", this.model.name(this.model.fn[each]).slice(0, 400), list, each === call ? "here" : "");
			const next = i > 0 ? this.siteOf(all[i - 1]) : "";
			if (next)
				element("span", "  " + next, li, "where");
			li.title = li.textContent;
			li.onclick = () => this.on.select(each);
		});
		this.box.append(list);
		if (stack.length > most)
			element("p", `${stack.length - most} more callers`, this.box, "hint");
	}
}
