import { TranscribeForm } from "./components/TranscribeForm";
import { WithSettings } from "./components/WithSettings";

export default function Command() {
  return <WithSettings>{(settings) => <TranscribeForm settings={settings} />}</WithSettings>;
}
