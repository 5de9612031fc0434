import { LiveView } from "./components/LiveView";
import { WithSettings } from "./components/WithSettings";
import { type RecordingTarget } from "./lib/recording";

const microphone: RecordingTarget = { kind: "microphone" };

export default function Command() {
  return <WithSettings>{(settings) => <LiveView settings={settings} start={microphone} />}</WithSettings>;
}
