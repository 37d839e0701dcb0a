/* Keys and mouse. The keys are those of Perfetto. */

class Input {
	/* @on: select(call), step(by), family(key), whole(), theme(), search(), clear(), help() */
	constructor(chart, elements, on) {
		this.chart = chart;
		this.elements = elements;
		this.on = on;
		this.held = new Set();
		this.drag = null;
		addEventListener("keydown", (e) => this.key(e));
		addEventListener("keyup", (e) => this.held.delete(e.key.toLowerCase()));
		addEventListener("blur", () => this.held.clear());
		elements.scroll.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
		elements.scroll.addEventListener("scroll", () => chart.request());
		elements.lanes.addEventListener("pointerdown", (e) => this.press(e));
		elements.lanes.addEventListener("pointermove", (e) => this.point(e));
		elements.lanes.addEventListener("pointerup", (e) => this.release(e));
		elements.lanes.addEventListener("pointerleave", () => (elements.tip.hidden = true));
		elements.lanes.addEventListener("dblclick", () => this.closer());
		this.overview(elements.overview);
		this.divider(elements.divider, elements.aside);
		new ResizeObserver(() => chart.request()).observe(elements.scroll);
	}

	/* --- keys --- */

	key(e) {
		const typing = e.target === this.elements.search, key = e.key;

		if (this.elements.keys.open || e.ctrlKey || e.altKey || e.metaKey)
			return;
		if (typing)
			return this.keyOfSearch(e);
		if ("wasd".includes(key.toLowerCase()) && key.length === 1) {
			this.hold(key.toLowerCase(), e.repeat);
			return e.preventDefault();
		}
		const acts = {
			"/": () => this.elements.search.select(), f: () => this.closer(),
			0: () => this.on.whole(), n: () => this.on.step(1), N: () => this.on.step(-1), t: () => this.on.theme(), T: () => this.on.theme(),
			"?": () => this.on.help(), Escape: () => this.on.clear(),
			ArrowUp: () => this.on.family("up"), ArrowDown: () => this.on.family("down"),
			ArrowLeft: () => this.on.family("left"), ArrowRight: () => this.on.family("right"),
		};
		const act = acts[key] || acts[key.toLowerCase()];
		if (!act || (e.target.tagName === "SELECT" && key.startsWith("Arrow")))
			return;
		e.preventDefault();
		act();
	}

	/* Zoom to the selection. */
	closer() {
		if (this.chart.branch)
			this.chart.revealBranch(true);
		else if (this.chart.chosen >= 0)
			this.chart.reveal(this.chart.chosen, true);
	}

	keyOfSearch(e) {
		if (e.key === "Enter")
			this.on.step(e.shiftKey ? -1 : 1);
		else if (e.key === "Escape")
			this.on.clear();
		else
			return;
		e.preventDefault();
	}

	/* A key acts once, and then with each frame until it is released. */
	hold(key, repeats) {
		if (repeats || this.held.has(key))
			return;
		this.act(key, 0.12);
		this.held.add(key);
		this.since = performance.now();
		if (!this.ticking)
			this.tick(performance.now());
	}

	tick(before) {
		this.ticking = requestAnimationFrame((now) => {
			this.ticking = 0;
			if (!this.held.size)
				return;
			if (now - this.since > 180)
				for (const key of this.held)
					this.act(key, Math.min(now - before, 50) / 400);
			this.tick(now);
		});
	}

	act(key, amount) {
		const at = this.mouseX ?? this.chart.width / 2;

		if (key === "w")
			this.chart.zoom(Math.exp(-amount * 2.2), at);
		else if (key === "s")
			this.chart.zoom(Math.exp(amount * 2.2), at);
		else
			this.chart.move(key === "a" ? -amount : amount);
	}

	/* --- mouse --- */

	wheel(e) {
		const by = e.deltaMode === 1 ? e.deltaY * 30 : e.deltaY;

		if (e.ctrlKey || e.metaKey)
			this.chart.zoom(Math.exp(Math.min(Math.max(by, -200), 200) / 300), e.offsetX);
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			this.chart.move((e.deltaX || by) / this.chart.width);
		else
			return;
		e.preventDefault();
	}

	press(e) {
		if (e.button)
			return;
		this.elements.scroll.focus();
		this.drag = { x: e.clientX, y: e.clientY, moved: false };
		e.target.setPointerCapture(e.pointerId);
	}

	point(e) {
		this.mouseX = e.offsetX;
		if (!this.drag)
			return this.tip(e);
		const dx = e.clientX - this.drag.x, dy = e.clientY - this.drag.y;
		if (!this.drag.moved && Math.abs(dx) + Math.abs(dy) < 4)
			return;
		this.drag = { x: e.clientX, y: e.clientY, moved: true };
		this.elements.tip.hidden = true;
		this.chart.move(-dx / this.chart.width);
		this.elements.scroll.scrollTop -= dy;
	}

	release(e) {
		const moved = this.drag && this.drag.moved;

		this.drag = null;
		if (moved)
			return;
		const place = this.chart.placeAt(e.offsetY);
		if (place.head) {
			place.lane.collapsed = !place.lane.collapsed;
			this.chart.layOut();
			return;
		}
		if (place.branches && this.chart.branchAt(place.lane, e.offsetX) >= 0)
			return this.on.selectBranch(place.lane, this.chart.branchAt(place.lane, e.offsetX));
		this.on.select(this.chart.callAt(e.offsetX, e.offsetY), true);
	}

	tip(e) {
		const { tip } = this.elements, text = this.on.describe(e.offsetX, e.offsetY);

		tip.hidden = !text;
		if (!text)
			return;
		tip.textContent = text;
		const left = Math.min(e.offsetX + 14, this.chart.width - tip.offsetWidth - 4);
		const top = e.offsetY + this.elements.overview.clientHeight + 18;
		tip.style.left = Math.max(left, 0) + "px";
		tip.style.top = Math.min(top, this.elements.overview.clientHeight + this.chart.height - tip.offsetHeight - 4) + "px";
	}

	/* In the overview a drag selects the part to show, and a click moves the view. */
	overview(canvas) {
		let begin = null;
		const place = (x) => this.chart.axis.first + (x / canvas.clientWidth) * (this.chart.axis.last - this.chart.axis.first);

		canvas.addEventListener("pointerdown", (e) => {
			begin = e.offsetX;
			canvas.setPointerCapture(e.pointerId);
		});
		canvas.addEventListener("pointermove", (e) => {
			if (begin !== null && Math.abs(e.offsetX - begin) > 3)
				this.chart.show(place(Math.min(begin, e.offsetX)), place(Math.max(begin, e.offsetX)));
		});
		canvas.addEventListener("pointerup", (e) => {
			if (begin !== null && Math.abs(e.offsetX - begin) <= 3) {
				const half = (this.chart.to - this.chart.from) / 2;
				this.chart.show(place(e.offsetX) - half, place(e.offsetX) + half);
			}
			begin = null;
		});
	}

	divider(bar, aside) {
		let active = false;

		bar.addEventListener("pointerdown", (e) => {
			active = true;
			bar.setPointerCapture(e.pointerId);
		});
		bar.addEventListener("pointermove", (e) => {
			if (active)
				aside.style.width = Math.min(Math.max(innerWidth - e.clientX - 2, 200), innerWidth - 300) + "px";
		});
		bar.addEventListener("pointerup", () => (active = false));
	}
}
