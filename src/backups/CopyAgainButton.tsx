import { call } from "../api/client.ts";
import { useMutation } from "../api/mutate.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/button/Button.tsx";
import { handFocusOn } from "../ui/focus/hand-focus-on.ts";
import { refreshBackups } from "./backup/backup-actions.ts";

/** Copies a backup to the second storage of its configuration. */
export function CopyAgainButton({ backupId }: { backupId: number }) {
  const copy = useMutation({
    mutationFn: (id: number) => call("copyBackup", { id }),
    onSuccess: (_, id) => toast.success(`Copying backup ${id}.`),
    onSettled: refreshBackups,
    onError: (error, id) => toast.failure(`Couldn't copy backup ${id}.`, error),
  });
  return (
    // The button disappears while the copy is made.
    <span ref={handFocusOn} className="contents">
      <Button
        size="sm"
        command={{ label: `Copy again: backup ${backupId}`, name: "Copy again", key: "c" }}
        isPending={copy.isPending}
        onClick={() => copy.mutate(backupId)}
      >
        Copy again
      </Button>
    </span>
  );
}
