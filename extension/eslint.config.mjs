import raycast from "@raycast/eslint-config";

export default [
  ...raycast.flat(Infinity),
  { ignores: ["dist/**", "node_modules/**", "raycast-env.d.ts", "assets/**", "swift/**"] },
];
