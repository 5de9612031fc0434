import { type Command } from "commander";
import { type CliContext, type Register } from "../context";
import { register as append } from "./append";
import { register as archive } from "./archive";
import { register as completion } from "./completion";
import { register as context } from "./context";
import { register as create } from "./create";
import { register as deleteSession } from "./delete";
import { register as doctor } from "./doctor";
import { register as eventLog } from "./event-log";
import { register as exportSession } from "./export";
import { register as inspect } from "./inspect";
import { register as last } from "./last";
import { register as list } from "./list";
import { register as realtime } from "./realtime";
import { register as recover } from "./recover";
import { register as remove } from "./remove";
import { register as rename } from "./rename";
import { register as search } from "./search";
import { register as show } from "./show";
import { register as wav } from "./wav";

/** Every command, in the order of the help text. */
const commands: readonly Register[] = [
  list,
  search,
  show,
  context,
  last,
  exportSession,
  inspect,
  create,
  append,
  recover,
  rename,
  archive,
  remove,
  deleteSession,
  wav,
  realtime,
  eventLog,
  doctor,
  completion,
];

export function registerCommands(program: Command, cli: CliContext): void {
  for (const register of commands) register(program, cli);
}
