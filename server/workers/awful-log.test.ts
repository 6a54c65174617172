// A worker that dies is reported, whatever its log holds and whether it can be read at all.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Activity } from "../../contract/activity.ts";
import type { DeliverySummary } from "../../contract/webhooks/delivery.ts";
import type { Worker, WorkerLog } from "../../contract/workers/worker.ts";
import type { Page } from "../../contract/paging.ts";
import { isStorableText } from "../../contract/inputs.ts";
import { endsWhenAsked } from "../testing/artisan.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { workerBody } from "../testing/worker-body.ts";
import { sendSignal } from "../testing/signals.ts";
import { soon } from "../testing/soon.ts";

let service: TestService;
let webhookId: number;
beforeAll(async () => {
  service = await createTestService();
  // Nobody answers there: what is sent to it is listed all the same.
  const url = "http://127.0.0.1:1/hook";
  webhookId = (await service.json<{ id: number }>("POST", "/api/site/1/webhook", { url })).body.id;
});
afterAll(() => service.close());

const artisan = (script: string) => writeFile(join(service.folder, "shop/artisan"), script);
const create = async (): Promise<number> => {
  const change = { startsecs: 1, startretries: 0 };
  const answer = await service.json<Worker>("POST", "/api/site/1/worker", {
    ...workerBody,
    ...change,
  });
  return answer.body.id;
};
const becomes = (id: number, status: string) =>
  soon(async () => {
    const { body } = await service.json<Worker>("GET", `/api/worker/${id}`);
    expect(body.status, body.status_reason ?? "").toBe(status);
    return body;
  });

const countSent = async (): Promise<number> => {
  const path = `/api/site-webhook/${webhookId}/deliveries`;
  const { data } = (await service.json<Page<DeliverySummary>>("GET", path)).body;
  return data.filter(({ event }) => event === "worker.failed").length;
};

/** The failure stands on the timeline, and is on its way to the site's webhook. */
async function expectTold(id: number, sentBefore: number): Promise<void> {
  const { body } = await service.json<Activity>("GET", "/api/activity?kind=worker");
  const entry = body.data.find(({ action, object }) => action === "failed" && object.id === id);
  expect(entry?.outcome).toBe("bad");
  await soon(async () => expect(await countSent()).toBe(sentBefore + 1));
}

test.each([
  ["NUL", String.raw`printf 'the end: \000'`, /the end: \ufffd$/],
  ["invalid UTF-8", String.raw`printf 'the end: \377\300'`, /the end: \ufffd+$/],
  ["encoded surrogates", String.raw`printf 'the end: \355\240\200\n'`, /the end: \ufffd+$/],
  ["nothing but NUL", String.raw`head -c 100000 /dev/zero`, /\ufffd$/],
  [
    "characters of two halves, one of which is cut off",
    `i=0; while [ $i -lt 500 ]; do printf '\\360\\237\\246\\234'; i=$((i+1)); done; printf a`,
    /\ufffd(?:🦜)+a$/u,
  ],
])(
  "a worker whose log ends with %s becomes failed, with the end of its log",
  async (_kind, print, end) => {
    await artisan(`${print}\nexit 3\n`);
    const sent = await countSent();
    const id = await create();
    const { status_reason: reason } = await becomes(id, "failed");
    expect(reason).toMatch(
      /^Process 1: Exited with code 3 within 1 second\.\nLast lines of the log:\n/,
    );
    expect(reason).toMatch(end);
    expect(isStorableText(reason ?? "")).toBe(true);
    await expectTold(id, sent);
  },
);

test("a worker that dies when its log cannot be read becomes failed, without its log", async () => {
  await artisan(endsWhenAsked());
  const sent = await countSent();
  const id = await create();
  const { process_list: list = [] } = await becomes(id, "installed");
  const folder = join(service.folder, "workers", String(id));
  await rm(folder, { recursive: true });
  await writeFile(folder, "in the way");
  sendSignal(list[0]?.pid, "SIGKILL");
  const { status_reason: reason } = await becomes(id, "failed");
  expect(reason).toMatch(/^Process 1: Couldn't start: /);
  expect(reason).not.toContain("Last lines");
  await expectTold(id, sent);

  const { status, body } = await service.json<WorkerLog>("GET", `/api/worker/${id}/log`);
  expect(status).toBe(200);
  expect(body.text).toBe("");
  expect(body.problem).toBe("Couldn't read the log: a file is in place of its folder.");
});
