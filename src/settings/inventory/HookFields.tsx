// The fields of the commands before and after a backup.
import type { ReactNode } from "react";
import { TextField } from "./fields.tsx";

/** @param place where they run and as which account, as the end of a sentence */
export const HookFields = ({ place, children }: { place: string; children?: ReactNode }) => (
  <>
    <TextField
      name="backup_hooks.before"
      label="Before a backup"
      placeholder="php artisan down"
      isCode
      help={`Runs ${place}. If it fails, so does the backup.`}
    />
    <TextField
      name="backup_hooks.after"
      label="After a backup"
      placeholder="php artisan up"
      isCode
      help="Runs after every backup, whether it succeeded or failed."
    />
    {children}
    <TextField
      name="backup_hooks.timeout"
      label="Time limit"
      placeholder="60"
      isNumber
      help="Seconds that each of the two commands may run."
    />
  </>
);
