import { type Command } from "commander";
import { type CliContext, type Register } from "../context";
import { register as completion } from "./completion";
import { register as doctor } from "./doctor";
import { register as exportSession } from "./export";
import { register as inspect } from "./inspect";
import { register as last } from "./last";
import { register as list } from "./list";
import { register as search } from "./search";
import { register as show } from "./show";

/** Every command, in the order of the help text. */
const commands: readonly Register[] = [list, search, show, last, exportSession, inspect, doctor, completion];

export function registerCommands(program: Command, cli: CliContext): void {
  for (const register of commands) register(program, cli);
}
