import { CAPTURE_DATA_OFFSET, isStoreError, type Session } from "@persyk/store";
import { BYTES_PER_MS } from "../capture/protocol";

/** How much sound the recordings have whose end nobody has written down: their files say it. */
export async function unendedSoundMs(session: Session): Promise<number> {
  let ms = 0;
  for (const { durationMs, asset } of await session.recordings()) {
    if (durationMs !== undefined || asset.status !== "available") continue;
    try {
      const file = await session.openAsset(asset);
      ms += Math.max(0, Math.round((file.size - CAPTURE_DATA_OFFSET) / BYTES_PER_MS));
      await file.close();
    } catch (error) {
      // A recording whose file is gone has none; that it is gone is said where it is played.
      if (!isStoreError(error)) throw error;
    }
  }
  return ms;
}
