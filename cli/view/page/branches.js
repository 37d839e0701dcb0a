/* The row of branches above the calls of a thread. A cell is the code from one branch to the next, and ends with its branch. */

const KIND_HUES = { jcc: 205, jmp: 215, ijmp: 275, call: 140, icall: 165, ret: 35, syscall: 0, sysret: 0, async: 350, start: 60 };

/* Returns "jcc  main+0x12  a.c:3 \u2192 main+0x20  a.c:5". */
function branchText(model, lane, i) {
	const { branches } = model.meta, edge = lane.branches.edge[i];
	const from = model.place(branches.places, branches.from[edge]), to = model.place(branches.places, branches.to[edge]);

	return `${branches.kinds[branches.kind[edge]]}  ${from} \u2192 ${to}`;
}

function drawBranches(chart, lane, y) {
	const c = chart.context, { model, axis, theme, from, to, width } = chart, { branches } = model.meta;
	const { n, edge, end } = lane.branches, ends = end[axis.number], scale = width / (to - from), chosen = chart.branch && chart.branch.lane === lane ? chart.branch.i : -1;
	let i = firstAbove(ends, 0, n, from, false);

	if (lane.branches.isMany) { /* they are too many to be read one by one */
		const begin = Math.max(chart.xOf(lane.thread.first[axis.number]), 0), last = Math.min(chart.xOf(lane.thread.end[axis.number]), width);
		c.fillStyle = theme.line;
		c.fillRect(begin, y, last - begin, ROW - 3);
	}
	for (let start = i ? ends[i - 1] : lane.branches.before[axis.number]; i < n && start < to; ) {
		const x = (start - from) * scale, size = (ends[i] - start) * scale;
		if (size < 1.5) {
			const pixel = Math.floor(x), j = Math.max(firstAbove(ends, i, n, from + (pixel + 1) / scale, false), i + 1);
			c.fillStyle = theme.line;
			c.fillRect(pixel, y, 1, ROW - 3);
			start = ends[j - 1];
			i = j;
			continue;
		}
		const left = Math.max(x, 0), right = Math.min(x + size, width), kind = branches.kinds[branches.kind[edge[i]]];
		c.fillStyle = `hsl(${KIND_HUES[kind] ?? 90} ${theme.satur} ${theme.light})`;
		c.fillRect(left, y, Math.max(right - left - 1, 0.5), ROW - 3);
		if (right - left > 4 * CHAR) {
			c.fillStyle = theme.ink;
			c.fillText(fitting(branchText(model, lane, i), right - left - 7), left + 3, y + ROW / 2 - 1);
		}
		if (i === chosen) {
			c.strokeStyle = theme.text;
			c.lineWidth = 2;
			c.strokeRect(left, y, right - left, ROW - 3);
		}
		start = ends[i++];
	}
}
