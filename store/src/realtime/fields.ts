/** Lenient access to the members of provider frames: a member of another type counts as absent. */
import { isObject, type JsonObject, type JsonValue } from "../format/schema";

export function stringOf(object: JsonObject | undefined, key: string): string | undefined {
  const value = own(object, key);
  return typeof value === "string" ? value : undefined;
}

/** A string that is not empty: ids, codes. */
export function nameOf(object: JsonObject | undefined, key: string): string | undefined {
  const value = stringOf(object, key);
  return value === "" ? undefined : value;
}

export function numberOf(object: JsonObject | undefined, key: string): number | undefined {
  const value = own(object, key);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function objectOf(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = own(object, key);
  return isObject(value) ? value : undefined;
}

/** The objects in a list; an empty list when there is none. */
export function objectsOf(object: JsonObject | undefined, key: string): JsonObject[] {
  const value = own(object, key);
  return Array.isArray(value) ? value.filter((member) => isObject(member)) : [];
}

export function own(object: JsonObject | undefined, key: string): JsonValue | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

const LONE_SURROGATES = /\p{Surrogate}/gu;

/** The text with each lone surrogate replaced by U+FFFD: records hold Unicode scalar text only. */
export function scalarText(text: string): string {
  return text.replace(LONE_SURROGATES, "\ufffd");
}

export function isScalarText(text: string): boolean {
  return text.search(LONE_SURROGATES) === -1;
}
