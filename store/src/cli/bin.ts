import { run } from "./main";

const interrupted = new AbortController();

process.on("SIGINT", () => {
  // A second Ctrl-C does not wait for the work to put things in order.
  if (interrupted.signal.aborted) process.exit(130);
  interrupted.abort(new DOMException("interrupted", "AbortError"));
});
process.on("SIGTERM", () => interrupted.abort(new DOMException("terminated", "AbortError")));

// A file that reaches the size limit is an error to report (EFBIG), not a reason to die in the middle of a write.
if (process.platform !== "win32") process.on("SIGXFSZ", () => undefined);

// The reader of a pipe may leave early (`persyk list | head`): that is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
    throw error;
  });
}

run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  signal: interrupted.signal,
}).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? (error.stack ?? error.message) : "unknown failure"}\n`);
    process.exitCode = 3;
  },
);
