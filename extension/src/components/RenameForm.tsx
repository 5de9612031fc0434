import { Action, ActionPanel, Form, Icon, Toast, showToast, useNavigation } from "@raycast/api";
import { useState, type ReactElement } from "react";
import { type Library } from "@persyk/store";
import { attempt } from "../lib/mend";
import { withSession } from "../lib/store";

interface Props {
  library: Library;
  location: string;
  name: string;
  onChange: () => void;
}

/** A new name for a session. */
export function RenameForm({ library, location, name, onChange }: Props): ReactElement {
  const { pop } = useNavigation();
  const [error, setError] = useState<string | undefined>();
  const submit = async ({ name: given }: { name: string }): Promise<boolean> => {
    if (given.trim() === "") {
      setError("Enter a name");
      return false;
    }
    const done = await attempt(location, async () => {
      await withSession(library, location, (session) => session.rename(given.trim()));
      await showToast({ style: Toast.Style.Success, title: "Session Renamed" });
    });
    if (done) {
      onChange();
      pop();
    }
    return done;
  };
  return (
    <Form
      navigationTitle="Rename Session"
      actions={
        <ActionPanel>
          <Action.SubmitForm title="Rename Session" icon={Icon.Pencil} onSubmit={submit} />
        </ActionPanel>
      }
    >
      <Form.TextField
        id="name"
        title="Name"
        placeholder="A name for this session"
        defaultValue={name}
        onChange={() => setError(undefined)}
        {...(error === undefined ? {} : { error })}
      />
    </Form>
  );
}
