import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { listInputDevices, type InputDevice } from "../../src/capture/devices";
import Command from "../../src/choose-microphone";
import { LiveView } from "../../src/components/LiveView";
import { MicrophoneList } from "../../src/components/MicrophoneList";
import { RecordingStatus } from "../../src/components/RecordingStatus";
import { type ListDevices } from "../../src/hooks/useMicrophones";
import { quickRecord } from "../../src/lib/quick-record";
import { parseSettings } from "../../src/lib/settings";
import { builtIn, callsOf, usb, writeDevicesHelper, type HelperBehaviour } from "../capture/devices-helper";
import { processesWith } from "../isolate/isolate";
import { until } from "../isolate/recording-fixture";
import { Screen, type SeenItem } from "../raycast-api/screen";
import { enterCommand, resetWorld, world } from "../raycast-api/world";
import { base, Stage } from "./stage";

let folder: string;
const restored = { ...process.env };
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "persyk-microphones-"));
  resetWorld({ supportPath: path.join(folder, "support") });
  enterCommand("choose-microphone");
  withHelper({ kind: "lists", devices: [builtIn, usb] });
});
afterEach(async () => {
  await until("no helper is left", () => processesWith(folder).every(({ zombie }) => zombie));
  process.env = { ...restored };
  rmSync(folder, { recursive: true, force: true });
});

function withHelper(behaviour: HelperBehaviour): string {
  const helper = writeDevicesHelper(folder, behaviour);
  process.env["PERSYK_CAPTURE_HELPER"] = helper;
  return helper;
}

function store(choice: object | string): void {
  world().localStorage.set("microphone", typeof choice === "string" ? choice : JSON.stringify(choice));
}

async function open(list?: ListDevices): Promise<Screen> {
  const screen = await Screen.mount(list === undefined ? <Command /> : <MicrophoneList list={list} />);
  await screen.settled();
  return screen;
}

const iconTooltip = ({ instance }: SeenItem): unknown => Reflect.get(instance.props.icon, "tooltip");
const chosen = (screen: Screen): string[] =>
  screen
    .items()
    .filter((item) => iconTooltip(item) === "Chosen")
    .map(({ title }) => title);
const lastToast = () => world().toasts.at(-1);

test("Follow System comes first, then every device with how it is connected and which the system uses", async () => {
  const screen = await open();
  expect(screen.items()).toMatchObject([
    { title: "Follow System", subtitle: "The input that macOS uses", section: undefined, accessories: [] },
    { title: builtIn.name, subtitle: "Built-in", section: "Input Devices", accessories: ["System Default"] },
    { title: usb.name, subtitle: "USB", section: "Input Devices", accessories: [] },
  ]);
  expect(chosen(screen)).toEqual(["Follow System"]);
  expect(screen.all("list")[0]?.props.selectedItemId).toBe("follow-system");
  await screen.close();
});

test("while the helper is asked, the list loads and no empty state flickers", async () => {
  let answer: (devices: InputDevice[]) => void = () => undefined;
  const screen = await Screen.mount(<MicrophoneList list={() => new Promise((resolve) => (answer = resolve))} />);
  expect([screen.kind, screen.isLoading, screen.all("empty-view")]).toEqual(["list", true, []]);
  answer([usb]);
  await screen.settled();
  expect(screen.items()).toHaveLength(2);
  await screen.close();
});

test("a device is chosen for good, checked, and said", async () => {
  const screen = await open();
  await screen.perform("Use This Microphone", screen.item(usb.name).instance);
  await screen.until("it is checked", () => chosen(screen).includes(usb.name));
  expect(chosen(screen)).toEqual([usb.name]);
  expect(lastToast()).toMatchObject({
    style: "SUCCESS",
    title: `${usb.name} Is Chosen`,
    message: "The next recording uses it.",
  });
  await screen.close();
  const later = await open();
  expect(chosen(later)).toEqual([usb.name]);
  await later.close();
});

test("the system is followed again, and nothing of the device stays stored", async () => {
  store({ uid: usb.uid, name: usb.name });
  const screen = await open();
  await screen.perform("Follow System", screen.item("Follow System").instance);
  await screen.until("it is checked", () => chosen(screen).includes("Follow System"));
  expect(lastToast()?.title).toBe("Following the System");
  expect(world().localStorage.has("microphone")).toBe(false);
  await screen.close();
});

