/** WebAssembly files are bundled as their bytes. */
declare module "*.wasm" {
  const bytes: Uint8Array;
  export default bytes;
}
