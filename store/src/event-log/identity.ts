/** Event-log backend, Durability ("Bound storage identity"): a header must name the place where its log was found. */
import { realpath } from "node:fs/promises";
import { StoreError } from "../errors";
import { asStoreError } from "../platform/errno";
import { isAbsent } from "./log-file";
import { logPath } from "./paths";
import { type Compression, type EventLogHeader } from "./types";

interface LogLocation {
  readonly root: string;
  readonly path: string;
  readonly compression: Compression;
}

/**
 * Throws `event-log-identity-mismatch` unless the header's id is the expected one and its id and project directory lead
 * to this path, or to another spelling of it that the file system resolves to the same file.
 */
export async function assertPlace(
  location: LogLocation,
  header: EventLogHeader,
  expectedId: string | undefined,
): Promise<void> {
  const { root, path, compression } = location;
  const refuse = (problem: string): never => {
    throw new StoreError("event-log-identity-mismatch", {
      location: path,
      sessionId: header.id,
      message: `corrupt session log "${path}": ${problem}`,
    });
  };
  if (expectedId !== undefined && header.id !== expectedId) {
    refuse(`requested id "${expectedId}" does not match header id "${header.id}"`);
  }
  if (header.id === "" || header.cwd === "") return refuse("header id cannot name a storage path");
  const expected = logPath(root, header.cwd, header.id, compression);
  if (path === expected || (await isSameFile(path, expected))) return;
  refuse(`header id "${header.id}" and cwd identify "${expected}"`);
}

async function isSameFile(path: string, expected: string): Promise<boolean> {
  try {
    const [actual, wanted] = await Promise.all([realpath(path), realpath(expected)]);
    return actual === wanted;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw asStoreError(error, { location: path }, "look at the place of the log");
  }
}
