import { type LaunchProps } from "@raycast/api";
import { SessionDetail } from "./components/SessionDetail";
import { WithSettings } from "./components/WithSettings";

export default function Command(props: LaunchProps<{ arguments: { session: string } }>) {
  return (
    <WithSettings>
      {(settings) => <SessionDetail settings={settings} location={props.arguments.session.trim()} />}
    </WithSettings>
  );
}
