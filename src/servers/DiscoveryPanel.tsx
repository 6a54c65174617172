// Searches a server for what the inventory lacks, and adds what the user selects.
import { lateOperations } from "../../contract/late-operations.ts";
import { useState } from "react";
import { discovery, type Discovery } from "../../contract/discovery.ts";
import { addOperations, call } from "../api/client.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/button/Button.tsx";
import { DocsLink } from "../ui/text/DocsLink.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { DatabaseServerRow } from "./DatabaseServerRow.tsx";
import { FoundRow } from "./FoundRow.tsx";
import { placeOf, siteEntry, sqliteEntry } from "./found-entry.ts";
import { QueueWorkerRow } from "./QueueWorkerRow.tsx";

addOperations(lateOperations);

export function DiscoveryPanel({ serverId }: { serverId: number }) {
  const [found, setFound] = useState<Discovery | null>(null);
  const [isScanning, setIsScanning] = useState(false);
  const scan = async () => {
    setIsScanning(true);
    try {
      setFound(discovery.parse(await call("discoverServer", { id: serverId })));
    } catch (error) {
      toast.failure("Couldn't scan this server.", error);
    }
    setIsScanning(false);
  };
  return (
    <Panel
      title="Add from this server"
      actions={
        <Button
          isChange
          isPending={isScanning}
          command={{ label: "Scan this server" }}
          onClick={() => void scan()}
        >
          Scan
        </Button>
      }
    >
      <output className="sr-only">
        {isScanning ? "Scanning…" : found !== null && summaryOf(found)}
      </output>
      {found === null ? (
        <p className="px-4 py-3 text-sm text-muted max-sm:px-3">
          Finds Laravel sites, SQLite files, database servers and queue workers. Nothing is added
          unless you choose it. <DocsLink page="inventory">What a scan finds</DocsLink>
        </p>
      ) : (
        <Findings serverId={serverId} found={found} />
      )}
    </Panel>
  );
}

const summaryOf = ({
  sites,
  sqlite_files: files,
  database_servers: servers,
  queue_workers: workers,
}: Discovery) =>
  `Found ${sites.length} sites, ${files.length} SQLite files, ${servers.length} database servers and ${workers.length} queue workers.`;

const headingClass =
  "border-b border-line bg-sunken px-4 py-1.5 text-xs font-medium text-muted max-sm:px-3";

function Findings({ serverId, found }: { serverId: number; found: Discovery }) {
  const { sites, sqlite_files: files, database_servers: servers, queue_workers: workers } = found;
  const isEmpty = [sites, files, servers, workers].every((list) => list.length === 0);
  return (
    <>
      {isEmpty && <p className="px-4 py-3 text-sm text-muted max-sm:px-3">Nothing was found.</p>}
      {sites.length > 0 && (
        <>
          <h3 className={headingClass}>Sites</h3>
          <ul aria-label="Sites found">
            {sites.map((site) => (
              <FoundRow
                key={site.root}
                serverId={serverId}
                name={site.name}
                detail={`${site.root} · ${site.user}`}
                kind="sites"
                knownId={site.site_id}
                entry={() => siteEntry(serverId, site)}
              />
            ))}
          </ul>
        </>
      )}
      {files.length > 0 && (
        <>
          <h3 className={headingClass}>SQLite files</h3>
          <ul aria-label="SQLite files found">
            {files.map((file) => (
              <FoundRow
                key={file.path}
                serverId={serverId}
                name={file.name}
                detail={`${file.path} · ${file.user}`}
                kind="databases"
                knownId={file.database_id}
                entry={() => sqliteEntry(serverId, file)}
              />
            ))}
          </ul>
        </>
      )}
      {servers.length > 0 && (
        <>
          <h3 className={headingClass}>Database servers</h3>
          <ul aria-label="Database servers found">
            {servers.map((server) => (
              <DatabaseServerRow key={placeOf(server)} serverId={serverId} found={server} />
            ))}
          </ul>
        </>
      )}
      {workers.length > 0 && (
        <>
          <h3 className={headingClass}>Queue workers of supervisord</h3>
          <ul aria-label="Queue workers found">
            {workers.map((worker) => (
              <QueueWorkerRow
                key={`${worker.file} ${worker.program} ${worker.command}`}
                serverId={serverId}
                found={worker}
              />
            ))}
          </ul>
        </>
      )}
      {found.notes.map((note) => (
        <p key={note} className="border-t border-line px-4 py-2 text-sm text-muted max-sm:px-3">
          {note}
        </p>
      ))}
    </>
  );
}
