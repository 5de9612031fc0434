/**
 * The program that runs outside Raycast: the session host, and, so that files can be recorded without native code, the
 * capture stand-in that it starts. Each is loaded alone: the user waits for both to start.
 */
import { parseArgs } from "node:util";

const STAND_IN = "capture-stand-in";

async function main(): Promise<void> {
  const [mode, ...rest] = process.argv.slice(2);
  if (mode === STAND_IN) {
    const { runStandIn } = await import("../capture/stand-in-program");
    return runStandIn(rest);
  }
  const { values } = parseArgs({ options: { support: { type: "string" }, instance: { type: "string" } } });
  if (values.support === undefined || values.instance === undefined) {
    process.exitCode = 64;
    return;
  }
  const { runHost } = await import("./host");
  await runHost(values.support, values.instance, [process.execPath, process.argv[1] ?? "", STAND_IN]);
}

void main();
