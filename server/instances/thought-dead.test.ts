// Tests an instance that hung for longer than its lease, so that the others have reported its machine as unreachable.
import { expect, onTestFinished, test } from "vitest";
import type { Server } from "../../contract/servers.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import type { Page } from "../../contract/paging.ts";
import { oneOfMany } from "../testing/instance.ts";
import { createTestService } from "../testing/service.ts";
import { soon } from "../testing/soon.ts";
import { workerBody } from "../testing/worker-body.ts";

test("its own machine and the workers there are reachable once it continues", async () => {
  const service = await createTestService({ instance: oneOfMany });
  onTestFinished(() => service.close());
  const { body } = await service.json<Worker>("POST", "/api/site/1/worker", workerBody);
  const worker = async () => (await service.json<Worker>("GET", `/api/worker/${body.id}`)).body;
  const up = await soon(async () => {
    const one = await worker();
    expect(one.status).toBe("installed");
    return one;
  });
  // In one statement, so that the service never sees a part of it.
  await service.query(`
    with dead as (delete from instances),
    contact as (
      insert into server_contacts (server_id, reachable, since, reason, is_reported) values (1, false, now(), 'Nobody has it.', true)
    )
    update workers set unreachable_since = now(), unreachable_reason = 'Nobody has it.', last_status = status`);
  await soon(async () => expect(await worker()).toMatchObject({ status: "installed" }));
  expect((await worker()).process_list).toEqual(up.process_list);
  const { body: servers } = await service.json<Page<Server>>("GET", "/api/servers");
  expect(servers.data).toMatchObject([{ id: 1, reachable: true, status_reason: null }]);
  const types = await service.query<{ type: string }>(
    "select type from events where type like 'server.%'",
  );
  expect(types).toEqual([{ type: "server.recovered" }]);
});
