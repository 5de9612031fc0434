/// <reference lib="es2024.string" />
import { MAX_DEPTH } from "./names";
import { type JsonValue } from "./json-value";

export type JsonCopy =
  { ok: true; value: JsonValue } | { ok: false; code: "depth-exceeded" | "not-json"; message: string; path: string };

/**
 * Copies a value that is to be written as JSON, and refuses what JSON would change on the way: numbers that are not
 * finite, lone surrogates, holes, functions, objects that are not plain. A member that is undefined is left out.
 */
export function copyJson(value: unknown): JsonCopy {
  try {
    return { ok: true, value: copy(value, 0, "") };
  } catch (error) {
    if (error instanceof NotJson) {
      return { ok: false, code: error.code, message: error.message, path: error.path === "" ? "record" : error.path };
    }
    throw error;
  }
}

class NotJson extends Error {
  constructor(
    readonly code: "depth-exceeded" | "not-json",
    message: string,
    readonly path: string,
  ) {
    super(message);
  }
}

function copy(value: unknown, depth: number, path: string): JsonValue {
  switch (typeof value) {
    case "string":
      if (!value.isWellFormed()) throw new NotJson("not-json", "A string has half a surrogate pair.", path);
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new NotJson("not-json", "A number is not finite.", path);
      return value;
    case "boolean":
      return value;
    case "object":
      if (value === null) return null;
      if (depth >= MAX_DEPTH) throw new NotJson("depth-exceeded", "The nesting is too deep.", path);
      return Array.isArray(value) ? copyArray(value, depth + 1, path) : copyObject(value, depth + 1, path);
    default:
      throw new NotJson("not-json", `A ${typeof value} is not JSON.`, path);
  }
}

function copyArray(list: readonly unknown[], depth: number, path: string): JsonValue[] {
  const result: JsonValue[] = [];
  for (let index = 0; index < list.length; index += 1) result.push(copy(list[index], depth, path));
  return result;
}

function copyObject(object: object, depth: number, path: string): JsonValue {
  if ("toJSON" in object && typeof object.toJSON === "function") {
    throw new NotJson("not-json", "An object is not plain data.", path);
  }
  const prototype: unknown = Object.getPrototypeOf(object);
  // Plain objects of another realm have that realm's prototype, which itself has none.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new NotJson("not-json", "An object is not plain data.", path);
  }
  const result: Record<string, JsonValue> = {};
  for (const [key, member] of Object.entries(object)) {
    if (member === undefined) continue;
    if (!key.isWellFormed()) throw new NotJson("not-json", "A key has half a surrogate pair.", path);
    const copied = copy(member, depth, depth === 1 ? key : path);
    if (key === "__proto__") {
      Object.defineProperty(result, key, { value: copied, enumerable: true, configurable: true, writable: true });
    } else result[key] = copied;
  }
  return result;
}
