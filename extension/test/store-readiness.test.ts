import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const folder = path.join(__dirname, "..");
const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));

/** Width, height and whether there is transparency: from the header of a PNG. */
function png(file: string): { width: number; height: number; alpha: boolean } {
  const bytes = readFileSync(file);
  expect(bytes.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), alpha: bytes[25] === 6 };
}

const titleCase = /^([A-Z][A-Za-z]*|a|an|and|at|by|for|in|of|on|or|the|to|with)(\s|$)/;

test("the manifest has what the store asks for", () => {
  expect(manifest.license).toBe("MIT");
  expect(manifest.platforms).toEqual(["macOS"]);
  expect(manifest.author).toMatch(/^[a-z0-9_-]+$/);
  expect(manifest.name).toMatch(/^[a-z0-9-]+$/);
  expect(manifest.categories.length).toBeGreaterThan(0);
  expect(manifest.description.length).toBeGreaterThan(20);
  expect(manifest.dependencies["@raycast/api"]).toMatch(/^\d+\.\d+\.\d+$/);
});

test("every command and tool has its file, a title in Title Case, and a sentence", () => {
  const names = manifest.commands.map((command: { name: string }) => command.name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, title, description, mode } of manifest.commands) {
    const file = [".tsx", ".ts"].find((extension) => existsSync(path.join(folder, "src", name + extension)));
    expect([name, file]).toEqual([name, mode === "no-view" ? ".ts" : ".tsx"]);
    for (const word of title.split(" ")) expect(word).toMatch(titleCase);
    expect(description).toMatch(/\.$/);
  }
  for (const { name, description } of manifest.tools) {
    expect(existsSync(path.join(folder, "src/tools", `${name}.ts`))).toBe(true);
    expect(description).toMatch(/Never starts a recording\.$/);
  }
});

test("entry files are thin, and there is none that the manifest does not name", () => {
  const entries = readdirSync(path.join(folder, "src"), { withFileTypes: true }).filter((entry) => entry.isFile());
  const known = new Set(manifest.commands.map((command: { name: string }) => command.name));
  for (const { name } of entries) {
    expect(known.has(name.replace(/\.tsx?$/, ""))).toBe(true);
    const lines = readFileSync(path.join(folder, "src", name), "utf8").split("\n").length;
    expect(lines).toBeLessThan(90);
  }
});

test("every preference is explained, and every choice has a default", () => {
  for (const { name, type, title, description, data, default: given, required } of manifest.preferences) {
    expect([name, required]).toEqual([name, false]);
    expect(title).toMatch(/^[A-Z]/);
    expect(description).toMatch(/\.$/);
    if (type === "dropdown") expect(data.map((choice: { value: string }) => choice.value)).toContain(given);
  }
  const key = manifest.preferences.find((preference: { name: string }) => preference.name === "apiKey");
  expect(key.type).toBe("password");
});

test("arguments are few and have placeholders", () => {
  for (const command of manifest.commands) {
    const given = command.arguments ?? [];
    expect(given.length).toBeLessThanOrEqual(3);
    for (const argument of given) expect(argument.placeholder).toBeTruthy();
  }
});

test("every expected tool call of the evals names a tool and has a mock", () => {
  const tools = new Set(manifest.tools.map((tool: { name: string }) => tool.name));
  for (const { input, expected, mocks } of manifest.ai.evals) {
    expect(input).toContain(`@${manifest.name}`);
    for (const { callsTool } of expected) expect(tools.has(callsTool.name ?? callsTool)).toBe(true);
    for (const name of Object.keys(mocks)) expect(tools.has(name)).toBe(true);
  }
});

test("the icon is 512 pixels square, with transparency, and every asset is used", () => {
  expect(png(path.join(folder, "assets", manifest.icon))).toEqual({ width: 512, height: 512, alpha: true });
  const assets = readdirSync(path.join(folder, "assets")).filter((name) => name !== "compiled_raycast_swift");
  expect(assets.sort()).toEqual(["icon.png", "session-host.cjs"]);
});

test("screenshots have the store's size, and what is missing is written down", () => {
  const names = readdirSync(path.join(folder, "metadata"));
  const pictures = names.filter((name) => name.endsWith(".png"));
  expect(pictures.length).toBeLessThanOrEqual(6);
  for (const name of pictures) {
    expect(name).toMatch(/^persyk-[1-6]\.png$/);
    expect(png(path.join(folder, "metadata", name))).toMatchObject({ width: 2000, height: 1250 });
  }
  const note = readFileSync(path.join(folder, "metadata/README.md"), "utf8");
  for (let n = 1; n <= 6; n += 1) expect(note).toContain(`persyk-${n}.png`);
});

test("the changelog has the store's form", () => {
  const changelog = readFileSync(path.join(folder, "CHANGELOG.md"), "utf8");
  const heads = changelog.split("\n").filter((line) => line.startsWith("## "));
  expect(heads.length).toBeGreaterThan(0);
  for (const head of heads) expect(head).toMatch(/^## \[[^\]]+\] - (\{PR_MERGE_DATE\}|\d{4}-\d{2}-\d{2})$/);
});

test("the readme names every command, and the setup page every step that needs a person", () => {
  const readme = readFileSync(path.join(folder, "README.md"), "utf8");
  for (const { title } of manifest.commands) expect(readme).toContain(title);
  const help = readFileSync(path.join(folder, "help.md"), "utf8");
  for (const word of ["API Key", "Server URL", "Microphone", "Documents"]) expect(help).toContain(word);
});
