import { useEffect, useRef, useState } from "react";
import { type Recordings } from "../lib/recording";
import { faceOf, unknownFace, type RecordingFace } from "../lib/recording-face";

/**
 * The running recording as it is shown. The host writes its state several times a second; a change that nobody could
 * see causes no render.
 *
 * @example
 * const face = useRecording(recordings());
 */
export function useRecording(source: Recordings): RecordingFace | null {
  const [face, setFace] = useState<RecordingFace | null>(null);
  const shown = useRef("");
  useEffect(() => {
    let live = true;
    const show = (next: RecordingFace) => {
      if (!live) return;
      const text = JSON.stringify(next);
      if (text === shown.current) return;
      shown.current = text;
      setFace(next);
    };
    const fail = (error: unknown) => show(unknownFace(error));
    let stopWatching: () => void = () => undefined;
    try {
      stopWatching = source.watch((view) => show(faceOf(view)));
    } catch (error) {
      fail(error);
    }
    source.view().then((view) => show(faceOf(view)), fail);
    return () => {
      live = false;
      stopWatching();
    };
  }, [source]);
  return face;
}
