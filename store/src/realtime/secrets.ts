/**
 * What counts as a secret (Session file format, Realtime retention: credentials, authorization, ephemeral secrets and
 * credential-bearing URLs never reach persistence or diagnostics).
 */

export const REDACTED = "[redacted]";

/** Members whose value is a secret, or personal, at any depth. Compared without case, `-` and `_`. */
const SECRET_KEYS: ReadonlySet<string> = new Set(
  [
    "client_secret api_key apikey x_api_key xi_api_key x_gladia_key authorization proxy_authorization cookie set_cookie",
    "sec_websocket_protocol access_token refresh_token id_token ephemeral_token auth_token session_token jwt password",
    "passwd secret token credential credentials private_key server_url sdp openai_safety_identifier",
    "openai_organization openai_project safety_identifier organization_id project_id ephemeral_key insecure_api_key",
  ].flatMap((line) => line.split(" ").map(plainKey)),
);

export function isSecretKey(key: string): boolean {
  return SECRET_KEYS.has(plainKey(key));
}

function plainKey(key: string): string {
  return key.toLowerCase().replace(/[-_]/g, "");
}

const QUERY_KEYS =
  "api[-_]?key|key|token|access_token|refresh_token|jwt|ephemeral_token|client_secret|authorization|sig|signature|code|password|secret";
const NAMED =
  "api[-_ ]?key(?: provided)?|x-api-key|xi-api-key|x-gladia-key|client[-_]secret|access[-_]token|refresh[-_]token|password|secret";
/** Their value is the rest of the line. */
const NAMED_LINES =
  "(?:proxy-)?authorization|(?:set-)?cookie|sec-websocket-protocol|openai-(?:safety-identifier|organization|project)";

/**
 * Free text: error messages, close reasons, addresses, stack traces. Each of them takes time in proportion to the text,
 * whatever the text is: a provider chooses it.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // The part of an address before its host.
  [/:\/\/[^\s/?#"'<>]*@/g, `://${REDACTED}@`],
  [new RegExp(`([?&;](?:${QUERY_KEYS})=)[^&#\\s"'<>;]*`, "gi"), `$1${REDACTED}`],
  [/openai-insecure-api-key\.[^\s,"']+/gi, `openai-insecure-api-key.${REDACTED}`],
  [new RegExp(`\\b(${NAMED_LINES})(["']?\\s*[:=]\\s*)(?:"[^"]*"|'[^']*'|[^\\r\\n"']+)`, "gi"), `$1$2${REDACTED}`],
  [new RegExp(`\\b(${NAMED})(["']?\\s*[:=]\\s*)(?:"[^"]*"|'[^']*'|[^\\s"',;}\\]]+)`, "gi"), `$1$2${REDACTED}`],
  [/\b(Bearer|Basic)\s+(?!\[redacted\])[A-Za-z0-9._~+/=*-]{4,}/gi, `$1 ${REDACTED}`],
  [/\b(?:sk-|ek_|xai-|gsk_|AIza)[A-Za-z0-9_*.-]{3,}/g, REDACTED],
  [/\beyJ[A-Za-z0-9_-]{6,512}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?/g, REDACTED],
];

/** A cheap test that most strings fail, so that long harmless ones cost one pass. */
const SUSPICIOUS =
  /:\/\/|[?&;][\w-]+=|key|auth|cookie|protocol|openai-|secret|token|password|bearer|basic|sk-|ek_|xai-|gsk_|AIza|eyJ/i;

/** The text with everything that looks like a secret replaced. */
export function redactText(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  let result = text;
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
  return result;
}

const MEMBER_NAME = /([A-Za-z_-]{2,64})["']?\s*[:=]/g;

/** Whether text that is no JSON may hold a secret in a place that only its structure would show. */
export function mayHoldSecret(text: string): boolean {
  if (redactText(text) !== text) return true;
  for (const [, name = ""] of text.matchAll(MEMBER_NAME)) {
    if (isSecretKey(name) || name.toLowerCase() === "headers") return true;
  }
  return false;
}

/** An address without user info, query and fragment, as a connection's provenance keeps it. */
export function plainEndpoint(endpoint: string): string {
  const bare = endpoint.replace(/[?#].*$/s, "");
  return redactText(bare.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1"));
}
