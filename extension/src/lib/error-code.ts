import { errnoName } from "../capture/errno";

/** The code of a system or capture error. Asked by shape, because an error may come from another realm. */
export function errorCode(error: unknown): string | null {
  return errnoName(error) ?? null;
}