test("a chosen device that is not connected is shown by its stored name until it is", async () => {
  store({ uid: usb.uid, name: "Old Name" });
  withHelper({ kind: "lists", devices: [builtIn] });
  const screen = await open();
  const gone = screen.item("Old Name");
  expect(gone.accessories).toContain("Not connected");
  expect(chosen(screen)).toEqual(["Old Name"]);
  await screen.perform("Use This Microphone", gone.instance);
  await screen.until("it says so", () => world().toasts.length === 1);
  expect(lastToast()?.message).toContain("It is not connected");
  // It is connected now.
  withHelper({ kind: "lists", devices: [builtIn, usb] });
  await screen.perform("Refresh", screen.item("Follow System").instance);
  expect(screen.items()).not.toEqual([]);
  await screen.until("it is there", () => chosen(screen).includes(usb.name));
  expect(screen.items().map(({ title }) => title)).toEqual(["Follow System", builtIn.name, usb.name]);
  await screen.close();
});

test("a chosen device can be left when there is no device at all", async () => {
  store({ uid: usb.uid, name: usb.name });
  withHelper({ kind: "lists", devices: [] });
  const screen = await open();
  expect(screen.items().map(({ title }) => title)).toEqual(["Follow System", usb.name]);
  await screen.close();
});

test("without a device the list says so, and opens the Sound settings", async () => {
  withHelper({ kind: "lists", devices: [] });
  const screen = await open();
  expect(screen.emptyView()?.title).toBe("No Input Devices");
  await screen.perform("Open Sound Settings");
  expect(world().opened.at(-1)?.target).toContain("preference.sound?input");
  await screen.close();
});

test.each(["", "{", "5", '{"uid":""}', '{"uid":7,"name":"x"}'])(
  "a stored choice that is %j follows the system",
  async (stored) => {
    store(stored);
    const screen = await open();
    expect(chosen(screen)).toEqual(["Follow System"]);
    await screen.close();
  },
);

test.each<[string, () => void, string, RegExp, string]>([
  [
    "is missing",
    () => (process.env["PERSYK_CAPTURE_HELPER"] = path.join(folder, "nothing")),
    "The Capture Helper Is Missing",
    /not installed\. Reinstall/,
    "Try Again",
  ],
  [
    "fails",
    () => withHelper({ kind: "says", text: "", exitCode: 70 }),
    "The Input Devices Are Not Known",
    /ended with 70\. Try again/,
    "Try Again",
  ],
  [
    "is not allowed the microphone",
    () => withHelper({ kind: "says", text: "", exitCode: 77 }),
    "No Microphone Access",
    /Allow Raycast in System Settings/,
    "Open Microphone Settings",
  ],
])("a helper that %s is said with cause and remedy", async (_what, prepare, title, text, action) => {
  prepare();
  const screen = await open();
  expect(screen.emptyView()?.title).toBe(title);
  expect(screen.emptyView()?.description).toMatch(text);
  expect(screen.actions()).toEqual([action, "Follow System", "Refresh", "Open Sound Settings"]);
  await screen.close();
});

test("after a failure the list can be asked for again, and the system be followed", async () => {
  store({ uid: usb.uid, name: usb.name });
  withHelper({ kind: "says", text: "", exitCode: 70 });
  const screen = await open();
  await screen.perform("Follow System");
  await screen.until("it is stored", () => !world().localStorage.has("microphone"));
  withHelper({ kind: "lists", devices: [usb] });
  await screen.perform("Try Again");
  await screen.until("it is listed", () => screen.items().length === 2);
  expect(chosen(screen)).toEqual(["Follow System"]);
  await screen.close();
});

test("a helper that hangs is given up, with cause and remedy", async () => {
  const helper = withHelper({ kind: "hangs" });
  const screen = await open((signal) => listInputDevices(helper, { signal, deadlineMs: 300 }));
  expect(screen.emptyView()?.title).toBe("The Input Devices Are Not Known");
  expect(screen.emptyView()?.description).toMatch(/did not say .* Try again/);
  await screen.close();
});

test("closing the view ends a helper that hangs, without a word", async () => {
  const helper = withHelper({ kind: "hangs" });
  const screen = await Screen.mount(<Command />);
  await screen.until("it runs", () => existsSync(callsOf(helper)));
  expect(screen.isLoading).toBe(true);
  await screen.close();
  await until("it is gone", () => processesWith(helper).every(({ zombie }) => zombie));
  expect(world().toasts).toEqual([]);
});

test("a choice that cannot be stored is said and not shown as stored", async () => {
  const screen = await open();
  world().localStorage.set = () => {
    throw Object.assign(new Error("The storage is read-only"), { code: "io-error", remedy: "Restart Raycast" });
  };
  await screen.perform("Use This Microphone", screen.item(usb.name).instance);
  await screen.until("it is said", () => world().toasts.length === 1);
  expect(lastToast()).toMatchObject({ style: "FAILURE", message: "The storage is read-only. Restart Raycast." });
  expect(chosen(screen)).toEqual(["Follow System"]);
  await screen.close();
});

