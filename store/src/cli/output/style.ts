import pc from "picocolors";
import type { Colors } from "picocolors/types";
import { type CliIo } from "../context";

/** Colours on a terminal that has them; `NO_COLOR` and `TERM=dumb` turn them off, `FORCE_COLOR` on. */
export function createStyle(io: Pick<CliIo, "stdout" | "env">): Colors {
  const { NO_COLOR, FORCE_COLOR, TERM } = io.env;
  if (NO_COLOR !== undefined && NO_COLOR !== "") return pc.createColors(false);
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "0") return pc.createColors(true);
  return pc.createColors(io.stdout.isTTY === true && TERM !== "dumb");
}
