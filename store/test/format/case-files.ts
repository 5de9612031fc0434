import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

export const fixtures = join(__dirname, "../../../fixtures/format");

const caseSchema = z.object({
  id: z.string(),
  title: z.string(),
  bytes: z.number(),
  base64: z.string(),
  expected: z.object({
    authoritative: z.boolean(),
    recoverable: z.enum(["no", "add-newline", "truncate-fragment"]),
    committedEntries: z.number(),
    verdict: z.enum(["valid", "tail-pending", "blocked", "corrupt"]).optional(),
    first: z.object({ code: z.string(), line: z.number(), offset: z.number() }).nullable().optional(),
  }),
});

export type RecordCase = z.infer<typeof caseSchema>;

/** The cases of one file of `fixtures/format`. */
export function readCases(name: string): RecordCase[] {
  return z.array(caseSchema).parse(JSON.parse(readFileSync(join(fixtures, name), "utf8")));
}
