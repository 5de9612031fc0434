/** Preloaded into the command line (`node --require`): its clock runs CLOCK_RATE times as fast; with 0 it stands still. */
const rate = Number(process.env["CLOCK_RATE"] ?? "1");
const now = performance.now.bind(performance);
performance.now = () => now() * rate;
