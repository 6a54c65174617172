import { chmod, chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Database, Site } from "../../contract/servers.ts";
import type { Page } from "../../contract/paging.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { patientArtisan } from "../testing/artisan.ts";
import { createTestService, oneSite, type TestService } from "../testing/service.ts";
import { ownUser } from "../testing/own-user.ts";
import { workerBody } from "../testing/worker-body.ts";
import { soon } from "../testing/soon.ts";

const isRoot = userInfo().uid === 0;

let service: TestService;
beforeEach(async () => {
  service = await createTestService();
});
afterEach(() => service.close());

const site = async (id: number) => (await service.json<Site>("GET", `/api/site/${id}`)).body;

test("a site shows the account that everything of it runs as", async () => {
  expect(await site(1)).toMatchObject({ account: ownUser, account_problem: null });
});

test("an unknown user is reported with its line, and the last valid state is kept", async () => {
  await writeFile(
    service.inventoryFile,
    oneSite(service.folder).replace(`user: ${ownUser}`, "user: no-such-user"),
  );
  await soon(() =>
    expect(service.app.inventoryProblem()).toContain(
      "line 5: This machine has no user “no-such-user”.",
    ),
  );
  expect(await site(1)).toMatchObject({ account: ownUser });
});

describe.runIf(isRoot)("as root", () => {
  /** A folder of root, one of daemon, and a database in each. */
  async function withSites() {
    const { folder } = service;
    await chmod(folder, 0o711);
    await mkdir(`${folder}/daemons`);
    await writeFile(`${folder}/daemons/artisan`, patientArtisan);
    await chown(`${folder}/daemons`, 1, 1);
    await writeFile(
      service.inventoryFile,
      `${oneSite(folder)}  - { id: 2, server: 1, name: roots, root: ${folder}/shop, artisan: [sh, artisan] }
  - { id: 3, server: 1, name: daemons, root: ${folder}/daemons, artisan: [sh, artisan], databases: [1] }
databases:
  - { id: 1, server: 1, name: daemons, engine: sqlite, path: ${folder}/daemons/db.sqlite }
  - { id: 2, server: 1, name: roots, engine: sqlite, path: ${folder}/shop/db.sqlite }
`,
    );
    await soon(async () => expect(await site(3)).toHaveProperty("id", 3));
  }

  test("a folder of root has no account: nothing runs for the site, and it says what to do", async () => {
    await withSites();
    const roots = await site(2);
    expect(roots.account).toBeNull();
    expect(roots.account_problem).toContain("it belongs to root. Set “user”");
    const refused = await service.json<{ message: string }>(
      "POST",
      "/api/site/2/worker",
      workerBody,
    );
    expect(refused.status).toBe(409);
    expect(refused.body.message).toBe(roots.account_problem);
    const { body } = await service.json<Page<Database>>("GET", "/api/server/1/databases");
    expect(body.data).toMatchObject([
      { id: 1, account: "daemon", account_problem: null },
      { id: 2, account: null },
    ]);
  });

  test("a worker runs as its site's account", async () => {
    await withSites();
    expect(await site(3)).toMatchObject({ account: "daemon", account_problem: null });
    const { body } = await service.json<Worker>("POST", "/api/site/3/worker", workerBody);
    await soon(async () => {
      const { body: now } = await service.json<Worker>("GET", `/api/worker/${body.id}`);
      expect(now.status).toBe("installed");
      const pid = now.process_list?.[0]?.pid;
      expect(await readFile(`/proc/${pid}/status`, "utf8")).toContain("Uid:\t1\t1\t1\t1");
    });
  });
});
