import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { CaptureFailure } from "../../src/capture/client";
import { listInputDevices } from "../../src/capture/devices";
import { children, processesWith } from "../isolate/isolate";
import { until } from "../isolate/recording-fixture";
import { builtIn, callsOf, usb, writeDevicesHelper } from "./devices-helper";

const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-devices-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const running = () => processesWith(folder).filter(({ zombie }) => !zombie);
const zombies = () => children().filter(({ zombie }) => zombie);
afterEach(async () => {
  await until("no helper is left", () => running().length === 0);
  expect(zombies()).toEqual([]);
});

const says = (text: string, exitCode = 0) => writeDevicesHelper(folder, { kind: "says", text, exitCode });
const hangs = () => writeDevicesHelper(folder, { kind: "hangs" });

async function failureOf(helper: string, deadlineMs = 30_000): Promise<CaptureFailure> {
  const outcome = await listInputDevices(helper, { deadlineMs }).catch((error: unknown) => error);
  if (!(outcome instanceof CaptureFailure)) throw new Error(`It came to ${String(outcome)}.`);
  expect(outcome.message).toMatch(/\.$/);
  expect(outcome.remedy).toMatch(/\.$/);
  return outcome;
}

test("the devices are those that the helper names, in its order", async () => {
  const helper = writeDevicesHelper(folder, { kind: "lists", devices: [usb, builtIn] });
  expect(await listInputDevices(helper)).toEqual([usb, builtIn]);
  expect(readFileSync(callsOf(helper), "utf8")).toBe("devices\n");
});

test("fields of a later version change nothing, and a device says of itself what it can", async () => {
  const devices = '{"uid":"a","name":"A","colour":"red"}';
  const helper = says(`{"v":1,"type":"devices","hint":1,"devices":[${devices}]}\n`);
  expect(await listInputDevices(helper)).toEqual([{ uid: "a", name: "A", isDefault: false }]);
});

test("no device is an answer too", async () => {
  expect(await listInputDevices(writeDevicesHelper(folder, { kind: "lists", devices: [] }))).toEqual([]);
});

test.each([
  ["nothing", ""],
  ["what is not JSON", "usage: no"],
  ["another version", '{"v":2,"type":"devices","devices":[]}\n'],
  ["another answer", '{"v":1,"type":"version","helper":"0.1.0"}\n'],
  ["a device without a UID", '{"v":1,"type":"devices","devices":[{"name":"A"}]}\n'],
  ["half a line", '{"v":1,"type":"devices","devices":[{"uid":"a","na'],
])("a helper that says %s is not believed", async (_what, text) => {
  expect((await failureOf(says(text))).code).toBe("devices-failed");
});

test.each([
  [77, "permission-denied"],
  [69, "no-input-device"],
  [64, "devices-failed"],
  [70, "devices-failed"],
])("the exit code %i is the failure %s, whatever was said before", async (exitCode, code) => {
  expect((await failureOf(says('{"v":1,"type":"devices","devices":[]}\n', exitCode))).code).toBe(code);
});

test("a helper that is missing, and one that may not be run, are told apart", async () => {
  expect((await failureOf(path.join(folder, "nothing"))).code).toBe("helper-missing");
  const helper = says("");
  chmodSync(helper, 0o644);
  expect((await failureOf(helper)).code).toBe("helper-not-executable");
  rmSync(helper);
});

test("a helper that hangs is killed at the deadline, even if it refuses to end", async () => {
  expect((await failureOf(hangs(), 300)).code).toBe("devices-timeout");
});

test("a helper that does not stop talking is killed long before", async () => {
  const helper = writeDevicesHelper(folder, { kind: "floods" });
  expect((await failureOf(helper)).code).toBe("devices-failed");
});

test("who is not interested any more kills it, and starts none afterwards", async () => {
  const controller = new AbortController();
  const helper = hangs();
  rmSync(callsOf(helper), { force: true });
  const listing = listInputDevices(helper, { signal: controller.signal });
  await until("it runs", () => existsSync(callsOf(helper)));
  controller.abort();
  await expect(listing).rejects.toThrow(/abort/i);
  rmSync(callsOf(helper));
  await expect(listInputDevices(helper, { signal: controller.signal })).rejects.toThrow(/abort/i);
  expect(existsSync(callsOf(helper))).toBe(false);
});
