// Tests a storage that fails while a source of each kind is read: the run fails at once, and the server's next task starts.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Gate } from "../storage/testing/s3.ts";
import { casesOf, isLongForm } from "../testing/long-form.ts";
import { soon } from "./testing/backup-service.ts";
import {
  createEverySource,
  gated,
  refusing,
  sourceKinds,
  type EverySource,
} from "./testing/every-source.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";

const remote = createRemoteServer();
/** All faults block the source alike, so one of the two kinds is tested with the last fault only. */
const thorough = "folder";
const kinds = casesOf(sourceKinds, [thorough, "MariaDB"]);
let every: EverySource;
beforeAll(async () => {
  every = await createEverySource(isLongForm ? remote : null, (kind) =>
    isLongForm || kind === thorough ? 20 : kind === "MariaDB" ? 12 : 0,
  );
}, 240_000);
afterAll(() => every.close());

const faults: [string, number, Parameters<Gate["rule"]>[0], RegExp][] = [
  ["refuses the connection", refusing, () => "pass", /refused the connection/],
  ["answers 500", gated, part(2, 500), /returned 500, 3 times/],
  ["resets the last part", gated, part(3, "reset"), /closed the connection/],
  ["resets the first part", gated, part(1, "reset"), /closed the connection/],
];

function part(number: number, verdict: "reset" | 500) {
  return (asked: string) => (asked.includes(`partNumber=${number}`) ? verdict : "pass");
}

test.each(kinds)(
  "a failing storage does not block the run of a source of kind %s, nor those after it",
  { timeout: 240_000 },
  async (kind, source) => {
    const { service, gate, postgres, mariadb } = every;
    const isLast = kind === thorough;
    const tried = isLongForm ? faults : isLast ? faults.slice(0, -1) : faults.slice(-1);
    for (const [name, storage_provider_id, rule, words] of tried) {
      const { id } = await service.configuration({ ...source, storage_provider_id });
      // A configuration whose storage refuses everything can run, too.
      await soon(async () => expect((await service.show(id)).status).not.toBe("installing"));
      gate.rule(rule);
      const failed = await service.run(id);
      gate.rule(() => "pass");
      expect(failed.status_reason, name).toMatch(words);
      expect(failed.status).toBe("failed");
      await soon(async () => expect(await every.objects()).toEqual([]));
      await service.call("DELETE", `/api/backup-configuration/${id}`);
    }
    const sessions = [
      ...((await postgres?.query(
        "shop",
        "select query from pg_stat_activity where application_name like 'quarterdeck%'",
      )) ?? []),
      await mariadb?.query(
        null,
        "select info from information_schema.processlist where user = 'tester'",
      ),
    ];
    expect(sessions.filter((session) => session !== "")).toEqual([]);
    // The tests of the other kind follow it, too.
    if (!isLongForm && !isLast) return;
    const { id } = await service.installed({ ...source, storage_provider_id: gated });
    const next = await service.run(id);
    expect(next.status, next.output).toBe("finished");
    await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
    await soon(async () => expect(await every.objects()).toEqual([]));
  },
);
