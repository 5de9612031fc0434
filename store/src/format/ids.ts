import { randomUUID } from "node:crypto";

const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether a text is an id of the session format. `$` without the `m` flag matches at the very end only. */
export function isId(text: string): boolean {
  return ID_PATTERN.test(text);
}

/** A new collision-resistant id. */
export function newId(): string {
  return randomUUID();
}
