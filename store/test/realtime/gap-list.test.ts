import { GapList } from "../../src/realtime/gap-list";
import { MAX_NAMED_GAPS } from "../../src/realtime/limits";

const lost = (connectionId: string, itemId: string) => ({ connectionId, itemId, reason: "transport_closed" as const });

test("what a lost connection left open is taken back, named or only counted; the rest stays", () => {
  const list = new GapList();
  list.add({ reason: "device-lost", startMs: 0, endMs: 10 });
  for (let item = 0; item < MAX_NAMED_GAPS + 5; item += 1) list.addOrderGap(lost("c1", `i${item}`), undefined, true);
  list.addOrderGap(lost("c2", "other"), undefined, true);
  list.addOrderGap({ connectionId: "c1", itemId: "own", reason: "transcription_failed" }, undefined, false);
  expect(list.gaps).toHaveLength(MAX_NAMED_GAPS + 1);
  expect(list.gaps.at(-1)).toEqual({ reason: "further_gaps", count: 8 });
  list.dropLoss("c1");
  expect(list.gaps).toEqual([
    { reason: "device-lost", startMs: 0, endMs: 10 },
    { reason: "further_gaps", count: 2 },
  ]);
  list.add({ reason: "sleep", startMs: 20, endMs: 30 });
  expect(list.gaps.map(({ reason }) => reason)).toEqual(["device-lost", "sleep", "further_gaps"]);
  list.dropLoss("c2");
  expect(list.gaps.at(-1)).toEqual({ reason: "further_gaps", count: 1 });
});
