import { RecordingStatus } from "./components/RecordingStatus";

export default function Command() {
  return <RecordingStatus />;
}
