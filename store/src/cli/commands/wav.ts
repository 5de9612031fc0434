import { type Command } from "commander";
import { inspectWav, recoverWav, type WavReport } from "../../assets/wav";
import { type CliContext } from "../context";

export function register(program: Command, cli: CliContext): void {
  const wav = program.command("wav").description("check and repair WAV files whose writer ended before it finished");
  wav
    .command("inspect")
    .description("say what `wav recover` would do; writes nothing")
    .argument("<file>", "the WAV file")
    .addHelpText("after", "\nExample:\n  persyk wav inspect recording.wav --json")
    .action(async (file: string) => answer(cli, await inspectWav(cli.resolve(file), seam(cli)), true));
  wav
    .command("recover")
    .description("make the sizes in the header describe the samples on disk; refused while a recording runs")
    .argument("<file>", "the WAV file")
    .addHelpText("after", "\nExample:\n  persyk wav recover recording.wav")
    .action(async (file: string) => answer(cli, await recoverWav(cli.resolve(file), seam(cli)), false));
}

function seam(cli: CliContext): Parameters<typeof recoverWav>[1] {
  const { store } = cli.io;
  return store === undefined ? {} : { fs: store.fs, captureLock: store.captureLock };
}

function answer(cli: CliContext, report: WavReport, inspecting: boolean): void {
  const known = report.outcome === "rejected" ? undefined : report;
  const document = {
    outcome: report.outcome,
    frames: known?.frames ?? null,
    durationMs: known?.durationMs ?? null,
    reason: report.outcome === "rejected" ? report.reason : null,
  };
  cli.result(document, () => describe(report, inspecting));
  if (report.outcome === "rejected") cli.exitCode = 1;
}

function describe(report: WavReport, inspecting: boolean): string {
  if (report.outcome === "rejected") return `Cannot be repaired: ${report.reason}. No byte was changed.`;
  const size = `${report.frames} frames, ${(report.durationMs / 1_000).toFixed(2)} s`;
  const dropped = report.droppedTrailingBytes === 0 ? "" : `, ${report.droppedTrailingBytes} stray bytes dropped`;
  if (report.outcome === "intact") return `Intact: ${size}.`;
  return `${inspecting ? "Would repair" : "Repaired"} the sizes: ${size}${dropped}.`;
}
