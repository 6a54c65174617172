import { expect, test } from "vitest";
import { begin } from "./bulk-task.ts";

test("runs an action once that is requested again before its dialog has loaded", async () => {
  const ran: number[] = [];
  const action = {
    label: "Run now",
    icon: "play",
    title: (what: string) => `Run ${what}`,
    done: "running",
    refusal: () => undefined,
    run: async ({ id }: { id: number }) => void ran.push(id),
  } as const;
  const rows = {
    items: [{ id: 1 }],
    onDone: () => {},
    nameOf: () => "shop",
    one: "backup",
    many: "backups",
  };
  await Promise.all([begin(action, rows), begin(action, rows)]);
  expect(ran).toEqual([1]);
});
