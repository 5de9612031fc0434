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

/** `--leaf ID|null`: the word `null` selects the empty ancestry, absence the default leaf. */
export function leafOption(value: string): string | null {
  if (value === "") throw new InvalidArgumentError("It must be an entry id or the word null.");
  return value === "null" ? null : value;
}
