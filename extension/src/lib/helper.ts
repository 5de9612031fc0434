import { chmod } from "node:fs/promises";
import path from "node:path";
import { errorCode } from "./error-code";

/** Where Raycast's builder puts the capture helper: a file that is named after the folder of its package. */
export function helperPath(assetsPath: string): string {
  return path.join(assetsPath, "compiled_raycast_swift", "swift");
}

/** The store's archives deliver the helper without its execute bit. A missing helper is told when it is needed. */
export async function makeRunnable(helper: string): Promise<void> {
  try {
    await chmod(helper, 0o755);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
