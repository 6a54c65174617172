import { expect, test } from "vitest";
import { settingsOf, siteRootOf, unfitOptions } from "./program-settings.ts";

const program = (options: Record<string, string>) => ({
  program: "shop-worker",
  file: "/etc/supervisor/conf.d/shop.conf",
  options: new Map(Object.entries(options)),
  group: null,
  otherFiles: [],
  isAlone: true,
});

test("reads Laravel's documented program as a worker with the same options", () => {
  const documented = program({
    process_name: "%(program_name)s_%(process_num)02d",
    command: "php /home/forge/app.com/artisan queue:work sqs --sleep=3 --tries=3 --max-time=3600",
    user: "forge",
    numprocs: "8",
    stopasgroup: "true",
    stopwaitsecs: "3600",
  });
  expect(siteRootOf(documented)).toBe("/home/forge/app.com");
  expect(settingsOf(documented)).toEqual({
    connection: "sqs",
    sleep: 3,
    tries: 3,
    timeout: 60,
    memory: 128,
    max_jobs: 0,
    max_time: 3600,
    processes: 8,
    startsecs: 1,
    startretries: 3,
    stopwaitsecs: 3600,
    stopasgroup: true,
    force: false,
  });
});

test("parses quotes, and omits what no worker can have", () => {
  const odd = program({
    command: `'/usr/bin/php8.2' "current/artisan" queue:work --queue='high,low' --memory=lots --force`,
    directory: "/srv/shop/releases/7",
    numprocs: "900",
    stopsignal: "quit",
  });
  expect(unfitOptions(odd)).toEqual(["--memory=lots", "numprocs=900"]);
  expect(settingsOf(odd)).toEqual({
    queue: "high,low",
    sleep: 3,
    tries: 1,
    timeout: 60,
    max_jobs: 0,
    max_time: 0,
    force: true,
    startsecs: 1,
    startretries: 3,
    stopwaitsecs: 10,
    stopsignal: "QUIT",
    stopasgroup: false,
  });
  expect(siteRootOf(program({ command: "php artisan queue:work" }))).toBeNull();
  expect(
    siteRootOf(program({ command: "php artisan queue:work", directory: "/srv/shop/releases/7" })),
  ).toBe("/srv/shop/current");
});

test("reads a value in the argument after its option, and takes no option for a connection", () => {
  const apart = program({ command: "php artisan queue:work --queue high -v sqs --tries 2" });
  expect(settingsOf(apart)).toMatchObject({ connection: "sqs", queue: "high", tries: 2 });
});

test.each(["true", "True", "yes", "ON", "1"])(
  "parses stopasgroup=%s as supervisord does",
  (text) => {
    const written = { command: "php artisan queue:work", stopasgroup: text };
    expect(settingsOf(program(written))).toMatchObject({ stopasgroup: true });
  },
);
