import { type JsonObject, type JsonValue } from "../format/schema";

/** The value of a JSON text; undefined for a text that is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** JSON text of a value of any depth; `JSON.stringify` recurses and ends with a stack overflow on deep ones. */
export function deepJsonText(value: JsonValue): string {
  const parts: string[] = [];
  // Pending output, last first: finished text, or a value still to be written.
  const stack: ({ text: string } | { value: JsonValue })[] = [{ value }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if ("text" in next) {
      parts.push(next.text);
      continue;
    }
    const current = next.value;
    if (typeof current !== "object" || current === null) {
      parts.push(JSON.stringify(current));
    } else if (Array.isArray(current)) {
      parts.push("[");
      stack.push({ text: "]" });
      for (let index = current.length - 1; index >= 0; index -= 1) {
        stack.push({ value: current[index] ?? null });
        if (index > 0) stack.push({ text: "," });
      }
    } else {
      pushObject(stack, parts, current);
    }
  }
  return parts.join("");
}

function pushObject(stack: ({ text: string } | { value: JsonValue })[], parts: string[], object: JsonObject): void {
  parts.push("{");
  stack.push({ text: "}" });
  const entries = Object.entries(object);
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const [key, member] = entries[index] ?? ["", null];
    stack.push({ value: member }, { text: `${index > 0 ? "," : ""}${JSON.stringify(key)}:` });
  }
}
