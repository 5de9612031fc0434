import { searchSessionsTool } from "../lib/tools";

type Input = {
  /** The text to look for: one or two words that were likely said. It is matched literally and without regard to case. */
  text: string;
  /** How many sessions to return at most, from 1 to 20. */
  limit?: number;
};

/** Finds voice sessions whose transcript holds a text, newest first. */
export default function tool(input: Input) {
  return searchSessionsTool(input);
}
