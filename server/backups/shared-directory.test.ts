// Tests two configurations with one directory, with random actions in random order.
import { array, assert, asyncProperty, constantFrom, integer, record } from "fast-check";
import { expect, test } from "vitest";
import { isLongForm } from "../testing/long-form.ts";
import { createBackupTestService, soon } from "./testing/backup-service.ts";

const step = record({
  who: constantFrom("first", "second"),
  what: constantFrom("run", "run", "run", "fail", "remove", "hold"),
  hold: integer({ min: 1, max: 3 }),
});

test(
  "configurations that share a directory never affect each other's files",
  { timeout: isLongForm ? 1_200_000 : 120_000 },
  async () => {
    const service = await createBackupTestService();
    try {
      await assert(
        asyncProperty(array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
          const directory = "shared";
          const settings = { hold: 2, directory };
          const ids = {
            first: (await service.installed({ ...settings, name: "one" })).id,
            second: (await service.installed({ ...settings, name: "two", backupable_type: "site" }))
              .id,
          };
          /** Expected finished backups, oldest first. */
          const kept: Record<"first" | "second", string[]> = { first: [], second: [] };
          const holds = { first: 2, second: 2 };

          for (const { who, what, hold } of steps) {
            const id = ids[who];
            if (what === "run") {
              const { path, status } = await service.run(id);
              expect(status).toBe("finished");
              kept[who] = [...kept[who], path].slice(-holds[who]);
            } else if (what === "remove") {
              const newest = (await service.show(id)).backups.find(
                (one) => one.status === "finished",
              );
              if (newest === undefined) continue;
              await service.call("DELETE", `/api/backup/${newest.id}`);
              kept[who] = kept[who].filter((path) => path !== newest.path);
            } else if (what === "hold") {
              const { name } = await service.show(id);
              await service.call("PUT", `/api/backup-configuration/${id}`, {
                name,
                frequency: "30 2 * * *",
                hold,
                storage_provider_id: 1,
              });
              await soon(async () => expect((await service.show(id)).status).toBe("installed"));
              holds[who] = hold;
            } else {
              // A missing provider: the run fails, and must not remove any backup.
              const { name } = await service.show(id);
              const change = { name, frequency: "30 2 * * *", hold: holds[who] };
              const put = (storage_provider_id: number) =>
                service.call("PUT", `/api/backup-configuration/${id}`, {
                  ...change,
                  storage_provider_id,
                });
              await put(2);
              await soon(async () => expect((await service.show(id)).status).toBe("failed"));
              expect((await service.run(id)).status).toBe("failed");
              await put(1);
              await soon(async () => expect((await service.show(id)).status).toBe("installed"));
            }
            await soon(async () =>
              expect(await service.files()).toEqual([...kept.first, ...kept.second].toSorted()),
            );
          }
          for (const id of Object.values(ids))
            await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
          await soon(async () => expect(await service.files()).toEqual([]));
        }),
        { numRuns: isLongForm ? 30 : 1 },
      );
    } finally {
      await service.close();
    }
  },
);
