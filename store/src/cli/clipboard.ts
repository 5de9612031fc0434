import { StoreError } from "../errors";

/** Puts text on the system's clipboard. */
export async function copyToClipboard(text: string): Promise<void> {
  // An ESM-only package that finds its helper programs beside itself, so it is loaded when it is needed.
  const { default: clipboard } = await import("clipboardy");
  try {
    await clipboard.write(text);
  } catch (error) {
    throw new StoreError("clipboard-unavailable", { cause: error });
  }
}
