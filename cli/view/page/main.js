/* Connects the parts of the page. */

const byId = (id) => document.getElementById(id);

class View {
	constructor(model) {
		const elements = {};

		for (const id of ["lanes", "overview", "scroll", "tall", "tip", "search", "keys", "divider"])
			elements[id] = byId(id);
		elements.aside = document.querySelector("aside");
		this.model = model;
		this.elements = elements;
		this.chart = new Chart(model, elements);
		this.details = new Details(model, byId("details"), {
			select: (call) => this.select(call), reveal: (call) => this.chart.reveal(call, true), only: (fn) => this.only(fn),
		});
		this.functions = new Functions(model, { rows: byId("rows"), more: byId("more"), heads: document.querySelectorAll("th") },
			{ choose: (fn) => this.only(fn, true) });
		this.input = new Input(this.chart, elements, {
			select: (call, stays) => this.select(call, stays), step: (by) => this.step(by), family: (to) => this.family(to),
			selectBranch: (lane, i) => this.selectBranch(lane, i),
			whole: () => this.chart.whole(), theme: () => this.toggleTheme(), clear: () => this.clear(), help: () => elements.keys.showModal(),
			describe: (x, y) => this.describe(x, y),
		});
		this.connect();
		this.setAxis(this.chart.axis);
		this.tellFacts();
		this.tellCrash();
		const open = model.lanes.find((lane) => !lane.collapsed);
		if (open && open !== model.lanes[0])
			elements.scroll.scrollTop = open.top - RULER;
	}

	connect() {
		byId("search").oninput = () => this.search(byId("search").value);
		byId("previous").onclick = () => this.step(-1);
		byId("next").onclick = () => this.step(1);
		byId("whole").onclick = () => this.chart.whole();
		byId("theme").onclick = () => this.toggleTheme();
		byId("help").onclick = () => byId("keys").showModal();
		byId("axes").hidden = this.model.axes.length < 2;
		byId("axis").value = this.chart.axis.name;
		byId("axis").onchange = (e) => {
			this.setAxis(this.model.axes.find((axis) => axis.name === e.target.value));
			e.target.blur();
		};
	}

	tellFacts() {
		const { meta } = this.model, n = (v, what) => `${v.toLocaleString("en")} ${what}${v === 1 ? "" : "s"}`;

		byId("recording").textContent = meta.recording;
		byId("recording").title = meta.recording;
		document.title = `${baseOf(meta.recording)} \u2014 ptcap view`;
		byId("facts").textContent = [n(meta.calls, "call"), n(meta.threads.length, "thread"), ...(meta.lost ? [n(meta.lost, "gap")] : [])].join(", ");
	}

	/* Show the answer of `ptcap crash show`. A click shows the end of the thread. */
	tellCrash() {
		const { crash } = this.model.meta, banner = byId("banner");

		if (!crash)
			return;
		element("strong", crash.lines[0], banner);
		element("pre", crash.lines.slice(1).join("\n"), banner);
		banner.hidden = false;
		banner.title = "Show the end of the thread";
		banner.onclick = () => this.showCrash();
	}

	/* Select the innermost call that was open when the thread died. */
	showCrash() {
		const lane = crashedLane(this.model);
		const calls = lane ? lane.rows.map((row) => row.end - 1).filter((call) => this.model.how[call] >> 4 === HOW_END) : [];

		if (!calls.length)
			return;
		this.select(calls[calls.length - 1], true);
		const end = this.chart.axis.end[calls[0]], span = Math.max((this.chart.axis.last - this.chart.axis.first) / 50, 60);
		this.chart.reveal(calls[calls.length - 1]);
		this.chart.show(end - span, end + span / 4);
	}

	setAxis(axis) {
		this.chart.setAxis(axis);
		this.functions.show(axis);
		if (this.chart.chosen >= 0)
			this.select(this.chart.chosen);
	}

	/* --- selection --- */

