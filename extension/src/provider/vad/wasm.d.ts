/** WebAssembly files are bundled as their bytes. */
declare module "*.wasm" {
  const bytes: Uint8Array;
  export default bytes;
}

declare module "@echogarden/fvad-wasm" {
  /** The parts of the compiled libfvad that are used. Pointers are numbers into `HEAP16`. */
  export interface FvadModule {
    HEAP16: Int16Array;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    _fvad_new(): number;
    _fvad_free(instance: number): void;
    _fvad_set_mode(instance: number, mode: number): number;
    _fvad_set_sample_rate(instance: number, rate: number): number;
    /** 1 speech, 0 none, -1 not a valid frame. */
    _fvad_process(instance: number, frame: number, samples: number): number;
  }
  export default function fvad(options: { wasmBinary: Uint8Array }): Promise<FvadModule>;
}
