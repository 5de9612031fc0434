import { attempt, mend, showProblem } from "../../src/lib/mend";
import { problemOfReport } from "../../src/lib/problems";
import { enterCommand, resetWorld, world } from "../raycast-api/world";

beforeEach(() => {
  resetWorld();
  enterCommand("record");
});

test("a command that does not open is said, with Raycast's own reason and what mends it", async () => {
  world().disabledCommands.add("search-sessions");
  await mend({ kind: "search-sessions" });
  const [toast] = world().toasts;
  expect(toast?.title).toBe("The Command Did Not Open");
  expect(toast?.message).toContain("missing or disabled");
  expect(toast?.message).toContain("enable it in the preferences");
  expect(toast?.primaryAction?.title).toBe("Open Preferences");
});

test("a toast has the button only where it does something", async () => {
  const problem = problemOfReport({ code: "lock-busy", message: "Another program writes", remedy: "Try again" });
  await showProblem(problem);
  let tries = 0;
  await showProblem(problem, { retry: () => (tries += 1) });
  const [without, withRetry] = world().toasts;
  expect(without?.primaryAction).toBeUndefined();
  expect(withRetry?.primaryAction?.title).toBe("Try Again");
  if (withRetry !== undefined) withRetry.primaryAction?.onAction(withRetry);
  expect(tries).toBe(1);
});

test("what fails is shown with its remedy, and said not to be done", async () => {
  const failure = Object.assign(new Error("Nothing is being recorded"), { code: "not-recording", remedy: "Start it" });
  expect(
    await attempt(undefined, () => {
      throw failure;
    }),
  ).toBe(false);
  expect(world().toasts[0]?.message).toBe("Nothing is being recorded. Start it.");
  expect(await attempt(undefined, () => undefined)).toBe(true);
  expect(world().toasts).toHaveLength(1);
});

test("another input device than the chosen one is mended where microphones are chosen", async () => {
  await showProblem(problemOfReport({ code: "device-fallback", message: "It is not connected" }));
  const [toast] = world().toasts;
  expect(toast?.primaryAction?.title).toBe("Choose Microphone…");
  if (toast !== undefined) toast.primaryAction?.onAction(toast);
  expect(world().launches).toMatchObject([{ name: "choose-microphone", type: "userInitiated" }]);
});
