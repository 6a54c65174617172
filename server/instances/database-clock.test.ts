// Tests instances on machines whose clocks differ.
import { expect, onTestFinished, test } from "vitest";
import type { NewToken } from "../../contract/tokens.ts";
import { oneOfMany } from "../testing/instance.ts";
import { createTestService } from "../testing/service.ts";
import { createShiftedClock } from "../testing/shifted-clock.ts";
import { soon } from "../testing/soon.ts";

const hourMs = 3600 * 1000;
const aMinuteMs = 60_000;

test.each([2 * hourMs, -2 * hourMs])(
  "an instance uses the database's clock while its own is %i ms ahead, and when that is set",
  async (aheadMs) => {
    const clock = createShiftedClock();
    clock.ahead(aheadMs);
    const service = await createTestService({ instance: oneOfMany, goesByDatabase: true, clock });
    onTestFinished(() => service.close());
    const databaseMs = async () => {
      const [row] = await service.query<{ now: Date }>("select now() as now");
      return row?.now.getTime() ?? 0;
    };
    const differenceMs = async (moment: string | null) =>
      Math.abs(Date.parse(moment ?? "") - (await databaseMs()));
    const created = await service.json<NewToken>("POST", "/api/tokens", {
      name: "test",
      abilities: ["read"],
    });
    expect(await differenceMs(created.body.created_at)).toBeLessThan(aMinuteMs);
    const dateOf = async () => (await service.call("GET", "/healthz")).headers.get("Date");
    expect(await differenceMs(await dateOf())).toBeLessThan(aMinuteMs);
    const deployed = await service.call("POST", "/api/site/1/deployment", { status: "finished" });
    expect(deployed.status).toBe(202);
    await soon(async () => {
      const events = await service.query<{ since: number }>(
        "select abs(extract(epoch from now() - dispatched_at))::float8 as since from events where dispatched_at is not null",
      );
      expect(events).toHaveLength(1);
      expect(events[0]?.since).toBeLessThan(60);
    });
    clock.ahead(-aheadMs);
    await soon(async () => expect(await differenceMs(await dateOf())).toBeLessThan(aMinuteMs));
  },
);
