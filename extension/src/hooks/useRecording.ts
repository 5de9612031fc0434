import { useEffect, useRef, useState } from "react";
import { type HostView } from "../host/client";
import { type Recordings } from "../lib/recording";
import { faceOf, type RecordingFace } from "../lib/recording-face";

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
    const show = (view: HostView) => {
      if (!live) return;
      const next = faceOf(view);
      const text = JSON.stringify(next);
      if (text === shown.current) return;
      shown.current = text;
      setFace(next);
    };
    const stopWatching = source.watch(show);
    void source.view().then(show);
    return () => {
      live = false;
      stopWatching();
    };
  }, [source]);
  return face;
}
