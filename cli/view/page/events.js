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

/* The open calls of a thread. */
class ThreadState {
	constructor(depth) {
		this.functions = new Int32Array(depth + 1); /* number + 1; [0]: no call is open */
		this.called = new Int32Array(depth + 1); /* number + 1 of the last called function */
		this.depth = 0;
		this.insns = 0;
	}
}

class EventReader {
	/*
	 * @threads: a ThreadState for each thread. @sink: enter(thread, depth, function, how, site, insns, time) and
	 * leave(thread, depth, how, insns, time) get the events; the outermost call has depth 0.
	 */
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
		const events = this.begin(bytes), sink = this.sink;
		const [misses, ops, insns, sites, switches, times] = this.columns;
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
			const context = hashOfContext(t.functions[t.depth], t.called[t.depth]);
			const a = context & (TABLE - 1), missed = run-- === 0 ? miss : 0;
			if (missed & MISSES_OP)
				this.op[a] = ops.next();
			const op = this.op[a], b = hashOfOp(context, op) & (TABLE - 1);
			if (missed & MISSES_INSNS)
				this.insns[b] = insns.next();
			if (missed & MISSES_SITE)
				this.site[b] = sites.next();
			t.insns += this.insns[b];
			if (op >= 16) {
				const f = (op >>> 4) - 1;
				sink.enter(number, t.depth, f, op & 15, this.site[b], t.insns, time);
				t.depth++;
				t.functions[t.depth] = f + 1;
				t.called[t.depth] = 0;
			} else {
				const f = t.functions[t.depth];
				t.depth--;
				sink.leave(number, t.depth, op, t.insns, time);
				t.called[t.depth] = f;
			}
		}
		this.time = time;
	}
}
