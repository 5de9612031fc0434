import { mkdir, open as openFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { exportSession, type ExportFormat, type Session } from "@persyk/store";
import { errorCode } from "./error-code";
import { sessionTitle } from "./format";

export const exportChoices: readonly { format: ExportFormat; title: string }[] = [
  { format: "txt", title: "Plain Text (.txt)" },
  { format: "md", title: "Markdown (.md)" },
  { format: "json", title: "JSON (.json)" },
  { format: "srt", title: "Subtitles (.srt)" },
  { format: "vtt", title: "Web Subtitles (.vtt)" },
  { format: "svg", title: "Picture (.svg)" },
];

const MAX_NAME = 60;
const MAX_COPIES = 1000;

/** Writes an export into the Downloads folder under a name that is not taken, and says where. */
export async function exportToFolder(
  session: Session,
  format: ExportFormat,
  options: { leaf?: string | null; folder?: string } = {},
): Promise<string> {
  const { leaf, folder = path.join(os.homedir(), "Downloads") } = options;
  const content = await exportSession(session, format, leaf === undefined ? {} : { leaf });
  const { label } = await session.info(leaf);
  return writeNew(folder, fileName(sessionTitle(label, session.createdAt)), format, content);
}

/** A title as the name of a file on any disk. */
export function fileName(title: string): string {
  const safe = title
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}/\\:*?"<>|]+/gu, " ")
    .replace(/\s+/gu, " ")
    .trim()
    .replace(/^\.+/, "");
  const short = Array.from(safe).slice(0, MAX_NAME).join("").trim();
  return short === "" ? "Session" : short;
}

async function writeNew(folder: string, name: string, extension: string, content: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (let copy = 1; copy <= MAX_COPIES; copy += 1) {
    const target = path.join(folder, `${name}${copy === 1 ? "" : ` ${copy}`}.${extension}`);
    try {
      const file = await openFile(target, "wx");
      try {
        await file.writeFile(content, "utf8");
      } finally {
        await file.close();
      }
      return target;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
  throw new Error(`There are ${MAX_COPIES} exports with this name in ${folder}.`);
}
