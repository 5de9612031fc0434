import { plain } from "./markdown";
import { warningMarkdown } from "./problem-markdown";
import { type RecordingFace } from "./recording-face";
import { describeProvider, type Settings } from "./settings";

/** The transcript as it grows. What is saved stands as text; what may still change is quoted and says so. */
export function liveMarkdown(face: Extract<RecordingFace, { kind: "live" }>): string {
  const warnings = face.warnings.map(warningMarkdown);
  const saved = face.saved.map(({ text }) => plain(text));
  const provisional = face.provisional.filter((text) => text.trim() !== "");
  const pending = provisional.length === 0 ? [] : [`> **Not saved yet:** ${provisional.map(plain).join(" ")}`];
  const nothing = saved.length === 0 && pending.length === 0;
  return [...warnings, ...(nothing ? [waiting(face)] : saved), ...pending].join("\n\n");
}

function waiting({ phase }: Extract<RecordingFace, { kind: "live" }>): string {
  switch (phase) {
    case "starting":
      return [
        "**Waiting for permission.** If macOS asks for the microphone, allow it: the recording starts by itself then.",
        "*Nothing is recorded yet.*",
      ].join("\n\n");
    case "recording":
      return "*Listening. Speak, and the words appear here.*";
    case "finishing":
      return "*Finishing: the last words are on their way.*";
  }
}

/** What became of a recording. */
export function finishedMarkdown(face: Extract<RecordingFace, { kind: "finished" }>, settings: Settings): string {
  const warnings = face.warnings.map(warningMarkdown);
  if (face.text === "") return [`# ${emptyTitle(settings)}`, ...warnings, emptyText(face, settings)].join("\n\n");
  const gaps = face.complete
    ? []
    : ["> **Some of it is not transcribed.** The sound is kept: open the session and choose “Transcribe Again”."];
  return [...warnings, ...gaps, plain(face.text)].join("\n\n");
}

function emptyTitle({ provider }: Settings): string {
  return provider.kind === "none" ? "Recorded" : "No Speech Was Heard";
}

function emptyText({ elapsed, device }: Extract<RecordingFace, { kind: "finished" }>, { provider }: Settings): string {
  if (provider.kind === "none") return `${elapsed} were recorded. Choose a transcription to turn them into text.`;
  const from = device === "" ? "" : ` from ${plain(device)}`;
  return `${elapsed} were recorded${from}, and no words were found in them. The recording is kept.`;
}

/** The first run: what it does, where the sound goes, and nothing has started yet. */
export function welcomeMarkdown(settings: Settings): string {
  return [
    "# Ready to Record",
    "Speak, stop, and the words are on the clipboard. Each recording is a folder on your disk that you can search, play and export.",
    `**${describeProvider(settings)}**`,
    `Sessions are kept in \`${settings.writeRoot.path}\`.`,
    "macOS will ask for the microphone, and for the Documents folder if that is where sessions go.",
  ].join("\n\n");
}
