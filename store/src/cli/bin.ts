import { codeOfSystemError } from "../platform/errno";
import { run } from "./main";

const interrupted = new AbortController();

// Each signal counts for itself: at a Ctrl-C the terminal signals this process, and the launcher passes it on as SIGTERM.
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(name, () => {
    interrupted.abort(new DOMException(name, "AbortError"));
    // The second time does not wait for the work to put things in order.
    process.once(name, () => {
      process.stderr.write("error: Ended at once, before the work could be put in order. [aborted]\n");
      process.exit(130);
    });
  });
}

// A file that reaches the size limit is an error to report (EFBIG), not a reason to die in the middle of a write.
if (process.platform !== "win32") process.on("SIGXFSZ", () => undefined);

// The reader of a pipe may leave early (`persyk list | head`): that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
  process.stderr.write(
    `error: Could not write the output (${error.code ?? error.message}). [${codeOfSystemError(error)}]\n`,
  );
  process.exit(3);
});
// Where nobody can be told, the exit code still tells it.
process.stderr.on("error", () => process.exit(process.exitCode ?? 3));

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
