/** Bounds and deadlines (Session file format, Realtime retention and ordered publication). */

/** Observations that are not durable yet. Beyond either bound, persistence has failed and the capture halts visibly. */
export const MAX_QUEUED_JOBS = 512;
export const MAX_QUEUED_BYTES = 8 * 1_048_576;

/** Ordered items that are not published yet, over all connections, and the UTF-8 bytes of their text. */
export const MAX_ORDERED_ITEMS = 256;
export const MAX_ORDERED_TEXT_BYTES = 4 * 1_048_576;

/** How long an item waits for a predecessor that was never announced. */
export const PREDECESSOR_WAIT_MS = 2_000;
/** How long stopping waits for what is still open. */
export const DRAIN_MS = 10_000;
/** How long a removal waits for the provider's acknowledgement. */
export const REMOVAL_TIMEOUT_MS = 10_000;

/** JSON bytes of one message's text. A record holds 1 MiB; the rest is for its envelope and provenance. */
export const MAX_MESSAGE_TEXT_BYTES = 1_048_576 - 65_536;

/** Gaps that an end of a recording names one by one, and their JSON bytes; the rest is counted in a last one. */
export const MAX_NAMED_GAPS = 1_000;
export const MAX_NAMED_GAP_BYTES = 524_288;
