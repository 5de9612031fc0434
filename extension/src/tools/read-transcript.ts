import { readTranscriptTool } from "../lib/tools";

type Input = {
  /** The id of the session, as it is given by the search. */
  session: string;
};

/** Reads the saved transcript of one session. */
export default function tool(input: Input) {
  return readTranscriptTool(input);
}
