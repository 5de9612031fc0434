/** What a key looks like in free text, wherever it comes from. */
const patterns = [/\b(?:sk|ek)[-_][A-Za-z0-9_*.-]{4,}/g, /\b(Bearer|Basic|Token)\s+[A-Za-z0-9._~+/=-]{4,}/gi];

/** Free text without the given secrets and without anything that looks like one. */
export function redactText(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 4) clean = clean.split(secret).join("[redacted]");
  for (const pattern of patterns) clean = clean.replace(pattern, "[redacted]");
  return clean;
}
