import { chmod } from "node:fs/promises";
import path from "node:path";
import { errorCode } from "./error-code";
import { readOverrides } from "./overrides";

/** The capture helper, ready to be run: that of the extension, unless the environment names another. */
export async function captureHelper(assetsPath: string): Promise<string> {
  const helper = readOverrides().helperPath ?? bundledHelper(assetsPath);
  await makeRunnable(helper);
  return helper;
}

/** Where Raycast's builder puts the capture helper: a file that is named after the folder of its package. */
function bundledHelper(assetsPath: string): string {
  return path.join(assetsPath, "compiled_raycast_swift", "swift");
}

/** The store's archives deliver the helper without its execute bit. A missing helper is told when it is needed. */
async function makeRunnable(helper: string): Promise<void> {
  try {
    await chmod(helper, 0o755);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
