import { MicrophoneList } from "./components/MicrophoneList";

export default function Command() {
  return <MicrophoneList />;
}
