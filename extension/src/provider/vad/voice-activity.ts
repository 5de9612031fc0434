import { loadFvad, type FvadModule } from "./fvad-module";

/** The detector works at 8 kHz inside, whatever it is given: a third of the capture's rate. */
const DETECTOR_RATE = 8_000;
const DECIMATION = 3;
export const VAD_FRAME_MS = 20;
/** Bytes of one 20 ms frame of 24 kHz mono PCM16. */
export const VAD_FRAME_BYTES = 960;
const DETECTOR_SAMPLES = (DETECTOR_RATE * VAD_FRAME_MS) / 1_000;
/** 0 to 3; the strictest still finds speech and takes noise for speech least often. */
const STRICTEST_MODE = 3;
/** A seven-tap low-pass before every third sample is kept. */
const LOW_PASS = [0.06, 0.12, 0.2, 0.24, 0.2, 0.12, 0.06];

/** Says for each 20 ms frame of 24 kHz mono PCM16 whether it is speech. Frames come in order; `close` frees it. */
export interface VoiceActivity {
  isSpeech(frame: Buffer): boolean;
  close(): void;
}

let loading: Promise<FvadModule> | undefined;

/** A new detector of the WebRTC algorithm. Digital silence is never speech. */
export async function createVoiceActivity(): Promise<VoiceActivity> {
  loading ??= loadFvad();
  const vad = await loading;
  const instance = vad._fvad_new();
  const frame = vad._malloc(DETECTOR_SAMPLES * 2);
  vad._fvad_set_mode(instance, STRICTEST_MODE);
  vad._fvad_set_sample_rate(instance, DETECTOR_RATE);
  let isOpen = true;
  const history = new Float64Array(LOW_PASS.length - 1);
  return {
    isSpeech(samples) {
      if (!isOpen) return false;
      const silent = decimate(samples, history, vad.HEAP16, frame / 2);
      return vad._fvad_process(instance, frame, DETECTOR_SAMPLES) === 1 && !silent;
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      vad._free(frame);
      vad._fvad_free(instance);
    },
  };
}

/** Writes every third, low-passed sample to `target`; true when all input samples are exactly zero. */
function decimate(samples: Buffer, history: Float64Array, target: Int16Array, at: number): boolean {
  const kept = history.length;
  const input = new Float64Array(kept + VAD_FRAME_BYTES / 2);
  input.set(history);
  let silent = true;
  for (let index = 0; index < VAD_FRAME_BYTES / 2; index += 1) {
    const value = samples.readInt16LE(index * 2);
    if (value !== 0) silent = false;
    input[kept + index] = value;
  }
  history.set(input.subarray(input.length - kept));
  for (let index = 0; index < DETECTOR_SAMPLES; index += 1) {
    let sum = 0;
    for (let tap = 0; tap < LOW_PASS.length; tap += 1) {
      sum += (LOW_PASS[tap] ?? 0) * (input[index * DECIMATION + tap] ?? 0);
    }
    target[at + index] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return silent;
}
