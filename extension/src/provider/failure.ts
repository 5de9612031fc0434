/** Why a provider does not transcribe: a stable code, what happened, what to do. Never server text, never a secret. */
export interface ProviderFailure {
  code: string;
  message: string;
  remedy: string;
}

const TRANSCRIBE_LATER = "The recording is kept; transcribe it again later.";
const CHECK_KEY = "Check the API key in the preferences, then transcribe the recording again.";
const CHECK_MODEL = "Check the model and the endpoint in the preferences, then transcribe the recording again.";

const byCode: ReadonlyMap<string, Omit<ProviderFailure, "code">> = new Map([
  ["invalid_api_key", { message: "The provider refused the API key.", remedy: CHECK_KEY }],
  [
    "insufficient_quota",
    { message: "The provider's quota is used up.", remedy: `Check the account's billing. ${TRANSCRIBE_LATER}` },
  ],
  ["rate_limit_exceeded", { message: "The provider's rate limit is reached.", remedy: TRANSCRIBE_LATER }],
  [
    "beta_api_shape_disabled",
    { message: "The server speaks another version of the Realtime API.", remedy: CHECK_MODEL },
  ],
  ["model_not_found", { message: "The provider does not know the model.", remedy: CHECK_MODEL }],
  ["session-refused", { message: "The provider refused the session's settings.", remedy: CHECK_MODEL }],
  ["handshake-timeout", { message: "The provider did not answer in time.", remedy: TRANSCRIBE_LATER }],
  ["unreachable", { message: "The provider could not be reached.", remedy: `Check the network. ${TRANSCRIBE_LATER}` }],
  [
    "redirected",
    { message: "The provider's address redirects elsewhere, and the key is not carried on.", remedy: CHECK_MODEL },
  ],
  ["not-answering", { message: "The connection to the provider is dead.", remedy: TRANSCRIBE_LATER }],
  ["connection-lost", { message: "The connection to the provider was lost.", remedy: TRANSCRIBE_LATER }],
  ["session_expired", { message: "The provider ended the session at its maximum length.", remedy: TRANSCRIBE_LATER }],
  ["frame-too-large", { message: "The provider sent more in one message than is allowed.", remedy: TRANSCRIBE_LATER }],
  ["endpoint-invalid", { message: "The endpoint is not a WebSocket address.", remedy: CHECK_MODEL }],
  ["key-missing", { message: "No API key is set.", remedy: CHECK_KEY }],
  ["not-started", { message: "The transcription could not be started.", remedy: TRANSCRIBE_LATER }],
  ["no-engine", { message: "No speech engine is installed.", remedy: TRANSCRIBE_LATER }],
]);

/** Error codes after which another connection would end the same way. */
const final: ReadonlySet<string> = new Set([
  "invalid_api_key",
  "insufficient_quota",
  "rate_limit_exceeded",
  "beta_api_shape_disabled",
  "model_not_found",
  "session-refused",
  "redirected",
  "endpoint-invalid",
  "key-missing",
  "no-engine",
]);

export function providerFailure(code: string): ProviderFailure {
  const known = byCode.get(code);
  if (known !== undefined) return { code, ...known };
  return { code: safeCode(code), message: "The provider ended the transcription.", remedy: TRANSCRIBE_LATER };
}

/** Whether the server's error code ends every session of this account or these settings. */
export function isFinalCode(code: string): boolean {
  return final.has(code);
}

export function httpFailure(status: number): ProviderFailure {
  if (status === 401 || status === 403) return providerFailure("invalid_api_key");
  if (status === 429) return providerFailure("rate_limit_exceeded");
  if (status >= 300 && status < 400) return providerFailure("redirected");
  const message = `The provider answered with HTTP status ${status}.`;
  return { code: `http-${status}`, message, remedy: status < 500 ? CHECK_MODEL : TRANSCRIBE_LATER };
}

/** A server's error code as it may be shown and kept: a plain identifier, or nothing of it. */
export function safeCode(code: string): string {
  return /^[a-zA-Z0-9_.-]{1,64}$/.test(code) && !/^(sk|ek)[-_]/.test(code) ? code : "provider-error";
}
