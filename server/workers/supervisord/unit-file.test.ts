// Tests what docs/quarterdeck.service allows the service to write outside of its data folder.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const unit = readFileSync(join(import.meta.dirname, "../../../docs/quarterdeck.service"), "utf8");

// “full” makes /etc read-only, see https://www.freedesktop.org/software/systemd/man/systemd.exec.html#ProtectSystem=.
test("the usual folders of supervisord's program files are writable under the unit", () => {
  expect(unit).toMatch(/^ProtectSystem=full$/m);
  const writable = /^ReadWritePaths=(.*)$/m.exec(unit)?.[1]?.split(" ") ?? [];
  // Those of Debian's package and of Enterprise Linux; a missing one does not prevent the start.
  expect(writable).toEqual(["-/etc/supervisor/conf.d", "-/etc/supervisord.d"]);
});
