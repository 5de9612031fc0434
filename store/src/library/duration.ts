/** `0:07`, `12:34`, `1:02:03`; with tenths `0:07.4`. */
export function formatDuration(durationMs: number, tenths = false): string {
  const whole = Math.floor(durationMs / 1000);
  const seconds = whole % 60;
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  const two = (value: number): string => `${value}`.padStart(2, "0");
  const head = hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
  return tenths ? `${head}.${Math.floor((durationMs % 1000) / 100)}` : head;
}
