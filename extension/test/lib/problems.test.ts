import { StoreError } from "@persyk/store";
import { problemOf, problemOfReport, remedyTitle, type Problem } from "../../src/lib/problems";

const codes = ["permission-denied", "silent-input", "invalid_api_key", "no-engine", "disk-full", "connection-lost"];

test.each(codes)("%s has a title of its own, a cause, and an action that mends it", (code) => {
  const problem = problemOfReport({ code, message: "What happened", remedy: "What to do" }, { location: "/s/1" });
  expect(problem.title).not.toBe("Something Went Wrong");
  expect(problem.cause).toBe("What happened.");
  expect(problem.remedy).toBe("What to do.");
  expect(remedyTitle(problem.action)).not.toBeNull();
});

test("microphone access is mended in its own pane", () => {
  expect(problemOfReport({ code: "permission-denied", message: "No." }).action).toEqual({
    kind: "open-privacy",
    pane: "microphone",
  });
});

test("a failure of the store keeps its words and its place", () => {
  const problem = problemOf(new StoreError("session-not-authoritative", { location: "/s/1" }));
  expect(problem).toMatchObject<Partial<Problem>>({
    title: "The Session Is Read-Only",
    action: { kind: "show-in-finder", path: "/s/1" },
  });
  expect(problem.cause).toContain("not valid");
});

test("an unknown code still says what it knows", () => {
  const problem = problemOfReport({ code: "brand-new", message: "Something new", remedy: "Wait" });
  expect(problem).toMatchObject({ title: "Something Went Wrong", cause: "Something new.", remedy: "Wait." });
});

test("anything thrown becomes a problem that can be tried again", () => {
  expect(problemOf(new Error("boom"))).toMatchObject({ code: "internal", cause: "boom.", action: { kind: "retry" } });
  expect(problemOf("boom")).toMatchObject({ code: "internal", action: { kind: "retry" } });
});
