"use strict";
/* From the elements of the page to bytes: five characters are four bytes, and the bytes are deflated. */

const BASE = 40; /* the character '(' is 0, and so on up to '|'; '}' replaces '<' */

/* Returns the bytes of a text. Its last group may have less than five characters. */
function bytesOfText(text) {
	const whole = Math.floor(text.length / 5), rest = text.length % 5;
	const bytes = new Uint8Array(whole * 4 + 4);
	let at = 0;

	for (let i = 0; i < text.length; i += 5) {
		let v = 0;
		for (let k = i; k < i + 5; k++) {
			const c = k < text.length ? text.charCodeAt(k) : 124;
			v = v * 85 + (c === 125 ? 20 : c - BASE);
		}
		bytes[at++] = v >>> 24;
		bytes[at++] = v >>> 16;
		bytes[at++] = v >>> 8;
		bytes[at++] = v;
	}
	return bytes.subarray(0, whole * 4 + (rest ? rest - 1 : 0));
}

async function inflated(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Returns the bytes of an element, and removes the element. */
async function bytesOfElement(element) {
	const text = element.textContent;

	element.remove();
	return inflated(bytesOfText(text));
}

/* Reads numbers of 7 bits a byte, the lowest first (LEB128). */
class Numbers {
	constructor(bytes, begin, end) {
		this.bytes = bytes;
		this.at = begin;
		this.end = end;
	}

	more() {
		return this.at < this.end;
	}

	next() {
		let byte = this.bytes[this.at++], v = byte & 127, factor = 128;

		while (byte & 128 && this.at < this.end) {
			byte = this.bytes[this.at++];
			v += (byte & 127) * factor;
			factor *= 128;
		}
		return v;
	}
}
