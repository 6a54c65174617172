// Compares backups of a server over SSH, here a loopback sshd, with a bare `ssh … | zstd > file`, which verifies nothing,
// and with a shell script that verifies as much: it counts and digests rows, reads the stored file back bypassing the page
// cache, hashes and decompresses it.
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { startPostgresServer } from "../server/backups/testing/postgres-server.ts";
import { sshEntry } from "../server/ssh/testing/entry.ts";
import { startSshd } from "../server/ssh/testing/sshd.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { startService } from "../server/testing/service-process.ts";
import { megabyte, writeHalfRandom, writeOrders } from "./backup-data.ts";
import { shellMs } from "./shell-ms.ts";
import { cpuSecondsOf } from "./cpu-seconds.ts";
import { install, takeBackup } from "./drive-backups.ts";
import { watchMemory } from "./memory.ts";
import { median, note, report, seconds } from "./report.ts";

const rounds = 3;
const files = 100;

/** @param size of the database and of the folder, in MB */
export async function run(size: number): Promise<void> {
  const cleanUps: (() => Promise<unknown>)[] = [];
  const later = (work: () => Promise<unknown>) => void cleanUps.push(work);
  try {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
    later(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o711);
    const postgres = await startPostgresServer();
    later(() => postgres.stop());
    const sshd = await startSshd({ cleanUp: later });
    await postgres.createDatabase("shop");
    await writeOrders(postgres, "shop", size);
    await mkdir(join(folder, "copies"));
    await mkdir(join(folder, "site"));
    for (let count = 0; count < files; count++)
      await writeHalfRandom(join(folder, "site", String(count)), (size * megabyte) / files);
    const user = userInfo().username;
    await writeFile(
      join(folder, "inventory.yaml"),
      `
servers: [{ id: 1, name: far, connection: ${sshEntry(sshd, undefined, user)} }]
storage_providers: [{ id: 1, name: disk, type: local, path: ${folder}/copies }]
sites: [{ id: 1, server: 1, name: site, root: ${folder}/site, user: ${ownUser} }]
databases: [{ id: 1, server: 1, name: shop, engine: postgres, url: "env:SHOP_URL" }]
`,
    );
    const service = await startService(folder, {
      QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
      SHOP_URL: postgres.url("shop"),
    });
    later(() => service.end("SIGINT"));
    const bareFile = join(folder, "bare.zst");
    const ssh = `ssh -q -p ${sshd.port} -i ${sshd.keyFile} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null ${user}@127.0.0.1`;
    const url = new URL(postgres.url("shop"));
    const login = `PGPASSWORD='${decodeURIComponent(url.password)}'`;
    const at = `-h 127.0.0.1 -p ${url.port} -U ${url.username}`;
    const counting =
      'select count(*), sum(hashtextextended(orders::text collate \\"C\\", 0)) from orders';
    const kinds = [
      {
        what: "PostgreSQL",
        type: "database",
        command: `${login} pg_dump ${at} -Fc -Z0 shop`,
        beside: `${ssh} "${login} psql ${at} -d shop -Atc '${counting}'" > /dev/null`,
      },
      {
        what: "site folder",
        type: "site",
        command: `tar -cf - -C ${folder}/site .`,
        beside: "true",
      },
    ] as const;
    for (const { what, type, command, beside } of kinds) {
      const { id } = await install(service, type, 1);
      const own: number[] = [];
      const bare: number[] = [];
      const careful: number[] = [];
      const peaks: number[] = [];
      const cpuSeconds: number[] = [];
      const dump = `${ssh} "${command} | zstd -q -3"`;
      const hashed = "tee >(sha256sum > /dev/null)";
      for (let round = 0; round < rounds; round++) {
        bare.push(await shellMs(`${dump} > ${bareFile} && sync ${bareFile}`, {}));
        careful.push(
          await shellMs(
            `${beside} & ${dump} | ${hashed} > ${bareFile} && sync ${bareFile} && wait && dd if=${bareFile} iflag=direct bs=1M status=none | ${hashed} | zstd -q -t`,
            {},
          ),
        );
        const cpuBefore = await cpuSecondsOf(service.pid);
        const watch = await watchMemory(service.pid);
        own.push((await takeBackup(service, id)).tookMs);
        peaks.push(await watch());
        cpuSeconds.push((await cpuSecondsOf(service.pid)).own - cpuBefore.own);
      }
      const shown = `${what} over SSH, ${size} MB`;
      report(`${shown}: backup against bare ssh`, median(own) / median(bare), "×", {
        atMost: 1.15,
      });
      note(
        `${seconds(own)} against ${seconds(bare)} (medians of ${rounds}); by hand with the same promises ${seconds(careful)}`,
      );
      note(`the service's own processor time: ${median(cpuSeconds).toFixed(2)} s`);
      report(`${shown}: memory above rest while it runs`, Math.max(...peaks), "MB", { atMost: 96 });
      await service.call("DELETE", `/api/backup-configuration/${id}?files=remove`);
    }
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}
