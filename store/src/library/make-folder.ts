import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { StoreError } from "../errors";
import { asStoreError } from "../platform/errno";

/** Makes a folder with all its parents, private to the user, so that the names survive a power loss. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    const firstMade = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (firstMade === undefined) return;
    const top = path.dirname(firstMade);
    for (let parent = path.dirname(folder); parent.length >= top.length; parent = path.dirname(parent)) {
      await syncFolder(parent);
      if (parent === path.dirname(parent)) break;
    }
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw asStoreError(error, { location: folder }, "create the session root");
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
