/** The system's name of a failed call, such as ENOENT; undefined for every other failure. */
export function errnoName(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The system's number of a failed call, negative as Node gives it: for the few that Node has no name for. */
export function errnoNumber(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errno" in error)) return undefined;
  return typeof error.errno === "number" ? error.errno : undefined;
}
