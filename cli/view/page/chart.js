/* Draws the flame charts. Cells that are below a pixel are merged, so a frame takes milliseconds at any zoom. */

const LANES_OPEN = 8; /* so many threads are all shown */
const ROW = 17, LANE_HEAD = 22, RULER = 26, FONT = 11, CHAR = 6.62, LANE_GAP = 6;

/* Returns the theme's colors. */
function readTheme() {
	const css = getComputedStyle(document.documentElement), theme = {};

	for (const key of ["back", "panel", "line", "text", "dim", "accent", "mark", "gap", "lane", "chosen", "light", "satur", "ink"])
		theme[key] = css.getPropertyValue("--" + key).trim();
	return theme;
}

/* Returns a hue for a name. Equal names have equal colors in all pages. */
function hueOf(name) {
	let h = 2166136261;

	for (let i = 0; i < name.length && i < 200; i++)
		h = Math.imul(h ^ name.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	return Math.imul(h, 0x2c1b3c6d) >>> 0;
}

/* Makes a canvas as large as its box on the screen. Returns its context, with units of CSS pixels. */
function sized(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1, w = Math.round(width * ratio), h = Math.round(height * ratio);
	const context = canvas.getContext("2d", { alpha: false });

	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

/* Returns a round distance of marks, for about @count marks in @span. */
function roundStep(span, count) {
	const rough = span / count, power = 10 ** Math.floor(Math.log10(rough));

	return Math.max([1, 2, 5, 10].find((m) => m * power >= rough) * power, 1);
}

/* Returns a number with a unit: "12.3 M" instructions, "4.56 ms". @step: the smallest difference that is shown. */
function shown(axis, v, step) {
	const units = axis.name === "time" ? [[1e9, " s"], [1e6, " ms"], [1e3, " \u00b5s"], [1, " ns"]] : [[1e9, " G"], [1e6, " M"], [1e3, " k"], [1, ""]];
	const [size, unit] = units.find(([limit]) => Math.abs(v) >= limit) || units[3];
	const digits = step ? Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9)) : size === 1 ? 0 : 3 - String(Math.floor(Math.abs(v) / size)).length;

	return (v / size).toFixed(Math.min(Math.max(digits, 0), 9)) + unit;
}

class Chart {
	constructor(model, elements) {
		this.model = model;
		this.elements = elements; /* lanes, overview, scroll, tall */
		this.axis = model.axes[model.axes.length - 1];
		this.chosen = -1; /* the selected call */
		this.found = null; /* Found of a search, or null */
		this.hues = model.meta.functions.name.map((_, fn) => hueOf(model.name(fn)));
		this.frames = 0;
		this.setTheme();
		this.collapseSmall();
		this.layOut();
	}

	/* Of many threads, show only the heads of those with few calls. */
	collapseSmall() {
		const { lanes } = this.model, n = this.model.meta.calls;

		for (const lane of lanes)
			lane.collapsed = lanes.length > LANES_OPEN && lane.calls < n / 100 && lane !== crashedLane(this.model);
	}

	setTheme() {
		const t = (this.theme = readTheme());

		this.colors = this.hues.map((hue, fn) => {
			const named = this.model.meta.functions.name[fn] !== 0;
			return `hsl(${hue % 360} ${named ? t.satur : "8%"} calc(${t.light} + ${(hue >>> 9) % 9 - 4}%))`;
		});
		this.request();
	}

	setAxis(axis) {
		this.axis = axis;
		this.model.prepare(axis);
		this.whole();
	}

	whole() {
		const { first, last } = this.axis, room = Math.max(last - first, 1) * 0.01;

		this.show(first - room, last + room);
	}

	/* Show the places from @from to @to. */
	show(from, to) {
		const { first, last } = this.axis, whole = Math.max(last - first, 1) * 1.1;
		const span = Math.min(Math.max(to - from, 4), whole), mid = (from + to) / 2;
		const middle = Math.min(Math.max(mid, first - span * 0.4), last + span * 0.4);

		this.from = middle - span / 2;
		this.to = middle + span / 2;
		this.request();
	}

