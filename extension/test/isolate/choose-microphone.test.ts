import { existsSync } from "node:fs";
import { callsOf, usb, writeDevicesHelper, type HelperBehaviour } from "../capture/devices-helper";
import { children, processesWith, type Isolate } from "./isolate";
import { RecordingBench, until } from "./recording-fixture";

let bench: RecordingBench;
beforeEach(async () => {
  bench = new RecordingBench();
  await bench.start();
});
afterEach(() => bench.stop());

const choose = { do: "view", command: "choose-microphone" } as const;

function withHelper(behaviour: HelperBehaviour): { view: Isolate; helper: string } {
  const helper = writeDevicesHelper(bench.folder, behaviour);
  return { helper, view: bench.isolate({ env: { PERSYK_CAPTURE_HELPER: helper } }) };
}

test("the built command lists the devices, and stores and says a choice", async () => {
  const { view } = withHelper({ kind: "lists", devices: [usb] });
  await view.call(choose);
  await view.call({ do: "until", text: usb.name });
  expect(await view.call({ do: "titles" })).toEqual(["Follow System", usb.name]);
  await view.call({ do: "perform", action: "Use This Microphone" });
  expect((await view.world()).toasts).toEqual([`${usb.name} Is Chosen The next recording uses it.`]);
});

test("a window that closes while the helper hangs leaves no zombie, and the helper does not stay", async () => {
  const { view, helper } = withHelper({ kind: "hangs" });
  await view.call(choose);
  await until("the helper runs", () => existsSync(callsOf(helper)));
  // Nothing of the command runs after this: neither its deadline nor what would reap a child.
  await view.closeWindow();
  expect(children().filter(({ zombie }) => zombie)).toEqual([]);
  await until("the helper is gone", () => processesWith(helper).every(({ zombie }) => zombie));
  expect(children().filter(({ zombie }) => zombie)).toEqual([]);
});
