import { copyLastTranscript } from "./lib/copy-last";

export default function command(): Promise<void> {
  return copyLastTranscript();
}