	/* Scale the view by @factor around the pixel @x. */
	zoom(factor, x) {
		const at = this.from + ((this.to - this.from) * x) / this.width;

		this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	move(part) {
		const by = (this.to - this.from) * part;

		this.show(this.from + by, this.to + by);
	}

	/* Compute the places of lanes. */
	layOut() {
		let top = RULER;

		for (const lane of this.model.lanes) {
			lane.top = top;
			top += LANE_HEAD + LANE_GAP + (lane.collapsed ? 0 : (lane.rows.length + lane.extra) * ROW);
		}
		this.elements.tall.style.height = top + ROW + "px";
		this.request();
	}

	/* Returns the place of the lane's head: above the lane, or at the upper edge of the screen. */
	headOf(lane) {
		const rows = lane.collapsed ? 0 : lane.rows.length * ROW;

		return Math.min(Math.max(lane.top, this.elements.scroll.scrollTop + RULER), lane.top + rows);
	}

	topOf(row) {
		return row.lane.top + LANE_HEAD + (row.lane.extra + row.depth) * ROW;
	}

	/* Show @call, with more around it if it would be too small or is outside. */
	reveal(call, closer) {
		const row = this.model.rowOf(call), start = this.axis.start[call], end = this.axis.end[call];
		const width = ((end - start) / (this.to - this.from)) * this.width, length = Math.max(end - start, 1);
		const scroll = this.elements.scroll, top = this.topOf(row);

		if (row.lane.collapsed) {
			row.lane.collapsed = false;
			this.layOut();
		}
		if (closer)
			this.show(start - length * 0.1, end + length * 0.1);
		else if (width < 8 || start < this.from || end > this.to)
			this.show(start - length * 3, end + length * 3);
		if (top - RULER - LANE_HEAD - row.lane.extra * ROW < scroll.scrollTop || top + 2 * ROW > scroll.scrollTop + scroll.clientHeight)
			scroll.scrollTop = Math.max(0, top - scroll.clientHeight / 2);
		this.request();
	}

	/* Returns the branch of @lane whose instructions are at the pixel @x; -1: none. */
	branchAt(lane, x) {
		const ends = lane.branches.end[this.axis.number], n = lane.branches.n;
		const i = firstAbove(ends, 0, n, this.from + ((this.to - this.from) * x) / this.width, false);

		return i < n ? i : -1;
	}

	/* Show the selected branch. */
	revealBranch(closer) {
		const { lane, i } = this.branch, ends = lane.branches.end[this.axis.number], end = ends[i];
		const start = i ? ends[i - 1] : lane.branches.before[this.axis.number], length = Math.max(end - start, 1);

		if (closer)
			this.show(start - length, end + length);
		else if (start < this.from || end > this.to || (length * this.width) / (this.to - this.from) < 8)
			this.show(start - length * 8, end + length * 8);
		this.request();
	}

	/* Draw with the next frame of the screen. */
	request() {
		if (!this.waiting)
			this.waiting = requestAnimationFrame(() => {
				this.waiting = 0;
				this.draw();
			});
	}

	xOf(place) {
		return ((place - this.from) * this.width) / (this.to - this.from);
	}

	draw() {
		const begin = performance.now(), { lanes, overview, scroll } = this.elements;

		this.width = scroll.clientWidth;
		this.height = scroll.clientHeight;
		this.model.beforeDraw(this);
		this.chosenRow = this.chosen >= 0 ? this.model.rowOf(this.chosen) : null;
		const c = (this.context = sized(lanes, this.width, this.height));
		c.fillStyle = this.theme.back;
		c.fillRect(0, 0, this.width, this.height);
		c.font = FONT + "px ui-monospace, monospace";
		c.textBaseline = "middle";
		for (const lane of this.model.lanes)
			this.drawLane(lane, lane.top - scroll.scrollTop);
		this.drawRuler();
		drawOverview(this, overview);
		this.frames++;
		this.milliseconds = performance.now() - begin;
		if (this.drawn)
			this.drawn();
	}

	drawLane(lane, top) {
		const rows = lane.collapsed ? [] : lane.rows;
		const extra = lane.collapsed ? 0 : lane.extra * ROW, bottom = top + LANE_HEAD + extra + rows.length * ROW;

		if (bottom < 0 || top > this.height)
			return;
		for (const row of rows) {
			const y = top + LANE_HEAD + extra + row.depth * ROW;
			if (y > -ROW && y < this.height)
				this.drawRow(row, y);
		}
		this.drawHead(lane, top, bottom);
	}

	/* The head of a lane and its branches stay on the screen while the lane is. */
	drawHead(lane, top, bottom) {
		const c = this.context, t = lane.thread, extra = lane.collapsed ? 0 : lane.extra * ROW;
		const head = this.headOf(lane) - this.elements.scroll.scrollTop;

		c.fillStyle = this.theme.back;
		c.fillRect(0, head, this.width, LANE_HEAD + extra);
		c.fillStyle = this.theme.lane;
		c.fillRect(0, head, this.width, LANE_HEAD - 2);
		if (extra)
			drawBranches(this, lane, head + LANE_HEAD);
		const title = `${lane.collapsed ? "\u25b8" : "\u25be"} ${t.name || "thread"}  tid ${t.tid}${t.pid === t.tid ? "" : "  pid " + t.pid}  ${lane.calls.toLocaleString("en")} call${lane.calls === 1 ? "" : "s"}`;
		this.title = 14 + title.length * CHAR;
		drawGaps(this, lane, head, bottom);
		drawEnd(this, lane, head, bottom);
		c.fillStyle = this.theme.text;
		c.fillText(title, 6, head + LANE_HEAD / 2 - 1);
	}

	drawRow(row, y) {
		const { start, end, busy } = this.axis, c = this.context, { fn } = this.model;
		const scale = this.width / (this.to - this.from), faded = this.found ? 0.25 : 1;
		let i = firstAbove(end, row.begin, row.end, this.from, false);

		while (i < row.end && start[i] < this.to) {
			const x = (start[i] - this.from) * scale, width = (end[i] - start[i]) * scale;
			if (width >= 1.5 && this.model.countOf(i) === 1) {
				this.drawCall(i, x, width, y, faded);
				i++;
				continue;
			}
			if (width >= 1.5) {
				this.drawMerged(i, x, width, y, faded);
				i++;
				continue;
			}
			const pixel = Math.floor(x), limit = this.from + (pixel + 1) / scale;
			let j = Math.max(firstAbove(start, i, row.end, limit, true), i + 1);
			if (j > i + 1 && (end[j - 1] - start[j - 1]) * scale >= 1.5)
				j--;
			c.globalAlpha = Math.min(1, Math.max(0.25, (busy[j] - busy[i]) * scale)) * faded;
			c.fillStyle = this.colors[fn[this.model.longest(this.axis, i, j)]];
			c.fillRect(pixel, y, 1, ROW - 1);
			i = j;
		}
		c.globalAlpha = 1;
		if (this.found)
			this.drawFound(row, y, scale);
		if (row === this.chosenRow)
			this.drawChosen(y, scale);
	}

	drawCall(call, x, width, y, faded) {
		const c = this.context, left = Math.max(x, 0), right = Math.min(x + width, this.width), how = this.model.how[call];
		const hit = this.found && this.found.functions[this.model.fn[call]];

		c.globalAlpha = hit ? 1 : faded;
		c.fillStyle = this.colors[this.model.fn[call]];
		c.fillRect(left, y, Math.max(right - left - (width > 3 ? 1 : 0), 0.5), ROW - 1);
		if (width > 12) {
			c.globalAlpha = 1;
			drawEnds(c, how, x, x + width, y, this.theme);
		}
		if (right - left > 3 * CHAR) {
			c.fillStyle = faded < 1 && !hit ? this.theme.dim : this.theme.ink;
			c.fillText(fitting(this.model.name(this.model.fn[call]), right - left - 7), left + 3, y + ROW / 2);
		}
		c.globalAlpha = 1;
	}

	/* Draw several short calls, as long as the single ones are not there. */
	drawMerged(i, x, width, y, faded) {
		const c = this.context, { start, end, busy } = this.axis, left = Math.max(x, 0), right = Math.min(x + width, this.width);

		c.globalAlpha = Math.min(1, Math.max(0.25, (busy[i + 1] - busy[i]) / Math.max(end[i] - start[i], 1))) * faded;
		c.fillStyle = this.colors[this.model.fn[i]];
		c.fillRect(left, y, Math.max(right - left, 0.5), ROW - 1);
		c.globalAlpha = 1;
	}

	/* Mark the calls of the search in a row, at most one for each pixel. */
	drawFound(row, y, scale) {
		const { start, end } = this.axis, c = this.context;
		let [i, stop] = this.found.range(row);
		const calls = this.found.calls;

		c.fillStyle = this.theme.mark;
		i = this.found.firstFrom(this.axis, i, stop, this.from);
		for (; i < stop && start[calls[i]] < this.to; ) {
			const x = (start[calls[i]] - this.from) * scale, width = Math.max((end[calls[i]] - start[calls[i]]) * scale, 1.5);
			c.fillRect(x, y, width, width > 4 ? 2 : ROW - 1);
			if (width > 4)
				c.fillRect(x, y + ROW - 3, width, 2);
			i = Math.max(i + 1, this.found.firstFrom(this.axis, i, stop, this.from + (Math.floor(x) + 1) / scale));
		}
	}

	drawChosen(y, scale) {
		const c = this.context, { start, end } = this.axis, call = this.chosen;
		const x = (start[call] - this.from) * scale, width = Math.max((end[call] - start[call]) * scale, 2);

		if (x > this.width || x + width < 0)
			return;
		c.strokeStyle = this.theme.text;
		c.lineWidth = 2;
		c.strokeRect(Math.max(x, -4), y, Math.min(x + width, this.width + 4) - Math.max(x, -4), ROW - 1);
	}

	drawRuler() {
		const c = this.context, step = roundStep(this.to - this.from, this.width / 110);

		c.fillStyle = this.theme.panel;
		c.fillRect(0, 0, this.width, RULER - 2);
		for (let at = Math.ceil(this.from / step) * step; at < this.to; at += step) {
			const x = this.xOf(at);
			c.fillStyle = this.theme.line;
			c.fillRect(x, RULER - 10, 1, 8);
			c.globalAlpha = 0.35;
			c.fillRect(x, RULER - 2, 1, this.height);
			c.globalAlpha = 1;
			c.fillStyle = this.theme.dim;
			if (at >= 0)
				c.fillText(shown(this.axis, at, step), x + 3, RULER / 2 - 3);
		}
	}

	/* Returns the row at a pixel of the chart, or the lane whose head is there. */
	placeAt(y) {
		const at = y + this.elements.scroll.scrollTop, lanes = this.model.lanes;

		if (y < RULER)
			return {};
		for (const lane of lanes) {
			if (at < lane.top || at >= lane.top + LANE_HEAD + (lane.collapsed ? 0 : (lane.rows.length + lane.extra) * ROW))
				continue;
			const n = Math.floor((at - lane.top - LANE_HEAD) / ROW) - lane.extra, head = at - this.headOf(lane);
			if (head >= 0 && head < LANE_HEAD)
				return { lane, head: true };
			return head >= 0 && head < LANE_HEAD + lane.extra * ROW ? { lane, branches: true } : { lane, row: lane.rows[n] };
		}
		return {};
	}

	/* Returns the call at a pixel: of several below a pixel the longest one. -1: none. */
	callAt(x, y) {
		const { row } = this.placeAt(y), { start, end } = this.axis, scale = (this.to - this.from) / this.width;

		if (!row)
			return -1;
		const call = this.model.callAt(this.axis, row, this.from + x * scale);
		if (call >= 0 && (end[call] - start[call]) >= 1.5 * scale)
			return call;
		const from = this.from + Math.floor(x) * scale;
		const i = firstAbove(end, row.begin, row.end, from, false), j = firstAbove(start, i, row.end, from + scale, true);
		return j > i ? this.model.longest(this.axis, i, j) : call;
	}
}

/* Returns a name with at most @most characters. The offset at the end of "libx.so+0x1234" stays. */
function shorter(name, most) {
	const end = /\+0x[0-9a-f]+$/.exec(name), tail = end && end[0].length + 4 < most ? end[0] : "";

	return name.length <= most ? name : most > 2 ? name.slice(0, most - 1 - tail.length) + "\u2026" + tail : "";
}

/* Returns a name that fits @width pixels. */
function fitting(name, width) {
	return shorter(name, Math.floor(width / CHAR));
}
