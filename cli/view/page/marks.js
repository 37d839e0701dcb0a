/* Draws what is no call: gaps, open ends, the overview of the run. */

/* Draw a torn edge where the trace does not show how a call began or ended. */
function drawEnds(c, how, x, end, y, theme) {
	const begins = how & 15, ends = how >> 4, torn = (at, side) => {
		c.fillStyle = theme.back;
		c.beginPath();
		for (let i = 0; i < 4; i++) {
			c.moveTo(at, y + i * 4);
			c.lineTo(at + 3 * side, y + i * 4 + 2);
			c.lineTo(at, y + i * 4 + 4);
		}
		c.fill();
	};

	if (begins === HOW_TRACE || begins === HOW_RETURN)
		torn(x, 1);
	if (ends === HOW_GAP || ends === HOW_END)
		torn(end - 1, -1);
}

/* Returns the words for a gap. */
function gapText(gap) {
	if (gap.cause === "snapshot")
		return "a snapshot begins: older trace was overwritten";
	return `gap: ${gap.cause}${gap.bytes ? ", " + gap.bytes.toLocaleString("en") + " bytes of trace" : ""}`;
}

/* Returns the number of the first gap of a lane that ends at pixel @x or behind it. A gap has at least @width pixels. */
function firstGap(chart, gaps, x, width) {
	const pixel = (chart.to - chart.from) / chart.width, place = chart.from + x * pixel, n = gaps.list.length;

	return Math.min(firstAbove(gaps.end, 0, n, place, true), firstAbove(gaps.begin, 0, n, place - width * pixel, true));
}

/* Returns the gap of a lane at pixel @x, or undefined. */
function gapAt(chart, lane, x) {
	const gaps = chart.axis.gaps[lane.number], i = firstGap(chart, gaps, x, 6);

	return i < gaps.list.length && chart.xOf(gaps.begin[i]) - 4 <= x ? gaps.list[i] : undefined;
}

/* Returns the lane of the thread that was killed: the last life of its thread ID. */
function crashedLane(model) {
	const { crash } = model.meta;

	return crash ? model.lanes.findLast((lane) => lane.thread.tid === crash.tid) : undefined;
}

/* Mark the end of a thread: where it was killed, or where a snapshot ends. */
function drawEnd(chart, lane, top, bottom) {
	const c = chart.context, died = lane === crashedLane(chart.model), x = chart.xOf(lane.thread.last[chart.axis.number]);

	if (x < -9 || x > chart.width + 9 || !(died || lane.isOfSnapshot))
		return;
	c.fillStyle = c.strokeStyle = died ? chart.theme.gap : chart.theme.accent;
	c.lineWidth = 2;
	c.setLineDash(died ? [] : [4, 4]);
	c.beginPath();
	c.moveTo(x + 1, top + 2);
	c.lineTo(x + 1, bottom);
	c.stroke();
	c.setLineDash([]);
	const words = died ? chart.model.meta.crash.lines[0] : "the snapshot ends", most = died ? 80 : 20;
	const text = fitting(words, most * CHAR), width = text.length * CHAR + 8, left = x - width < chart.title ? x + 3 : x - width;
	c.globalAlpha = 0.92;
	c.fillRect(left, top + 2, width, LANE_HEAD - 6);
	c.globalAlpha = 1;
	c.fillStyle = chart.theme.back;
	c.fillText(text, left + 4, top + LANE_HEAD / 2 - 1);
}

/* Write the words for a gap into the head of its lane, behind the thread's name. */
function drawGapText(chart, gap, x, top) {
	const at = Math.max(x, chart.title);

	chart.context.fillText(fitting(gapText(gap), chart.width - at), at, top + LANE_HEAD / 2 - 1);
}

