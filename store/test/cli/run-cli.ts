import { Readable } from "node:stream";
import { run } from "../../src/cli/main";
import { type StoreContext } from "../../src/session/store-context";

export interface CliResult {
  exitCode: number;
  stdout: string;
  stderr: string;
  /** Standard output as the one JSON document that `--json` prints. */
  json: Record<string, unknown>;
}

export interface CliSetting {
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string;
  columns?: number;
  isTTY?: boolean;
  signal?: AbortSignal;
  store?: StoreContext;
}

/** Runs one command line in this process, as a terminal or a pipe would. */
export async function runCli(argv: readonly string[], setting: CliSetting = {}): Promise<CliResult> {
  let stdout = "";
  let stderr = "";
  const exitCode = await run(argv, {
    stdin: Readable.from(setting.stdin === undefined ? [] : [setting.stdin]),
    stdout: { write: (text) => (stdout += text), isTTY: setting.isTTY, columns: setting.columns },
    stderr: { write: (text) => (stderr += text) },
    env: setting.env ?? {},
    cwd: setting.cwd ?? process.cwd(),
    signal: setting.signal ?? new AbortController().signal,
    ...(setting.store === undefined ? {} : { store: setting.store }),
  });
  return {
    exitCode,
    stdout,
    stderr,
    get json() {
      if (!stdout.endsWith("\n") || stdout.slice(0, -1).includes("\n")) throw new Error(`not one line: ${stdout}`);
      return JSON.parse(stdout) as Record<string, unknown>;
    },
  };
}
