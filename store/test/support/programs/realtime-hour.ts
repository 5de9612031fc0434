/**
 * Plays minutes of realtime traffic into a session below a folder and says on one line where it is, how the recording
 * ended and what memory it took: `node --expose-gc <this> <folder> <minutes>`.
 */
import { playTraffic, type HourReport } from "../../realtime/hour";
import { Recording } from "../../realtime/recording";

/** What the program says. */
export interface HourRun extends HourReport {
  location: string;
  outcome: "complete" | "incomplete";
}

async function main(folder: string, minutes: number): Promise<void> {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  const recording = await Recording.begin(["c1"], folder);
  const report = await playTraffic(recording, minutes);
  const { outcome } = await recording.recorder.stop({ durationMs: minutes * 60_000 });
  const run: HourRun = { ...report, location: recording.session.location, outcome };
  await recording.close();
  console.log(JSON.stringify(run));
}

const [folder = "", minutes = ""] = process.argv.slice(2);
void main(folder, Number(minutes));
