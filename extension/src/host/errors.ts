/** A failure that is shown to the user: a stable code, what happened, what to do. Holds no secret and no text. */
export class HostError extends Error {
  override readonly name = "HostError";
  constructor(
    readonly code: string,
    message: string,
    readonly remedy: string,
  ) {
    super(message);
  }
}
