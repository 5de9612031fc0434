import wasmBinary from "@echogarden/fvad-wasm/fvad.wasm";

/** The parts of the compiled libfvad that are used. Pointers are numbers into `HEAP16`. */
export interface FvadModule {
  readonly HEAP16: Int16Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _fvad_new(): number;
  _fvad_free(instance: number): void;
  _fvad_set_mode(instance: number, mode: number): number;
  _fvad_set_sample_rate(instance: number, rate: number): number;
  /** 1 speech, 0 none, -1 not a valid frame. */
  _fvad_process(instance: number, frame: number, samples: number): number;
}

/** The minified names that the package's own loader gives to what the module exports (version 0.2). */
const names = {
  memory: "c",
  initialize: "d",
  _fvad_new: "e",
  _malloc: "f",
  _fvad_free: "h",
  _free: "i",
  _fvad_set_mode: "j",
  _fvad_set_sample_rate: "k",
  _fvad_process: "l",
} as const;

/**
 * Instantiates the detector without the package's loader: that one asks for `import.meta.url`, which a CommonJS bundle
 * such as Raycast's does not have, although nothing is read from there.
 */
export async function loadFvad(): Promise<FvadModule> {
  const compiled = await WebAssembly.compile(Uint8Array.from(wasmBinary));
  const { exports } = await WebAssembly.instantiate(compiled, {
    a: {
      a: () => {
        throw new Error("libfvad: an assertion failed");
      },
      // The initial memory is many times what a detector needs.
      b: () => 0,
    },
  });
  const call = (name: keyof typeof names) => {
    const found: unknown = exports[names[name]];
    if (typeof found !== "function") throw new Error("This is not the libfvad that was expected.");
    return (...args: number[]): number => Number(found(...args));
  };
  const memory: unknown = exports[names.memory];
  if (!isMemory(memory)) throw new Error("This is not the libfvad that was expected.");
  call("initialize")();
  return {
    HEAP16: new Int16Array(memory.buffer),
    _malloc: call("_malloc"),
    _free: call("_free"),
    _fvad_new: call("_fvad_new"),
    _fvad_free: call("_fvad_free"),
    _fvad_set_mode: call("_fvad_set_mode"),
    _fvad_set_sample_rate: call("_fvad_set_sample_rate"),
    _fvad_process: call("_fvad_process"),
  };
}

function isMemory(value: unknown): value is { buffer: ArrayBuffer } {
  return typeof value === "object" && value !== null && "buffer" in value;
}
