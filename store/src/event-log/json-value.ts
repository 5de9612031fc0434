import { isRecord, type JsonValue } from "./types";

/** Deeper values are refused when they are written. The reference stops at some thousands of levels, by accident. */
const MAX_VALUE_DEPTH = 1000;

/** Why a value cannot be stored: what is wrong, and where in the value (`.data.items[3]`). */
export class NotLosslessJson extends Error {
  override readonly name = "NotLosslessJson";
  constructor(
    readonly path: string,
    readonly problem: string,
  ) {
    super(`${path === "" ? "the value" : path} ${problem}`);
  }
}

/**
 * A detached copy of a value that survives JSON unchanged: finite numbers except -0, strings, booleans, null, dense
 * plain arrays, plain or null-prototype objects with enumerable string keys only. Every property is read once.
 * Throws NotLosslessJson for everything else.
 */
export function snapshotJson(value: unknown): JsonValue {
  return copy(value, "", 0, new Set());
}

function copy(value: unknown, path: string, depth: number, ancestors: Set<object>): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new NotLosslessJson(path, "is not a finite number");
    if (Object.is(value, -0)) throw new NotLosslessJson(path, "is negative zero");
    return value;
  }
  if (typeof value !== "object") throw new NotLosslessJson(path, `is of type ${typeof value}`);
  if (ancestors.has(value)) throw new NotLosslessJson(path, "contains itself");
  if (depth >= MAX_VALUE_DEPTH) throw new NotLosslessJson(path, `is nested deeper than ${MAX_VALUE_DEPTH} levels`);
  ancestors.add(value);
  const result = Array.isArray(value)
    ? copyArray(value, path, depth, ancestors)
    : copyObject(value, path, depth, ancestors);
  ancestors.delete(value);
  return result;
}

function copyArray(value: unknown[], path: string, depth: number, ancestors: Set<object>): JsonValue {
  if (!isPlainArray(value)) throw new NotLosslessJson(path, "is not a plain array");
  if (Reflect.ownKeys(value).length !== value.length + 1) {
    throw new NotLosslessJson(path, "is an array with holes or extra properties");
  }
  const result: JsonValue[] = [];
  for (let index = 0; index < value.length; index += 1) {
    result.push(copy(value[index], `${path}[${index}]`, depth + 1, ancestors));
  }
  return result;
}

function copyObject(value: object, path: string, depth: number, ancestors: Set<object>): JsonValue {
  if (!isPlainObject(value)) throw new NotLosslessJson(path, "is not a plain object");
  const result: { [key: string]: JsonValue } = {};
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key !== "string" || !Object.prototype.propertyIsEnumerable.call(value, key)) {
      throw new NotLosslessJson(path, "has a symbol or a hidden property");
    }
    const item = copy(Reflect.get(value, key), `${path}.${key}`, depth + 1, ancestors);
    if (key === "__proto__") {
      Object.defineProperty(result, key, { value: item, enumerable: true, configurable: true, writable: true });
    } else {
      result[key] = item;
    }
  }
  return result;
}

/** The array and object prototypes of any realm count: values may come out of another context of the same process. */
function isPlainArray(value: unknown[]): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(prototype) && isRootPrototype(Object.getPrototypeOf(prototype));
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || isRootPrototype(prototype);
}

function isRootPrototype(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.getPrototypeOf(value) === null &&
    Object.hasOwn(value, "propertyIsEnumerable")
  );
}

/** Trees up to this depth are frozen on the call stack, which is faster; deeper ones from a list. */
const SHALLOW_LEVELS = 64;

/** Freezes a tree of parsed JSON, however deep it is. */
export function freezeJson<T>(value: T): T {
  if (typeof value === "object" && value !== null) freezeTree(value, SHALLOW_LEVELS);
  return value;
}

function freezeTree(tree: object, levels: number): void {
  Object.freeze(tree);
  for (const key in tree) {
    const child: unknown = Reflect.get(tree, key);
    if (typeof child !== "object" || child === null) continue;
    if (levels > 0) freezeTree(child, levels - 1);
    else freezeDeep(child);
  }
}

function freezeDeep(tree: object): void {
  const pending: object[] = [tree];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    Object.freeze(current);
    for (const child of Object.values(current) as unknown[]) {
      if (typeof child === "object" && child !== null) pending.push(child);
    }
  }
}

/** Structural equality of two parsed JSON values; the order of keys does not count. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equalJson(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]));
}

/**
 * The value of a JSON text, or undefined for text that is none. As tolerant as the reference: a member may be there
 * twice, and a carriage return at the end does no harm.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