function drawGaps(chart, lane, top, bottom) {
	const c = chart.context, gaps = chart.axis.gaps[lane.number], n = gaps.list.length, pixel = (chart.to - chart.from) / chart.width;

	/* Of the gaps that begin in one pixel, one is drawn. Of those that begin on the left of the screen, the last one covers the others. */
	const left = firstAbove(gaps.begin, 0, n, chart.from - 9 * pixel, true) - 1;
	for (let i = Math.max(left, firstGap(chart, gaps, 0, 3)); i < n && gaps.begin[i] <= chart.to; i = Math.max(i + 1, firstAbove(gaps.begin, i, n, gaps.begin[i] + pixel, true))) {
		const begin = chart.xOf(gaps.begin[i]), end = Math.max(chart.xOf(gaps.end[i]), begin + 3), gap = gaps.list[i];
		const color = gap.cause === "snapshot" ? chart.theme.accent : chart.theme.gap;
		c.save();
		c.beginPath();
		c.rect(begin, top, Math.min(end, chart.width + 9) - begin, bottom - top);
		c.clip();
		c.fillStyle = chart.theme.back;
		c.fillRect(begin, top + LANE_HEAD - 2, end - begin, bottom - top);
		c.strokeStyle = color;
		c.lineWidth = 1.5;
		c.beginPath();
		for (let x = Math.max(begin, 0) - (bottom - top); x < Math.min(end, chart.width); x += 7) {
			c.moveTo(x, bottom);
			c.lineTo(x + bottom - top, top);
		}
		c.stroke();
		c.restore();
		c.fillStyle = color;
		c.beginPath();
		c.moveTo(begin - 4, top);
		c.lineTo(begin + 5, top);
		c.lineTo(begin + 0.5, top + 8);
		c.fill();
		if (n < 200 || chart.to - chart.from < (chart.axis.last - chart.axis.first) / 20)
			drawGapText(chart, gap, begin + 8, top);
	}
}

/* Draws how deep the calls of all threads are over the whole run, and which part of it is shown. */
function drawOverview(chart, canvas) {
	const width = canvas.clientWidth, height = canvas.clientHeight, c = sized(canvas, width, height);
	const { axis, theme } = chart, scale = width / Math.max(axis.last - axis.first, 1);

	if (!chart.depths || chart.depths.axis !== axis || chart.depths.width !== width)
		chart.depths = chart.model.depths(axis, width);
	c.fillStyle = theme.panel;
	c.fillRect(0, 0, width, height);
	c.fillStyle = theme.dim;
	for (let x = 0; x < width; x++) {
		const h = (chart.depths[x] / chart.depths.most) * (height - 8);
		c.globalAlpha = 0.55;
		c.fillRect(x, height - h, 1, h);
	}
	c.globalAlpha = 1;
	if (chart.found)
		drawFoundPlaces(chart, c, scale, height);
	c.fillStyle = theme.gap;
	for (const x of chart.depths.gaps)
		c.fillRect(x - 1, 0, 2, height);
	const left = (chart.from - axis.first) * scale, right = Math.max((chart.to - axis.first) * scale, left + 3);
	c.fillStyle = theme.back;
	c.globalAlpha = 0.6;
	c.fillRect(0, 0, left, height);
	c.fillRect(right, 0, width - right, height);
	c.globalAlpha = 1;
	c.strokeStyle = theme.accent;
	c.lineWidth = 1.5;
	c.strokeRect(left, 0.75, right - left, height - 1.5);
}

/* Mark the pixels of the overview that have calls of the search. */
function drawFoundPlaces(chart, c, scale, height) {
	const { axis, found } = chart;

	c.fillStyle = chart.theme.mark;
	for (const row of chart.model.rows) {
		let [i, stop] = found.range(row);
		while (i < stop) {
			const x = Math.floor((axis.start[found.calls[i]] - axis.first) * scale);
			c.fillRect(x, height - 6, 1, 6);
			i = Math.max(i + 1, found.firstFrom(axis, i, stop, axis.first + (x + 1) / scale));
		}
	}
}

/* Returns for each pixel the number of open calls in its middle, the sum over all threads. Of very deep
 * stacks it counts every second row, or fewer. gaps: the pixels that have gaps. */
function depthsOf(model, axis, width) {
	const depths = new Float64Array(width), every = Math.ceil(model.rows.length / 2000), step = Math.max(axis.last - axis.first, 1) / width;

	for (let i = 0; i < model.rows.length; i += every) {
		const row = model.rows[i];
		for (let x = 0; x < width; x++) {
			const from = axis.first + x * step;
			let call = firstAbove(axis.end, row.begin, row.end, from, false);
			if (call < row.end && axis.start[call] < from + step)
				depths[x]++;
		}
	}
	depths.most = Math.max(1, ...depths);
	depths.axis = axis;
	depths.width = width;
	depths.gaps = new Set();
	for (const gap of model.meta.gaps)
		if (gap.cause !== "snapshot")
			depths.gaps.add(Math.round((gap.at[axis.number] - axis.first) / step));
	return depths;
}
