// Prerequisites of the tests on the machine: how to detect each, and the packages that install it.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findBrowser } from "./browser.ts";

type Prerequisite = {
  /** What cannot be tested without it. */
  tests: string;
  packages: readonly string[];
  isThere(): boolean;
};

const hasCommand = (name: string) =>
  spawnSync(name, ["--version"], { stdio: "ignore" }).error === undefined;

const prerequisites: readonly Prerequisite[] = [
  {
    tests: "the dashboard in a browser",
    packages: ["chromium-headless-shell"],
    isThere: () => findBrowser() !== null,
  },
  {
    tests: "the comparison with supervisord",
    packages: ["supervisor"],
    isThere: () => hasCommand("supervisord"),
  },
  {
    tests: "a real Laravel worker",
    packages: ["php-cli", "php-sqlite3", "php-laravel-framework"],
    isThere: () =>
      hasCommand("php") && existsSync("/usr/share/php/Illuminate/Queue/Console/WorkCommand.php"),
  },
  {
    tests: "backups of PostgreSQL",
    packages: ["postgresql", "postgresql-client"],
    isThere: () => hasCommand("pg_dump") && existsSync("/usr/lib/postgresql"),
  },
  {
    tests: "a database behind PgBouncer",
    packages: ["pgbouncer"],
    isThere: () => hasCommand("pgbouncer"),
  },
  {
    tests: "servers that are reached over SSH",
    packages: ["openssh-server", "openssh-client", "sudo", "sqlite3"],
    isThere: () =>
      existsSync("/usr/sbin/sshd") && ["ssh", "sudo", "sqlite3"].every((name) => hasCommand(name)),
  },
  {
    tests: "servers with the tools of BusyBox, or with mksh as their shell",
    packages: ["busybox", "mksh"],
    isThere: () => ["busybox", "mksh"].every((name) => hasCommand(name)),
  },
  {
    tests: "storages that rclone reaches",
    packages: ["rclone"],
    isThere: () => hasCommand("rclone"),
  },
  {
    tests: "storages whose mount hangs",
    packages: ["bindfs"],
    isThere: () => hasCommand("bindfs"),
  },
  {
    tests: "restoring a backup by hand",
    packages: ["zstd", "age"],
    isThere: () => ["zstd", "age"].every((name) => hasCommand(name)),
  },
  {
    tests: "imports of files that xz or bzip2 has compressed",
    packages: ["xz-utils", "bzip2"],
    isThere: () => ["xz", "bzip2"].every((name) => hasCommand(name)),
  },
  {
    tests: "backups of MariaDB",
    packages: ["mariadb-server", "mariadb-client"],
    isThere: () => hasCommand("mariadb-dump") && existsSync("/usr/sbin/mariadbd"),
  },
];

/**
 * Installs what is missing, where that is possible.
 * @returns what is still missing
 */
export function installPrerequisites(): Prerequisite[] {
  const missing = prerequisites.filter((prerequisite) => !prerequisite.isThere());
  const canInstall = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  if (missing.length === 0 || !canInstall) return missing;
  const packages = missing.flatMap((prerequisite) => prerequisite.packages);
  console.log(`Installing ${packages.join(", ")}…`);
  const options = {
    stdio: ["ignore", "ignore", "inherit"] as const,
    // Runlevel 1 prevents the packages from starting their database servers.
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" },
  };
  execFileSync("apt-get", ["update", "-qq"], { ...options, stdio: [...options.stdio] });
  execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], {
    ...options,
    stdio: [...options.stdio],
  });
  return prerequisites.filter((prerequisite) => !prerequisite.isThere());
}
