import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../app.ts";
import { mountFolder } from "../testing/mount.ts";
import { createTestService } from "../testing/service.ts";

/** Only root checks who could replace the folder of a named account. */
const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)(
  "a service starts while the mount of its sites hangs, and they keep their accounts",
  async (context) => {
    const { disk, path, hang, goOn } = await mountFolder(context);
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
    for (const number of numbers) await mkdir(join(disk, `${number}`));
    const sites = numbers.map(
      (id) => `{ id: ${id}, server: 1, name: shop, root: "${path}/${id}", user: nobody }`,
    );
    const service = await createTestService({
      inventory: () =>
        `servers: [{ id: 1, name: here, connection: local }]\nsites: [${sites.join()}]`,
    });
    onTestFinished(() => service.close());
    onTestFinished(goOn);
    const accounts = () => service.query("select id, account from sites order by id");
    const before = await accounts();
    expect(before).toHaveLength(numbers.length);
    expect(JSON.stringify(before)).toContain("nobody");
    await service.app.close("stop");
    await hang();
    service.app = await createApp(service.options);
    expect(service.app.inventoryProblem()).toBe(null);
    expect(await accounts()).toEqual(before);
  },
);
