// What docs/quarterdeck.service lets the service write outside of its data folder.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const unit = readFileSync(join(import.meta.dirname, "../../../docs/quarterdeck.service"), "utf8");

// “full” makes /etc read-only, see https://www.freedesktop.org/software/systemd/man/systemd.exec.html#ProtectSystem=.
test("the usual folders of supervisord's program files can be written under the unit", () => {
  expect(unit).toMatch(/^ProtectSystem=full$/m);
  const writable = /^ReadWritePaths=(.*)$/m.exec(unit)?.[1]?.split(" ") ?? [];
  // Debian's package and that of Enterprise Linux; one that is not there keeps no service from starting.
  expect(writable).toEqual(["-/etc/supervisor/conf.d", "-/etc/supervisord.d"]);
});