test("it is reached from Record before, during and after a recording, and going back is where one was", async () => {
  const parsed = parseSettings({ sessionsDirectory: folder });
  if (parsed.kind === "invalid") throw new Error(parsed.problem.cause);
  const stage = new Stage();
  const screen = await Screen.mount(
    <LiveView settings={parsed.settings} start={{ kind: "microphone" }} source={stage} />,
  );
  await screen.until("it welcomes", () => screen.actions().includes("Choose Microphone…"));
  await screen.perform("Choose Microphone…");
  await screen.settled();
  expect([screen.depth, screen.kind]).toEqual([2, "list"]);
  await screen.perform("Use This Microphone", screen.item(usb.name).instance);
  await screen.back();
  expect(screen.markdown()).toContain("Ready to Record");
  await screen.perform("Start Recording");
  await screen.until("it records", () => screen.actions().includes("Stop Recording"));
  expect(screen.actions()).toContain("Choose Microphone…");
  const result = { text: "Words", entryIds: [], outcome: "complete" as const, announced: false };
  await stage.show({ kind: "ended", state: { ...base, phase: "finished", result } });
  expect(screen.actions()).toContain("Choose Microphone…");
  await screen.close();
});

test("a WAV file has no microphone to choose", async () => {
  const parsed = parseSettings({ sessionsDirectory: folder });
  if (parsed.kind === "invalid") throw new Error(parsed.problem.cause);
  const start = { kind: "file", path: path.join(folder, "some.wav") } as const;
  const screen = await Screen.mount(<LiveView settings={parsed.settings} start={start} source={new Stage()} />);
  await screen.until("it records", () => screen.actions().includes("Stop Recording"));
  expect(screen.actions()).not.toContain("Choose Microphone…");
  await screen.close();
});

test("the menu bar opens it as a command, and starts nothing itself", async () => {
  const helper = withHelper({ kind: "lists", devices: [usb] });
  const stage = new Stage();
  await stage.show({ kind: "live", state: base });
  const screen = await Screen.mount(<RecordingStatus source={stage} />);
  await screen.until("it shows", () => screen.actions().includes("Choose Microphone…"));
  await screen.perform("Choose Microphone…");
  expect(world().launches).toMatchObject([{ name: "choose-microphone", type: "userInitiated" }]);
  expect(existsSync(callsOf(helper))).toBe(false);
  await screen.close();
});

/** A program in the place of the session host that only notes what it was asked for. */
const notingHost = `
const fs = require("node:fs"), path = require("node:path");
const [, , , support, , instanceId] = process.argv;
const folder = path.join(support, "host");
fs.copyFileSync(path.join(folder, "start-" + instanceId + ".json"), path.join(support, "asked.json"));
const state = { ...${JSON.stringify(base)}, instanceId, phase: "finished" };
fs.writeFileSync(path.join(folder, "state.new"), JSON.stringify(state));
fs.renameSync(path.join(folder, "state.new"), path.join(folder, "state.json"));
`;

async function sourceOfNextRecording(): Promise<unknown> {
  const { supportPath } = world().environment;
  process.env["PERSYK_HOST"] = path.join(folder, "host.cjs");
  process.env["PERSYK_NODE"] = process.execPath;
  writeFileSync(path.join(folder, "host.cjs"), notingHost);
  world().preferences = { sessionsDirectory: folder };
  enterCommand("quick-record");
  await quickRecord();
  expect(world().huds).toHaveLength(1);
  return JSON.parse(readFileSync(path.join(supportPath, "asked.json"), "utf8")).source;
}

test("the next recording is started with the chosen device's UID", async () => {
  const screen = await open();
  await screen.perform("Use This Microphone", screen.item(usb.name).instance);
  await screen.close();
  expect(await sourceOfNextRecording()).toEqual({ kind: "microphone", deviceUid: usb.uid });
});

test("without a choice it follows the system, and so it does where the choice cannot be understood", async () => {
  store("{");
  expect(await sourceOfNextRecording()).toEqual({ kind: "microphone", deviceUid: null });
});

test("a device that is not connected is asked for all the same: the helper falls back", async () => {
  store({ uid: "gone", name: "Gone" });
  expect(await sourceOfNextRecording()).toEqual({ kind: "microphone", deviceUid: "gone" });
});

test("the store's archive delivers the helper without its execute bit, and it is asked all the same", async () => {
  const helper = withHelper({ kind: "lists", devices: [usb] });
  chmodSync(helper, 0o644);
  const screen = await open();
  expect(screen.items()).toHaveLength(2);
  await screen.close();
});
