import { StoreError } from "../errors";
import { type DiscoveredSession } from "./discover";

/** A place in the newest-first order: everything after it is still to come, whatever was added or removed since. */
export interface Position {
  createdMs: number;
  location: string;
}

/** An opaque cursor; its content is not a promise. */
export function encodeCursor(position: Position): string {
  const { createdMs, location } = position;
  const value = [Number.isFinite(createdMs) ? createdMs : null, location];
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}

export function decodeCursor(cursor: string): Position {
  const invalid = (cause?: unknown): StoreError =>
    new StoreError("usage", {
      message: "The cursor is not one that an earlier page gave.",
      remedy: "Start without a cursor.",
      ...(cause === undefined ? {} : { cause }),
    });
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch (error) {
    throw invalid(error);
  }
  if (!Array.isArray(value) || value.length !== 2) throw invalid();
  const [createdMs, location]: unknown[] = value;
  if (typeof location !== "string" || (createdMs !== null && typeof createdMs !== "number")) throw invalid();
  return { createdMs: createdMs ?? -Infinity, location };
}

/** Whether a session comes after the position in the newest-first order. */
export function isAfter(session: Pick<DiscoveredSession, "createdMs" | "location">, position: Position): boolean {
  if (session.createdMs !== position.createdMs) return session.createdMs < position.createdMs;
  return session.location > position.location;
}
