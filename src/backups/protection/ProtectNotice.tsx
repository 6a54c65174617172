// Lists a server's sources without a backup, and offers to set up backups for all of them.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { overviewQuery } from "../../app/inventory.ts";
import { LinkButton } from "../../app/LinkButton.tsx";
import { useAskedPart } from "../../app/routing/asked-part.ts";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";

type ProtectNoticeProps = {
  serverId: number;
  server: string;
  /** IANA name; null where the service does not return it. */
  timeZone: string | null;
};

function ProtectAll(props: ProtectNoticeProps & { onClose: () => void }) {
  const render = useAskedPart({
    name: "the form",
    load: async () => (await import("./ProtectAllDialog.tsx")).ProtectAllDialog,
    onMissing: props.onClose,
  });
  return render?.(props);
}

export function ProtectNotice(props: ProtectNoticeProps) {
  const [isOpen, setOpen] = useState(false);
  // The shell requests the overview anyway.
  const { data: overview } = useQuery(overviewQuery());
  const unprotected = (overview?.protection?.problems ?? []).filter(
    (one) => one.server_id === props.serverId && one.configuration_id === null,
  );
  const count = unprotected.length;
  return (
    <>
      {count > 0 && (
        <Notice
          tone="warn"
          actions={
            <Button
              isChange
              command={{ label: `Protect all on ${props.server}` }}
              onClick={() => setOpen(true)}
            >
              Protect all
            </Button>
          }
        >
          {count === 1
            ? `${unprotected[0]?.name} has no backup.`
            : `${count} databases and sites have no backup.`}
        </Notice>
      )}
      {overview !== null && overview !== undefined && (
        <div>
          <LinkButton
            to={paths.importFile({ server: props.serverId })}
            command={{ label: `Import a file on ${props.server}`, name: "Import a file" }}
          >
            Import a file
          </LinkButton>
        </div>
      )}
      {isOpen && <ProtectAll {...props} onClose={() => setOpen(false)} />}
    </>
  );
}
