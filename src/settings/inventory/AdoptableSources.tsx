// The sources of the backups in a storage: those that can be adopted, those whose database or site is missing, and
// files that are left out.
import type { AdoptableSource, Adoption } from "../../../contract/backups/adoption.ts";
import { countOf } from "../../../contract/count-text.ts";
import { Link } from "../../app/Link.tsx";
import { LinkButton } from "../../app/LinkButton.tsx";
import { formatBytes } from "../../backups/backup-facts.ts";
import { paths } from "../../paths.ts";
import { linkClass } from "../../ui/text/link-class.ts";
import { Panel } from "../../ui/page/Panel.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { engineWords, kinds } from "./kinds.ts";

const wordOf = ({ engine }: AdoptableSource) =>
  engine === "folder" ? "Site" : engineWords[engine];

const keyOf = ({ type, engine, name, server }: AdoptableSource) =>
  JSON.stringify([type, engine, name, server]);

function Amount({ source: { backups, size, newest_at: newest } }: { source: AdoptableSource }) {
  return (
    <>
      {countOf(backups, "backup")}, {formatBytes(size)}, newest <Time value={newest} />
    </>
  );
}

function Target({ source: { target } }: { source: AdoptableSource }) {
  if (target === null) return null;
  return (
    <>
      {target.name} on {target.server}
    </>
  );
}

const columns: readonly Column<AdoptableSource>[] = [
  {
    id: "source",
    header: "Source",
    cell: (source) => (
      <>
        <p className="font-medium wrap-anywhere">
          {source.configuration_id === null ? (
            source.name
          ) : (
            <Link
              to={paths.backupConfiguration(source.configuration_id)}
              className="inline-flex min-h-6 items-center underline decoration-edge underline-offset-4 hover:decoration-current"
            >
              {source.name}
            </Link>
          )}
        </p>
        <p className="text-xs wrap-anywhere text-muted">
          {wordOf(source)} on {source.server}
        </p>
        <div className="grid text-xs text-muted @2xl:hidden">
          <span className="wrap-anywhere">
            Restores to <Target source={source} />
          </span>
          <span>
            <Amount source={source} />
          </span>
        </div>
      </>
    ),
  },
  {
    id: "target",
    header: "Restores to",
    from: "sm",
    cell: (source) => (
      <span className="wrap-anywhere">
        <Target source={source} />
      </span>
    ),
  },
  { id: "backups", header: "Backups", align: "end", from: "sm", cell: ({ backups }) => backups },
  { id: "size", header: "Size", align: "end", from: "sm", cell: ({ size }) => formatBytes(size) },
  {
    id: "newest",
    header: "Newest",
    from: "sm",
    cell: ({ newest_at: newest }) => <Time value={newest} />,
  },
  {
    id: "oldest",
    header: "Oldest",
    from: "md",
    cell: ({ oldest_at: oldest }) => <Time value={oldest} />,
  },
];

export const SourceTable = ({ sources }: { sources: readonly AdoptableSource[] }) => (
  <Table label="Sources" columns={columns} rows={sources} keyOf={keyOf} />
);

export function MissingSources({ sources }: { sources: readonly AdoptableSource[] }) {
  return (
    <Panel title="Missing in the inventory">
      <p className="border-b border-line px-4 py-3 text-sm text-muted max-sm:px-3">
        A backup is restored to an entry of the inventory with the name of its source. Without one
        it can&apos;t be adopted; the manifest beside each file has the commands that restore it by
        hand.
      </p>
      <ul>
        {sources.map((source) => {
          const { slug, noun } = kinds[source.type === "site" ? "sites" : "databases"];
          return (
            <li
              key={keyOf(source)}
              className="grid gap-1 border-b border-line px-4 py-3 text-sm last:border-b-0 max-sm:px-3"
            >
              <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
                <div className="min-w-0 grow basis-60">
                  <p className="wrap-anywhere">
                    <span className="font-medium">{source.name}</span>{" "}
                    <span className="text-muted">
                      {wordOf(source)} on {source.server}
                    </span>
                  </p>
                  <p className="text-muted">
                    <Amount source={source} />
                  </p>
                  <p className="wrap-anywhere">{source.problem}</p>
                </div>
                <LinkButton to={paths.newEntry(slug)} size="sm">
                  New {noun}
                </LinkButton>
              </div>
              <details>
                <summary className={`${linkClass} w-fit cursor-pointer`}>Newest files</summary>
                <ul className="mt-1 grid gap-1">
                  {source.files.map(({ path, size, started_at: at }) => (
                    <li key={path} className="text-muted">
                      <code className="font-mono text-xs wrap-anywhere text-ink">{path}</code>{" "}
                      {formatBytes(size)}, <Time value={at} />
                    </li>
                  ))}
                </ul>
              </details>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

type LeftOutProps = { files: Adoption["left_out"]; total: number };

export function LeftOut({ files, total }: LeftOutProps) {
  return (
    <Panel title={`Not adoptable: ${total} stored ${total === 1 ? "file" : "files"}`}>
      <ul aria-label="Not adoptable">
        {files.map(({ path, reason }) => (
          <li
            key={`${path} ${reason}`}
            className="border-b border-line px-4 py-2 text-sm last:border-b-0 max-sm:px-3"
          >
            <code className="font-mono text-xs wrap-anywhere">{path}</code>
            <p className="wrap-anywhere text-muted">{reason}</p>
          </li>
        ))}
      </ul>
      {total > files.length && (
        <p className="border-t border-line px-4 py-2 text-sm text-muted max-sm:px-3">
          Only {files.length} are shown.
        </p>
      )}
    </Panel>
  );
}
