/** WebAssembly files are bundled as their bytes. */
declare module "*.wasm" {
  const bytes: Uint8Array;
  export default bytes;
}

/** The part of the WebAssembly interface that Node's types leave to the DOM's. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(
    module: object,
    imports: Record<string, Record<string, (...args: number[]) => number>>,
  ): Promise<{ exports: Record<string, unknown> }>;
};
