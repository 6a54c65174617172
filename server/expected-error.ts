// Errors that end a start or a command and that the operator can fix: printed as one sentence instead of a stack.
import { ConfigError } from "./config.ts";
import { DataFolderInUse, DataFolderUnusable } from "./data-lock.ts";
import { InventoryError } from "./inventory/file.ts";
import { InventoryMissing } from "./inventory/inventory.ts";
import { SelfBackupError } from "./self-backup/self-backup-error.ts";
import { describeDatabaseError, lostWords } from "./store/database-error.ts";
import { EmbeddedPostgresError } from "./store/embedded/embedded-postgres.ts";
import { DatabaseMoved } from "./store/move-mark.ts";
import { MoveError } from "./store/move/move-error.ts";
import { DatabaseUnusable } from "./store/own-server.ts";
import { NewerSchema } from "./store/schema-version.ts";
import { StorageError } from "./storage/storage.ts";
import { toError } from "./to-error.ts";

const expected = [
  ConfigError,
  DataFolderInUse,
  DataFolderUnusable,
  DatabaseMoved,
  DatabaseUnusable,
  EmbeddedPostgresError,
  InventoryError,
  InventoryMissing,
  MoveError,
  NewerSchema,
  SelfBackupError,
  StorageError,
];

/** @returns null for an unexpected error */
export function expectedErrorMessage(error: unknown): string | null {
  if (error instanceof Error && expected.some((kind) => error instanceof kind))
    return error.message;
  const { code, port, address }: NodeJS.ErrnoException & { port?: number; address?: string } =
    toError(error);
  if (code === "EADDRINUSE") return `Port ${port} is in use. Choose another port with PORT.`;
  if (code === "EADDRNOTAVAIL" && address !== undefined)
    return `This machine has no address ${address}. Correct HOST.`;
  if (code === "EACCES" && port !== undefined)
    return `This account may not open port ${port}. Choose a port above 1023 with PORT.`;
  const words = describeDatabaseError(error);
  // The process has ended, so it will not reconnect.
  return words === lostWords ? lostForGood : words;
}

const lostForGood =
  "The database is not responding. Check the database's log and whether the machine is overloaded, then try again.";