	/* Select a call; -1: none. @stays: the view does not move. */
	select(call, stays) {
		this.chart.chosen = call;
		this.chart.branch = null;
		if (call < 0) {
			this.details.empty();
			this.functions.mark(-1);
		} else {
			this.details.show(call, this.chart.axis);
			this.functions.mark(this.model.fn[call]);
			if (!stays)
				this.chart.reveal(call);
		}
		this.tellFound();
		this.chart.request();
	}

	/* Select branch @i of a lane. */
	selectBranch(lane, i) {
		this.select(-1);
		this.chart.branch = { lane, i };
		this.details.showBranch(lane, i, this.chart.axis);
		this.chart.revealBranch();
	}

	/* Select a relative of the selected call or branch. */
	family(to) {
		const { branch } = this.chart, by = { left: -1, right: 1 }[to];

		if (branch && by && branch.i + by >= 0 && branch.i + by < branch.lane.branches.n)
			return this.selectBranch(branch.lane, branch.i + by);
		const call = this.chart.chosen, row = call >= 0 ? this.model.rowOf(call) : null;

		if (!row)
			return;
		const [begin, end] = this.model.calledBy(call);
		const other = { up: this.model.callerOf(call), down: end > begin ? begin : -1, left: call > row.begin ? call - 1 : -1, right: call + 1 < row.end ? call + 1 : -1 }[to];
		if (other >= 0)
			this.select(other);
	}

	/* Returns what the tip at a pixel says. */
	describe(x, y) {
		const { axis } = this.chart, place = this.chart.placeAt(y), call = this.chart.callAt(x, y);
		const gap = place.lane && gapAt(this.chart, place.lane, x);

		if (gap)
			return gapText(gap);
		if (place.branches) {
			const i = this.chart.branchAt(place.lane, x);
			return i < 0 ? "" : branchText(this.model, place.lane, i).replace(" \u2192 ", "\n\u2192 ");
		}
		if (call < 0)
			return "";
		return this.model.tipOf(axis, call);
	}

	/* --- search --- */

	search(text) {
		this.setFound(this.functions.search(text));
	}

	/* Find the calls of one function, and (@select) select the first one. */
	only(fn, select) {
		const functions = new Uint8Array(this.functions.names.length);

		functions[fn] = 1;
		this.setFound(functions);
		if (select && this.found.total)
			this.step(1, true);
		this.functions.mark(fn);
	}

	setFound(functions) {
		this.found = this.chart.found = functions ? this.model.found(functions) : null;
		this.tellFound();
		this.chart.request();
	}

	/* Select the next (@by 1) or previous (-1) call that was found. @first: the first one of all. */
	step(by, first) {
		if (!this.found || !this.found.calls.length)
			return;
		const { axis } = this.chart, { previous, next } = this.found.around(axis, first ? -1 : this.chart.chosen);
		const call = by > 0 ? next : previous;
		if (call >= 0)
			this.select(call);
	}

	tellFound() {
		const call = this.chart.chosen, n = this.found ? this.found.total : 0;

		if (!this.found) {
			byId("found").textContent = byId("search").value ? "none" : "";
			return;
		}
		const own = call >= 0 && this.found.functions[this.model.fn[call]];
		const rank = own ? this.found.rank(this.chart.axis, call) : 0;
		byId("found").textContent = rank ? `${rank.toLocaleString("en")} of ${n.toLocaleString("en")}` : n.toLocaleString("en");
	}

	clear() {
		byId("search").value = "";
		byId("search").blur();
		this.functions.search("");
		this.setFound(null);
		this.select(-1);
	}

	toggleTheme() {
		const root = document.documentElement;

		root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
		this.chart.setTheme();
	}
}

/* Set the theme that the system prefers. */
function beginTheme() {
	document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

let view = null;

/* Begin the page. makeView, of the last script, returns its view or a promise of it. */
async function beginPage() {
	const begin = performance.now();

	beginTheme();
	try {
		view = await makeView();
		view.milliseconds = performance.now() - begin;
	} catch (error) {
		byId("banner").hidden = false;
		byId("banner").textContent = `This page cannot be shown: ${error.message}`;
		throw error;
	}
}
