/** The system's name of a failed call, such as ENOENT; undefined for every other failure. */
export function errnoName(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
