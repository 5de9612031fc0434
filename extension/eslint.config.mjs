import raycast from "@raycast/eslint-config";

export default [
  ...raycast.flat(Infinity),
  {
    // A name that begins with an underscore says that it is there for the shape of a call.
    rules: { "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }] },
  },
  { ignores: ["dist/**", "node_modules/**", "raycast-env.d.ts", "assets/**", "swift/**"] },
];
