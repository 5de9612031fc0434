import { type Command } from "commander";
import { type CliContext, type Register } from "../context";
import { register as list } from "./list";

/** Every command, in the order of the help text. */
const commands: readonly Register[] = [list];

export function registerCommands(program: Command, cli: CliContext): void {
  for (const register of commands) register(program, cli);
}
