/*
 * Reads chunks of events (cli/view/event_encoder.c). Tables remember what followed the last time, so
 * a chunk has only the events that differ. Changes here and there must be the same.
 */

const TABLE = 1 << 16;
const MISSES_OP = 1, MISSES_INSNS = 2, MISSES_SITE = 4, MISS_BITS = 3;

function hashOfContext(inside, last) {
	let h = Math.imul(Math.imul(inside, 0x9e3779b1) ^ last, 0x85ebca6b);

	h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
	return h ^ (h >>> 13);
}

function hashOfOp(context, op) {
	const h = Math.imul(context ^ Math.imul(op + 1, 0x9e3779b1), 0x85ebca6b);

	return h ^ (h >>> 14);
}

/* What the reader knows of a thread: the context of its next event, and its place. */
class ThreadState {
	constructor(depth) {
		this.inside = 0; /* number + 1 of the innermost open function; for branches of the last one */
		this.last = 0; /* number + 1 of the last function that was called there; of the branch before */
		this.insns = 0;
		this.functions = new Int32Array(depth + 1); /* this.inside of the callers */
		this.depth = 0;
	}
}

/* Reads the events of one kind. apply(number, thread state, op, site, time) gets each of them. */
class EventReader {
	constructor(threads, sink) {
		this.threads = threads;
		this.sink = sink;
		this.time = 0;
		this.op = new Int32Array(TABLE);
		this.site = new Int32Array(TABLE);
		this.insns = new Float64Array(TABLE);
	}

	/* Begin the columns of a chunk. Returns the number of its events. */
	begin(bytes) {
		const head = new Numbers(bytes, 0, bytes.length);
		const events = head.next(), sizes = [];
		let at;

		for (let i = 0; i < 6; i++)
			sizes.push(head.next());
		at = head.at;
		this.columns = sizes.map((size) => new Numbers(bytes, at, (at += size)));
		return events;
	}

	read(bytes) {
		const events = this.begin(bytes);
		const [misses, ops, insns, sites, switches, times] = this.columns;
		const opOf = this.op, insnsOf = this.insns, siteOf = this.site;
		let run = -1, miss = 0, number = 0, t = null, time = this.time;
		let nextSwitch = switches.more() ? switches.next() : -1;
		let nextTime = times.more() ? times.next() : -1;

		for (let i = 0; i < events; i++) {
			if (i === nextSwitch) {
				number = switches.next();
				t = this.threads[number];
				nextSwitch = switches.more() ? i + switches.next() : -1;
			}
			if (i === nextTime) {
				time += times.next();
				nextTime = times.more() ? i + 1 + times.next() : -1;
			}
			if (run < 0) {
				const v = misses.more() ? misses.next() : events * 8;
				miss = v % (1 << MISS_BITS);
				run = Math.floor(v / (1 << MISS_BITS));
			}
			const context = hashOfContext(t.inside, t.last);
			const a = context & (TABLE - 1), missed = run-- === 0 ? miss : 0;
			if (missed & MISSES_OP)
				opOf[a] = ops.next();
			const op = opOf[a], b = hashOfOp(context, op) & (TABLE - 1);
			if (missed & MISSES_INSNS)
				insnsOf[b] = insns.next();
			if (missed & MISSES_SITE)
				siteOf[b] = sites.next();
			t.insns += insnsOf[b];
			this.apply(number, t, op, siteOf[b], time);
		}
		this.time = time;
	}
}

/* Reads calls. The sink has enter(thread, depth, function, how, site, insns, time) and leave(thread, depth, how, insns, time). */
class CallReader extends EventReader {
	apply(number, t, op, site, time) {
		if (op >= 16) {
			this.sink.enter(number, t.depth, (op >>> 4) - 1, op & 15, site, t.insns, time);
			t.functions[t.depth] = t.inside;
			t.depth++;
			t.inside = op >>> 4;
			t.last = 0;
		} else {
			t.depth--;
			this.sink.leave(number, t.depth, op, t.insns, time);
			t.last = t.inside;
			t.inside = t.functions[t.depth];
		}
	}
}

/* Reads branches. The sink has branch(thread, number of the different branch, insns, time). */
class BranchReader extends EventReader {
	apply(number, t, op, _, time) {
		this.sink.branch(number, op - 1, t.insns, time);
		t.last = t.inside;
		t.inside = op;
	}
}
