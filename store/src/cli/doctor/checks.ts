import { accessSync, constants, mkdtempSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { discoverCandidates, errnoOf } from "../../library/discover";
import { type LibraryRoots } from "../../library/roots";
import { defaultLockDirectory } from "../../lock/lock-directory";
import { openFlagLock, probeKernelLock } from "../../lock/kernel-lock";

export interface RootReport {
  path: string;
  /** Why it is a root: it is the default, or somebody named it. */
  from: "default" | "configured";
  writesGoHere: boolean;
  state: "ok" | "missing" | "read-only" | "unreadable";
  sessions: number;
  /** The folder is kept in step with other computers by a sync service. */
  synced: boolean;
}

export async function checkRoots(roots: LibraryRoots): Promise<RootReport[]> {
  const settings = [
    { ...roots.writeRoot, writesGoHere: true },
    ...roots.additional.map((folder) => ({ path: folder, explicit: true, writesGoHere: false })),
  ];
  return Promise.all(
    settings.map(async ({ path: folder, explicit, writesGoHere }) => {
      const alone = { writeRoot: { path: folder, explicit: true }, additional: [] };
      const { sessions } = await discoverCandidates(alone);
      return {
        path: folder,
        from: explicit ? "configured" : "default",
        writesGoHere,
        state: stateOf(folder),
        sessions: sessions.length,
        synced: isSynced(folder),
      } satisfies RootReport;
    }),
  );
}

function stateOf(folder: string): RootReport["state"] {
  try {
    if (!statSync(folder).isDirectory()) return "unreadable";
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? "missing" : "unreadable";
  }
  try {
    accessSync(folder, constants.W_OK);
    return "ok";
  } catch {
    return "read-only";
  }
}

/** Folders that sync services own, and Documents when iCloud keeps it. */
function isSynced(folder: string): boolean {
  if (/\/(Mobile Documents|Library\/CloudStorage|Dropbox|OneDrive[^/]*|Google Drive)(\/|$)/.test(folder)) return true;
  const documents = path.join(os.homedir(), "Documents");
  if (process.platform !== "darwin" || !`${folder}/`.startsWith(`${documents}/`)) return false;
  const inCloud = path.join(os.homedir(), "Library/Mobile Documents/com~apple~CloudDocs/Documents");
  return statSync(inCloud, { throwIfNoEntry: false }) !== undefined;
}

export interface LockReport {
  directory: string;
  /** `none`: only the portable lock files exclude writers. */
  kernelLock: "open flags" | "sqlite" | "none";
}

/** Tries the locks in a folder of its own beside where they would live, and leaves nothing behind. */
export function checkLocks(env: Readonly<Record<string, string | undefined>>): LockReport {
  const directory = defaultLockDirectory(env);
  const existing = nearestFolder(directory);
  let probe: string | undefined;
  try {
    probe = mkdtempSync(path.join(existing, ".persyk-doctor-"));
    const lock = probeKernelLock(probe);
    const kind = lock === undefined ? "none" : lock === openFlagLock ? "open flags" : "sqlite";
    lock?.close?.();
    return { directory, kernelLock: kind };
  } catch {
    // A folder that cannot be written to has no locks; that is the answer.
    return { directory, kernelLock: "none" };
  } finally {
    if (probe !== undefined) rmSync(probe, { recursive: true, force: true });
  }
}

function nearestFolder(folder: string): string {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true || folder === path.dirname(folder)
    ? folder
    : nearestFolder(path.dirname(folder));
}

export interface ToolReport {
  name: string;
  what: string;
  path: string | null;
}

/** The programs that recording and transcription on this computer would use. */
export function checkTools(env: Readonly<Record<string, string | undefined>>, packageRoot: string): ToolReport[] {
  const helper = env["PERSYK_CAPTURE_HELPER"] ?? path.join(packageRoot, "..", "extension", "assets", "capture-helper");
  const standIn = path.join(packageRoot, "..", "extension", "dist", "capture-stand-in.cjs");
  return [
    { name: "capture-helper", what: "records the microphone", path: isFile(helper) ? helper : null },
    { name: "capture stand-in", what: "records from WAV files", path: isFile(standIn) ? path.resolve(standIn) : null },
    { name: "whisper-cli", what: "transcribes on this computer", path: find("whisper-cli", env) },
    {
      name: "pocketsphinx_continuous",
      what: "transcribes English on this computer",
      path: find("pocketsphinx_continuous", env),
    },
  ];
}

function find(program: string, env: Readonly<Record<string, string | undefined>>): string | null {
  const folders = (env["PATH"] ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const extra = process.platform === "darwin" ? ["/opt/homebrew/bin", "/usr/local/bin"] : [];
  return [...folders, ...extra].map((folder) => path.join(folder, program)).find(isFile) ?? null;
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}
