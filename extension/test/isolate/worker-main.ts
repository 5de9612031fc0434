import Module from "node:module";
import path from "node:path";
import { createElement, type ComponentType } from "react";
import { parentPort, workerData } from "node:worker_threads";
import * as double from "../raycast-api/index";
import { Screen } from "../raycast-api/screen";
import { enterCommand, resetWorld, world } from "../raycast-api/world";
import { type Answer, type Call, type IsolateOptions } from "./protocol";

/**
 * Runs commands the way Raycast does: in a worker thread with a heap of its own, which is terminated without a word when
 * the window closes. The bundle is the built one; `@raycast/api` is the double, bundled into this file.
 */
const options: IsolateOptions = workerData;
const load = Reflect.get(Module, "_load");
Reflect.set(Module, "_load", (request: string, ...rest: unknown[]) =>
  request === "@raycast/api" ? double : Reflect.apply(load, Module, [request, ...rest]),
);

resetWorld({
  manifestPath: options.manifestPath,
  supportPath: options.supportPath,
  assetsPath: path.join(options.bundles, "assets"),
});
world().preferences = { ...options.preferences };
world().answers = [...(options.answers ?? [])];
for (const [key, value] of Object.entries(options.localStorage ?? {})) world().localStorage.set(key, value);

// A running recording changes what is shown whenever it wants to, between two steps of a test too.
const complain = console.error;
console.error = (...args: unknown[]) => {
  if (!String(args[0]).includes("not wrapped in act")) complain(...args);
};

let screen: Screen | undefined;
function mounted(): Screen {
  if (screen === undefined) throw new Error("No command is mounted.");
  return screen;
}

async function perform(call: Call): Promise<unknown> {
  switch (call.do) {
    case "view": {
      enterCommand(call.command);
      const command = bundle(call.command) as ComponentType<Record<string, unknown>>;
      screen = await Screen.mount(
        createElement(command, { launchType: "userInitiated", arguments: call.arguments ?? {} }),
      );
      return undefined;
    }
    case "no-view":
      enterCommand(call.command);
      return (bundle(call.command) as (props: object) => Promise<void>)({ launchType: "userInitiated", arguments: {} });
    case "until":
      return mounted().until(`the screen says “${call.text}”`, () => mounted().text().includes(call.text));
    case "settled":
      return mounted().settled();
    case "search":
      return mounted().search(call.text);
    case "perform":
      return mounted().perform(call.action);
    case "fill":
      return mounted().fill(call.id, call.value);
    case "field-error":
      return mounted().fieldError(call.id);
    case "load-more":
      return mounted().loadMore();
    case "titles":
      return mounted()
        .items()
        .map((item) => item.title);
    case "text":
      return mounted().text();
    case "world": {
      const { huds, clipboard, toasts, launches, windowClosed, alerts } = world();
      return {
        huds,
        clipboard: clipboard.map(({ content }) => ("text" in content ? content.text : "")),
        toasts: toasts.map((toast) => `${toast.title} ${toast.message ?? ""}`.trim()),
        launches: launches.map(({ name }) => name),
        windowClosed,
        alerts: alerts.map(({ title }) => title),
      };
    }
  }
}

function bundle(name: string): unknown {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- a built file, known by its path only
  return require(path.join(options.bundles, `${name}.js`)).default;
}

parentPort?.on("message", ({ id, call }: { id: number; call: Call }) => {
  perform(call).then(
    (value) => parentPort?.postMessage({ id, value } satisfies Answer),
    (error: unknown) =>
      parentPort?.postMessage({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
