import { useMemo, type ReactElement } from "react";
import { type Settings } from "../lib/settings";
import { readSettings } from "../lib/store";
import { ProblemView } from "./ProblemView";

/** Renders a command with checked preferences, or says what is wrong with them. */
export function WithSettings({ children }: { children: (settings: Settings) => ReactElement }): ReactElement {
  const parsed = useMemo(() => readSettings(), []);
  return parsed.kind === "ok" ? children(parsed.settings) : <ProblemView problem={parsed.problem} />;
}
