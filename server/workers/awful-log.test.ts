// A failed worker is reported, regardless of the content of its log, and even if the log cannot be read.
import { execFileSync } from "node:child_process";
import { rm, statfs, writeFile } from "node:fs/promises";
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
  // No receiver listens there, but the deliveries are listed all the same.
  const url = "http://127.0.0.1:1/hook";
  webhookId = (await service.json<{ id: number }>("POST", "/api/site/1/webhook", { url })).body.id;
});
afterAll(() => service.close());

const artisan = (script: string) => writeFile(join(service.folder, "shop/artisan"), script);
const create = async (change = { startsecs: 1 }): Promise<number> => {
  const answer = await service.json<Worker>("POST", "/api/site/1/worker", {
    ...workerBody,
    startretries: 0,
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

/** Expects the failure on the timeline, and a delivery to the site's webhook. */
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

test("a worker that dies with an unreadable log becomes failed, without its log", async () => {
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

test.skipIf(process.geteuid?.() !== 0)(
  "a worker that dies with its log on a full disk reports that",
  async () => {
    const workers = join(service.folder, "workers");
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", workers]);
    try {
      await artisan(`echo began\nuntil [ -e go ]; do sleep 0.05; done\nexit 3\n`);
      const id = await create({ startsecs: 300 });
      const path = `/api/worker/${id}/log`;
      await soon(async () =>
        expect((await service.json<WorkerLog>("GET", path)).body.text).toBe("began\n"),
      );
      const { bavail, bsize } = await statfs(workers);
      await writeFile(join(workers, "others"), Buffer.alloc(bavail * bsize));
      await writeFile(join(service.folder, "shop/go"), "");
      expect((await becomes(id, "failed")).status_reason).toBe(
        "Process 1: Exited with code 3 within 300 seconds.\n" +
          "The disk that the log is on is full, so new output is lost. Free space on it.\n" +
          "Last lines of the log:\nbegan",
      );
      await service.call("DELETE", `/api/worker/${id}`);
      await soon(async () =>
        expect((await service.call("GET", `/api/worker/${id}`)).status).toBe(404),
      );
    } finally {
      // The supervisor may still have the log open.
      await soon(() => void execFileSync("umount", [workers]));
    }
  },
);
