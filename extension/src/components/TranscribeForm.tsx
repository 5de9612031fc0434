import { Action, ActionPanel, Form, Icon, useNavigation } from "@raycast/api";
import { useState, type ReactElement } from "react";
import { wavProblem } from "../lib/audio-file";
import { describeProvider, recordingProblem, type Settings } from "../lib/settings";
import { LiveView } from "./LiveView";
import { ProblemView } from "./ProblemView";

/** A WAV file into a new session, through the same path as the microphone. */
export function TranscribeForm({ settings }: { settings: Settings }): ReactElement {
  const { push } = useNavigation();
  const [error, setError] = useState<string | undefined>();
  const problem = recordingProblem(settings);
  if (problem !== null) return <ProblemView problem={problem} />;
  const submit = async ({ file }: { file: string[] }): Promise<boolean> => {
    const [chosen] = file;
    const refused = chosen === undefined ? "Choose a WAV file" : await wavProblem(chosen);
    if (chosen === undefined || refused !== null) {
      setError(refused ?? "Choose a WAV file");
      return false;
    }
    push(<LiveView settings={settings} start={{ kind: "file", path: chosen }} />);
    return true;
  };
  return (
    <Form
      actions={
        <ActionPanel>
          <Action.SubmitForm title="Transcribe File" icon={Icon.SpeechBubble} onSubmit={submit} />
        </ActionPanel>
      }
    >
      <Form.FilePicker
        id="file"
        title="Audio File"
        allowMultipleSelection={false}
        canChooseDirectories={false}
        info="A WAV file. It is copied into a new session; the file itself is not changed."
        onChange={() => setError(undefined)}
        {...(error === undefined ? {} : { error })}
      />
      <Form.Description title="Transcription" text={describeProvider(settings)} />
    </Form>
  );
}
