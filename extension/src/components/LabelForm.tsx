import { Action, ActionPanel, Form, Icon, Toast, showToast, useNavigation } from "@raycast/api";
import { type ReactElement } from "react";
import { type Library } from "@persyk/store";
import { attempt } from "../lib/mend";
import { withSession } from "../lib/store";

interface Props {
  library: Library;
  location: string;
  entryId: string;
  label: string;
  onChange: () => void;
}

/** A label on one message; an empty one takes it away. Labels are found by the search. */
export function LabelForm({ library, location, entryId, label, onChange }: Props): ReactElement {
  const { pop } = useNavigation();
  const submit = async (values: { label: string }): Promise<boolean> => {
    const given = values.label.trim();
    const done = await attempt(location, async () => {
      await withSession(library, location, (session) => session.setLabel(entryId, given === "" ? null : given));
      await showToast({ style: Toast.Style.Success, title: given === "" ? "Label Removed" : "Label Saved" });
    });
    if (done) {
      onChange();
      pop();
    }
    return done;
  };
  return (
    <Form
      navigationTitle="Label Message"
      actions={
        <ActionPanel>
          <Action.SubmitForm title="Save Label" icon={Icon.Tag} onSubmit={submit} />
        </ActionPanel>
      }
    >
      <Form.TextField id="label" title="Label" placeholder="Empty removes the label" defaultValue={label} />
    </Form>
  );
}
