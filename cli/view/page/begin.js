/* Begins a page that has all its data. */

async function readModel() {
	const meta = document.querySelector("script.meta");
	const model = new Model(JSON.parse(new TextDecoder().decode(await bytesOfElement(meta))));
	const states = () => model.lanes.map((lane) => new ThreadState(lane.rows.length));
	const calls = new CallReader(states(), model), branches = new BranchReader(states(), model);

	for (const chunk of document.querySelectorAll("script.calls"))
		calls.read(await bytesOfElement(chunk));
	for (const chunk of document.querySelectorAll("script.branches"))
		branches.read(await bytesOfElement(chunk));
	return model;
}

async function makeView() {
	return new View(await readModel());
}

beginPage();
