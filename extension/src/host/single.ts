import { systemCaptureLock } from "@persyk/store";
import { closeSync, openSync } from "node:fs";

/**
 * Makes this process the only host: holds the lock of a file until it is released or the process ends, however it ends.
 * Undefined while another process holds it.
 */
export async function claim(file: string): Promise<(() => Promise<void>) | undefined> {
  closeSync(openSync(file, "a", 0o600));
  const held = await systemCaptureLock.tryAcquire(file);
  return held === undefined ? undefined : () => held.release();
}
