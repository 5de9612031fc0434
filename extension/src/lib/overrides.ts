/**
 * What the environment may put in the place of Raycast's own runtime and of the microphone: for tests, and for running
 * outside Raycast. It is read here and nowhere else.
 */
export interface Overrides {
  /** The Node executable that runs the session host (`PERSYK_NODE`). */
  nodePath?: string;
  /** The program of the session host (`PERSYK_HOST`). */
  hostPath?: string;
  /** A WAV file that is captured in place of the microphone (`PERSYK_AUDIO_SOURCE`). */
  sourcePath?: string;
  /** How many times faster than real time that file is read (`PERSYK_AUDIO_PACE`). */
  sourcePace?: number;
  /** The capture helper (`PERSYK_CAPTURE_HELPER`). */
  helperPath?: string;
}

export function readOverrides(env: Readonly<Record<string, string | undefined>> = process.env): Overrides {
  const { PERSYK_NODE, PERSYK_HOST, PERSYK_AUDIO_SOURCE, PERSYK_AUDIO_PACE, PERSYK_CAPTURE_HELPER } = env;
  const pace = Number(PERSYK_AUDIO_PACE);
  return {
    ...(PERSYK_NODE ? { nodePath: PERSYK_NODE } : {}),
    ...(PERSYK_HOST ? { hostPath: PERSYK_HOST } : {}),
    ...(PERSYK_AUDIO_SOURCE ? { sourcePath: PERSYK_AUDIO_SOURCE } : {}),
    ...(Number.isFinite(pace) && pace > 0 ? { sourcePace: pace } : {}),
    ...(PERSYK_CAPTURE_HELPER ? { helperPath: PERSYK_CAPTURE_HELPER } : {}),
  };
}
