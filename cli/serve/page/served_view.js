/* The page of `ptcap view --serve`: what a selection and a search need comes from the server. Begins the page. */

/* Returns the text of a list of numbers that grow: "1,5-9". */
function listOf(numbers) {
	const parts = [];

	for (let i = 0; i < numbers.length; i++) {
		const first = numbers[i];
		while (numbers[i + 1] === numbers[i] + 1)
			i++;
		parts.push(numbers[i] === first ? first : `${first}-${numbers[i]}`);
	}
	return parts.join(",");
}

const LIST_MOST = 7000; /* characters of a list in a request */

class ServedView extends View {
	constructor(model) {
		super(model);
		this.waiting = 0; /* requests for selections */
		model.changed = () => this.windowChanged();
		model.failed = (error) => this.tellFailure(error);
	}

	setAxis(axis) {
		const { whole } = this.model.windows;

		if (whole[axis.number])
			return super.setAxis(axis);
		this.run(async () => {
			await this.model.loadWhole(axis);
			super.setAxis(axis);
		});
	}

	/* Runs a function that waits for the server. */
	async run(act) {
		this.waiting++;
		try {
			await act();
		} catch (error) {
			this.tellFailure(error);
		}
		this.waiting--;
	}

	tellFailure(error) {
		const banner = byId("banner");

		banner.hidden = false;
		banner.onclick = () => (banner.hidden = true);
		banner.title = "Close";
		banner.textContent = `The server does not answer: ${error.message}. Has ptcap ended?`;
	}

	/* The columns have another window: indexes into them are not valid any more. */
	windowChanged() {
		const { chart, model } = this, { branch } = chart;

		chart.chosen = model.stack.length ? model.n : -1;
		if (this.found)
			this.found.collect();
		if (branch) {
			branch.i = branch.index - branch.lane.branches.first;
			chart.branch = branch.i >= 0 && branch.i < branch.lane.branches.n ? branch : null;
		}
	}

	/* --- selection --- */

	select(call, stays) {
		const { model } = this;

		if (call < 0) {
			model.setStack(null, []);
			this.windowChanged();
			return super.select(-1);
		}
		const lane = call < model.n ? model.rowOf(call).lane : model.stackLane;
		this.selectCall(lane, model.number[call], stays);
	}

	/* Select call @number of a lane. */
	selectCall(lane, number, stays) {
		const turn = (this.turn = (this.turn || 0) + 1);

		return this.run(async () => {
			const answer = await ask("call", { thread: lane.number, number });
			const stack = Array.from({ length: answer.next() }, () => Object.fromEntries(STACK.map((key) => [key, answer.next()])));
			if (turn !== this.turn || !stack.length)
				return;
			this.model.setStack(lane, stack);
			this.windowChanged();
			super.select(this.model.n, stays);
		});
	}

	selectBranch(lane, i) {
		const index = lane.branches.first + i;

		super.selectBranch(lane, i);
		this.chart.branch.index = index;
	}

	family(to) {
		const { branch } = this.chart, { stack, stackLane } = this.model;

		if (branch || !stack.length)
			return super.family(to);
		const [call, caller] = stack;
		if (to === "up" && caller)
			this.selectCall(stackLane, caller.number);
		else if (to === "down" && call.calls)
			this.selectCall(stackLane, call.number + 1);
		else if (to === "left" || to === "right")
			this.run(() => this.selectFrom("beside", { thread: stackLane.number, number: call.number, depth: call.depth, back: Number(to === "left") }));
	}

	/* Select the call that the server answers. */
	async selectFrom(path, parameters) {
		const answer = await ask(path, parameters), thread = answer.next();

		if (thread)
			await this.selectCall(this.model.lanes[thread - 1], answer.next());
	}

	showCrash() {
		const lane = crashedLane(this.model), { axis } = this.chart;

		if (!lane)
			return;
		this.run(async () => {
			const last = lane.thread.last[axis.number];
			const end = await this.model.windows.get({ axis: axis.number, from: last, to: last, pixels: 1, first: lane.number, last: lane.number });
			const rows = [...end.lanes.get(lane.number).rows.values()].map((row) => [row, row.n - 1]).filter(([row, i]) => row.how[i] >> 4 === HOW_END);
			if (!rows.length)
				return;
			const [row, i] = rows[rows.length - 1];
			await this.selectCall(lane, row.number[i], true);
			const span = Math.max((axis.last - axis.first) / 50, 60);
			this.chart.reveal(this.chart.chosen);
			this.chart.show(last - span, last + span / 4);
		});
	}

	/* --- search --- */

	step(by, first) {
		const { stack, stackLane } = this.model;

		if (!this.found || !this.found.total)
			return;
		const functions = listOf(Array.from(this.found.functions.keys()).filter((fn) => this.found.functions[fn]));
		if (functions.length > LIST_MOST) {
			byId("found").textContent = "too many functions";
			return;
		}
		const at = stack.length && !first ? { thread: stackLane.number, number: stack[0].number } : {};
		this.run(() => this.selectFrom("search", { axis: this.chart.axis.number, back: Number(by < 0), functions, ...at }));
	}
}

async function makeView() {
	const meta = document.querySelector("script.meta");
	const model = new ServedModel(JSON.parse(new TextDecoder().decode(await bytesOfElement(meta))));

	await model.loadWhole(model.axes[model.axes.length - 1]);
	return new ServedView(model);
}

beginPage();
