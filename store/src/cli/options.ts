import { InvalidArgumentError, type Command } from "commander";

/** Adds `--root DIR`, repeatable, to a command that looks sessions up or makes one. */
export function addRootOption(command: Command): Command {
  return command.option(
    "--root <dir>",
    "session root to use instead of the configured ones (repeatable; the first is the one written to)",
    (value: string, previous: string[] | undefined) => [...(previous ?? []), value],
  );
}

/** An option value that must be a whole number of at least `minimum`. */
export function wholeNumber(minimum = 0): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || !Number.isSafeInteger(number) || number < minimum) {
      throw new InvalidArgumentError(`It must be a whole number of at least ${minimum}.`);
    }
    return number;
  };
}

/** The value of `--leaf ID|null` and its like; `leafOf` tells what it means. */
export function leafOption(value: string): string {
  if (value === "") throw new InvalidArgumentError("It must be an entry id or the word null.");
  return value;
}

/**
 * The word `null` selects the empty ancestry, absence the default leaf. Asked after parsing, because the parser turns a
 * null from an option's own function into an empty text.
 */
export function leafOf(value: string | undefined): string | null | undefined {
  return value === "null" ? null : value;
}
