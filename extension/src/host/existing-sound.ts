import path from "node:path";
import { type AvailableAsset, inspectWav, type Session } from "@persyk/store";
import { DATA_OFFSET } from "../capture/protocol";
import { AudioFileFeed } from "./audio-file-feed";
import { type HostOptions } from "./state";

/** A file that is the session's own asset already is not copied: it is transcribed from where it is. */
export async function existingSound(
  options: HostOptions,
  session: Session,
): Promise<{ asset: AvailableAsset; feed: AudioFileFeed } | undefined> {
  const { source } = options;
  if (source.kind !== "file" || options.session === undefined) return undefined;
  const inside = path.relative(path.join(session.location, "assets"), path.resolve(source.path));
  if (inside.startsWith("..") || path.isAbsolute(inside)) return undefined;
  const report = await inspectWav(source.path);
  if (report.outcome === "rejected" || report.dataOffset !== DATA_OFFSET) return undefined;
  const feed = new AudioFileFeed(source.path);
  feed.announce(report.dataBytes);
  feed.complete();
  return { asset: { status: "available", path: `assets/${inside}`, mimeType: "audio/wav" }, feed };
}
