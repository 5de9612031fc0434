import { type LibraryDiagnostic } from "../../library/types";
import { type Session } from "../../session/session";
import { type CliContext } from "../context";

/** Prints what is wrong beside a result, for people; with `--json` the document carries it. */
export function printDiagnostics(cli: CliContext, diagnostics: readonly LibraryDiagnostic[]): void {
  for (const { code, message, location, line } of diagnostics) {
    const place = line === undefined ? "" : ` (line ${line})`;
    cli.warn(`${message}${place}${location === undefined ? "" : ` ${cli.style.dim(location)}`} [${code}]`);
  }
}

/** Prints what a session's log has besides its records. */
export function printSessionDiagnostics(cli: CliContext, session: Session): void {
  printDiagnostics(cli, session.diagnostics);
}
