import { expect, test } from "vitest";
import type { SiteRow } from "../inventory/store.ts";
import { compareProgram, type RunningProgram } from "./compare-program.ts";

const site: SiteRow = {
  id: 1,
  serverId: 1,
  name: "shop",
  root: "/srv/shop/current",
  artisan: ["php", "artisan"],
  backupHooks: null,
  workerCount: 0,
  createdAt: new Date(0),
  databases: [],
  account: {
    account: { uid: 33, gid: 33, name: "shop", home: "/srv/shop" },
    problem: null,
    ownerOf: null,
  },
};

const usual = {
  command: "/usr/bin/php /srv/shop/releases/7/artisan queue:work redis --queue=default -q",
  directory: "/srv/shop/current",
  autorestart: "true",
  stopwaitsecs: "90",
};

function compare(
  options: Record<string, string>,
  running: Partial<RunningProgram> = {},
  itsSite: SiteRow | null = site,
) {
  const all = { ...usual, ...options };
  return compareProgram(
    {
      program: "shop-worker",
      file: "/etc/supervisor/conf.d/shop.conf",
      options: new Map(Object.entries(all)),
      group: null,
      otherFiles: [],
      isAlone: true,
    },
    itsSite,
    { command: all.command, uid: 33, ...running },
  );
}

test("finds no difference between a program and a worker that does the same", () => {
  expect(compare({})).toEqual({ refusal: null, differences: [] });
  // Older versions of supervisord do not report the command that they run.
  expect(compare({}, { command: "" })).toEqual({ refusal: null, differences: [] });
  // Values that supervisord treats as equal.
  const otherwise = { autorestart: "Yes", autostart: "1", stdout_logfile: "off" };
  expect(compare(otherwise)).toEqual({ refusal: null, differences: [] });
});

test.each([
  [{ environment: `APP_ENV="a=b", KEY='very secret'` }, {}, /variables APP_ENV, KEY: set/],
  [{}, { uid: 0 }, /another account \(uid 0\).*runs as shop/],
  [{}, { uid: null }, /could not be found out/],
  [{ autorestart: "false" }, {}, /not started again after it has ended/],
  [{ autorestart: "Off" }, {}, /not started again after it has ended/],
  [{ autorestart: "unexpected" }, {}, /not started again after it has exited with code 0\./],
  [
    { autorestart: "Unexpected", exitcodes: "0, 2" },
    {},
    /not started again after it has exited with code 0 or 2\./,
  ],
  [{ autostart: "false" }, {}, /started by hand/],
  [{ autostart: "No" }, {}, /started by hand/],
  [{ umask: "002" }, {}, /umask 002/],
  [{ directory: "/tmp" }, {}, /runs in \/tmp/],
  [{ stdout_logfile: "/var/log/shop.log" }, {}, /prints goes to \/var\/log\/shop\.log/],
  [{ stopwaitsecs: "60" }, {}, /kills a job that still runs 60 s after the stop.*may take 60 s/],
  [{ command: `${usual.command} --timeout=0` }, {}, /a job may take any time/],
  [
    { command: `${usual.command} --once --backoff=5 --rest 0` },
    {},
    /The worker runs without --once, --backoff=5\.$/,
  ],
  [
    { command: "php8.2 -d a=b /srv/shop/current/artisan queue:work redis" },
    {},
    /runs php8\.2 -d a=b \/srv\/shop\/current\/artisan\. The worker runs php artisan/,
  ],
])("reports what a worker does differently: %o, %o", (options, running, expected) => {
  const { refusal, differences } = compare(options, running);
  expect(refusal).toBeNull();
  expect(differences).toEqual([expect.stringMatching(expected)]);
  expect(differences.join()).not.toContain("secret");
});

test.each([
  [{ command: `sh -c "cd /srv/shop && php artisan queue:work"` }, {}, /Create a worker by hand/],
  [{ command: "php /srv/shop/current/artisan queue:work a b" }, {}, /Create a worker by hand/],
  [{ command: `${usual.command} --name=%(process_num)d` }, {}, /its command has a %\(/i],
  [{ numprocs: "65" }, {}, /No worker can have numprocs=65\. Change it in \/etc/],
  [{ command: `${usual.command} --queue='a b'` }, {}, /No worker can have --queue=a b/],
  [{}, { command: null }, /supervisord has not read it/],
  [{}, { command: "php other" }, /runs another command for it: php other/],
])("refuses a program that no worker can replace: %o, %o", (options, running, expected) => {
  expect(compare(options, running)).toEqual({
    refusal: expect.stringMatching(expected),
    differences: [],
  });
});

test.each([
  [{}, /^Add its site first\.$/],
  // Adding a site would not help these.
  [{ command: `sh -c "cd /srv/shop && php artisan queue:work"` }, /Create a worker by hand/],
  [{ command: "php %(ENV_APP)s/artisan queue:work" }, /its command has a %\(/i],
  [{ command: "php artisan queue:work", directory: "%(ENV_APP)s" }, /its directory has a %\(/i],
])("says what to do about a program without a site: %o", (options, expected) => {
  expect(compare(options, {}, null)).toEqual({
    refusal: expect.stringMatching(expected),
    differences: [],
  });
});
