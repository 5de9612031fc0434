import { useCallback, useEffect, useState } from "react";
import { type InputDevice } from "../capture/devices";
import { readMicrophone, type MicrophoneChoice } from "../lib/microphone";
import { problemOf, type Problem } from "../lib/problems";

export type MicrophonesState =
  | { kind: "loading" }
  | { kind: "listed"; devices: InputDevice[]; choice: MicrophoneChoice }
  /** Asked once more; what was there before stays to be seen. */
  | { kind: "refreshing"; devices: InputDevice[]; choice: MicrophoneChoice }
  | { kind: "failed"; problem: Problem };

/** Names the input devices; ends what it has started when the signal is aborted. */
export type ListDevices = (signal: AbortSignal) => Promise<InputDevice[]>;

export interface Microphones {
  state: MicrophonesState;
  refresh: () => void;
  /** Shows another choice, once it is stored. */
  chosen: (choice: MicrophoneChoice) => void;
}

/** The input devices and the stored choice. Nothing that was started for it is left when the view closes. */
export function useMicrophones(list: ListDevices): Microphones {
  const [state, setState] = useState<MicrophonesState>({ kind: "loading" });
  const [round, setRound] = useState(0);

  useEffect(() => {
    const closing = new AbortController();
    const show = (next: MicrophonesState) => {
      if (!closing.signal.aborted) setState(next);
    };
    Promise.all([list(closing.signal), readMicrophone()]).then(
      ([devices, choice]) => show({ kind: "listed", devices, choice }),
      (error: unknown) => show({ kind: "failed", problem: problemOf(error) }),
    );
    return () => closing.abort();
  }, [list, round]);

  const refresh = useCallback(() => {
    setState((before) => ("devices" in before ? { ...before, kind: "refreshing" } : { kind: "loading" }));
    setRound((before) => before + 1);
  }, []);
  const chosen = useCallback((choice: MicrophoneChoice) => {
    setState((before) => ("devices" in before ? { ...before, choice } : before));
  }, []);
  return { state, refresh, chosen };
}
