import { SingleBar } from "cli-progress";
import { type CliIo } from "../context";
import { formatBytes } from "./format";

/** Progress of long work. All calls are cheap and harmless after `stop`. */
export interface Progress {
  update(done: number, total: number): void;
  stop(): void;
}

/** Short work shows no bar: a flash of one is noise. */
const SHOW_AFTER_MS = 400;

const silent: Progress = { update: () => undefined, stop: () => undefined };

/** A bar on standard error, where a person watches it; with `--json` or without a terminal there is none. */
export function createProgress(
  io: CliIo,
  label: string,
  unit: "bytes" | "sessions" | "records",
  json: boolean,
): Progress {
  if (json || io.stderr.isTTY !== true || io.stderr !== process.stderr) return silent;
  const text = (value: number): string => (unit === "bytes" ? formatBytes(value) : value.toLocaleString("en-US"));
  const bar = new SingleBar({
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
    format: (_options, params, { done, total }: { done?: string; total?: string }) => {
      const width = 24;
      const filled = Math.round(params.progress * width);
      const percent = `${Math.floor(params.progress * 100)}`.padStart(3);
      return `${label}  ${"━".repeat(filled)}${"╌".repeat(width - filled)} ${percent} %  ${done ?? ""} of ${total ?? ""}`;
    },
  });
  const startedMs = performance.now();
  let state: "waiting" | "shown" | "stopped" = "waiting";
  const stop = (): void => {
    if (state === "shown") bar.stop();
    state = "stopped";
    process.off("exit", stop);
  };
  return {
    update(done, total) {
      if (state === "stopped") return;
      if (state === "waiting") {
        if (performance.now() - startedMs < SHOW_AFTER_MS) return;
        state = "shown";
        // A second Ctrl-C ends the process with the bar on the screen and the cursor hidden.
        process.once("exit", stop);
        bar.start(Math.max(total, 1), done, { done: text(done), total: text(total) });
      }
      bar.setTotal(Math.max(total, 1));
      bar.update(done, { done: text(done), total: text(total) });
    },
    stop,
  };
}
