/** Files that a person asked for by name: under the name is the whole of it, or what was there before. */
import { randomUUID } from "node:crypto";
import { chmod, open, realpath, rename, unlink, writeFile } from "node:fs/promises";
import { statSync } from "node:fs";
import path from "node:path";
import { isStoreError, StoreError } from "../../errors";
import { publishExclusively, UNPUBLISHED_PREFIX } from "../../log/publish";
import { cleanUp } from "../../platform/clean-up";
import { asStoreError } from "../../platform/errno";
import { nodeFileSystem } from "../../platform/fs";

/** Writes a file; a name that is taken is `already-exists` unless what has it may be replaced. */
export async function writeWhole(file: string, text: string, options: { replace: boolean }): Promise<void> {
  try {
    const taken = options.replace ? statSync(file, { throwIfNoEntry: false }) : undefined;
    if (taken === undefined) {
      await publishExclusively(nodeFileSystem, file, Buffer.from(text));
      // Unlike a session's own files it is as public as the user's other files.
      await chmod(file, 0o666 & ~process.umask());
    } else if (taken.isFile()) {
      await replaceFile(await realpath(file), text, taken.mode & 0o777);
    } else {
      // A device or a pipe, which takes the bytes as they come.
      await writeFile(file, text);
    }
  } catch (error) {
    throw isStoreError(error, "already-exists")
      ? nameTaken(file, error)
      : asStoreError(error, { location: file }, "write the export");
  }
}

async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  const temporary = path.join(path.dirname(file), `${UNPUBLISHED_PREFIX}${randomUUID()}`);
  try {
    const handle = await open(temporary, "wx", mode);
    try {
      await handle.writeFile(text);
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await cleanUp(() => unlink(temporary));
    throw error;
  }
}

function nameTaken(file: string, cause: StoreError): StoreError {
  return new StoreError("already-exists", {
    location: file,
    message: "A file of that name is there already.",
    remedy: "Give another name, or add --force to replace it.",
    cause,
  });
}
