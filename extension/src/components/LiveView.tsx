import {
  Action,
  ActionPanel,
  Detail,
  Icon,
  Keyboard,
  LocalStorage,
  Toast,
  openExtensionPreferences,
  showToast,
  useNavigation,
} from "@raycast/api";
import { useEffect, useMemo, useRef, type ReactElement } from "react";
import { useLiveRecording } from "../hooks/useLiveRecording";
import { copyTranscript } from "../lib/copy";
import { confirmDiscard, confirmRemoval, copySaved, stopRecording } from "../lib/live-actions";
import { finishedMarkdown, liveMarkdown, welcomeMarkdown } from "../lib/live-markdown";
import { shorten } from "../lib/format";
import { attempt, showCommand } from "../lib/mend";
import { refreshMenuBar } from "../lib/raycast";
import { isUntold, type RecordingFace } from "../lib/recording-face";
import { recordings, type Recordings, type RecordingTarget } from "../lib/recording";
import { describeProvider, type Settings } from "../lib/settings";
import { openLibrary } from "../lib/store";
import { LiveMetadata } from "./LiveMetadata";
import { ChooseMicrophoneAction } from "./MicrophoneList";
import { ProblemView } from "./ProblemView";

interface Props {
  settings: Settings;
  start: RecordingTarget;
  onEnd?: () => void;
  /** The recording of this extension, unless a test gives another. */
  source?: Recordings;
}

const WELCOMED = "welcomed";

/** A recording while it runs, and what became of it. Closing this view changes nothing: opening it again attaches. */
export function LiveView({ settings, start: target, onEnd, source: given }: Props): ReactElement {
  const source = useMemo(() => given ?? recordings(), [given]);
  const welcomed = useMemo(
    () => async () => target.kind !== "microphone" || (await LocalStorage.getItem(WELCOMED)) !== undefined,
    [target.kind],
  );
  const { state, start } = useLiveRecording({ settings, source, target, welcomed });
  const face = state.kind === "face" ? state.face : null;
  const microphone = target.kind === "microphone" ? <ChooseMicrophoneAction /> : null;
  useAnnouncement(face, settings, source, onEnd);
  switch (state.kind) {
    case "checking":
      return <Detail isLoading markdown="" />;
    case "starting":
      return <Detail isLoading markdown={`# Starting…\n\n${describeProvider(settings)}`} />;
    case "welcome":
      return (
        <Detail
          markdown={welcomeMarkdown(settings)}
          actions={
            <ActionPanel>
              <Action
                title="Start Recording"
                icon={Icon.Microphone}
                onAction={() => void attempt(undefined, () => LocalStorage.setItem(WELCOMED, "yes")).then(start)}
              />
              {microphone}
              <PreferencesAction />
            </ActionPanel>
          }
        />
      );
    case "problem":
      return (
        <ProblemView problem={state.problem} handlers={{ retry: start }}>
          {microphone}
          <PreferencesAction />
          <SearchAction />
        </ProblemView>
      );
    case "face":
      return (
        <FaceView face={state.face} settings={settings} source={source} start={start}>
          {microphone}
        </FaceView>
      );
  }
}

function FaceView({
  face,
  settings,
  source,
  start,
  children,
}: {
  face: Exclude<RecordingFace, { kind: "none" }>;
  settings: Settings;
  source: Recordings;
  start: () => void;
  /** A further action, for what comes next. */
  children: ReactElement | null;
}): ReactElement {
  const { pop } = useNavigation();
  const again = (
    <Action title="Record Again" icon={Icon.Microphone} shortcut={Keyboard.Shortcut.Common.New} onAction={start} />
  );
  switch (face.kind) {
    case "live":
      return (
        <Detail
          isLoading={face.phase !== "recording"}
          markdown={liveMarkdown(face)}
          metadata={<LiveMetadata face={face} />}
          actions={
            <ActionPanel>
              {face.phase === "finishing" ? null : (
                <Action title="Stop Recording" icon={Icon.Stop} onAction={() => void stopRecording(source)} />
              )}
              <Action
                title="Copy Saved Text"
                icon={Icon.Clipboard}
                onAction={() => void copySaved(openLibrary(settings), settings, face)}
                shortcut={Keyboard.Shortcut.Common.Copy}
              />
              {face.saved.length === 0 ? null : (
                <ActionPanel.Submenu title="Remove Message…" icon={Icon.MinusCircle}>
                  {face.saved.map(({ entryId, text }) => (
                    <Action
                      key={entryId}
                      title={shorten(text, 60)}
                      icon={Icon.MinusCircle}
                      style={Action.Style.Destructive}
                      onAction={() => void confirmRemoval(source, entryId)}
                    />
                  ))}
                </ActionPanel.Submenu>
              )}
              {children}
              <Action
                title="Discard Recording…"
                icon={Icon.Trash}
                style={Action.Style.Destructive}
                shortcut={Keyboard.Shortcut.Common.Remove}
                onAction={() => void confirmDiscard(source).then((discarded) => discarded && pop())}
              />
            </ActionPanel>
          }
        />
      );
    case "finished":
      return (
        <Detail
          markdown={finishedMarkdown(face, settings)}
          actions={
            <ActionPanel>
              {face.text === "" ? null : (
                <Action.CopyToClipboard
                  title="Copy Transcript"
                  icon={Icon.Clipboard}
                  content={face.text}
                  concealed={settings.concealedCopy}
                />
              )}
              <ShowSession session={face.session} />
              {again}
              {children}
              <SearchAction />
            </ActionPanel>
          }
        />
      );
    case "failed":
    case "interrupted":
    case "unknown":
      return (
        <ProblemView problem={face.problem} handlers={{ retry: start }}>
          <ShowSession session={face.session} />
          {again}
          {children}
          <SearchAction />
        </ProblemView>
      );
  }
}

/** Copies the transcript once, when a recording ends before someone's eyes, and tells the next command that it is done. */
function useAnnouncement(
  face: RecordingFace | null,
  settings: Settings,
  source: Recordings,
  onEnd: (() => void) | undefined,
): void {
  const announced = useRef(false);
  useEffect(() => {
    if (face === null || face.kind === "none" || face.kind === "live") {
      announced.current = false;
      return;
    }
    // An interrupted recording stays to be seen until somebody has recovered it.
    if (announced.current || face.kind === "interrupted" || face.kind === "unknown") return;
    announced.current = true;
    const announce = async () => {
      if (face.kind === "finished" && isUntold(face) && settings.copyOnStop && face.text !== "") {
        await copyTranscript(face.text, settings);
        await showToast({ style: Toast.Style.Success, title: "Transcript Copied" });
      }
      await source.announced();
      await refreshMenuBar();
      onEnd?.();
    };
    void attempt(face.session?.location, announce);
  }, [face, onEnd, settings, source]);
}

/** A command of its own: the detail can start a live view itself. */
function ShowSession({ session }: { session: { location: string } | null }): ReactElement | null {
  if (session === null) return null;
  const { location } = session;
  return (
    <Action
      title="Show Session"
      icon={Icon.Eye}
      onAction={() => void showCommand("session-detail", { arguments: { session: location } })}
    />
  );
}

function PreferencesAction(): ReactElement {
  return <Action title="Open Preferences" icon={Icon.Gear} onAction={() => void openExtensionPreferences()} />;
}

function SearchAction(): ReactElement {
  return (
    <Action title="Search Sessions" icon={Icon.MagnifyingGlass} onAction={() => void showCommand("search-sessions")} />
  );
}
