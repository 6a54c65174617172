// The entries of the inventory file, with links to their forms.
import { useMemo } from "react";
import { type InventoryKind, inventoryKinds } from "../../../contract/inventory/entries.ts";
import type { InventoryFile } from "../../../contract/inventory/inventory.ts";
import { useLoaded } from "../../api/query.ts";
import { confirm } from "../../app/confirm.ts";
import { Crumbs } from "../../app/place/Crumbs.tsx";
import { Link } from "../../app/Link.tsx";
import { LinkButton } from "../../app/LinkButton.tsx";
import { toast } from "../../app/toasts.ts";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button/Button.tsx";
import { DocsLink } from "../../ui/text/DocsLink.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { actionsColumn, type Column, Table } from "../../ui/table/Table.tsx";
import { conflictIn, reloadInventory, removeEntry } from "./actions.ts";
import { factsOf } from "./entry-facts.ts";
import { type AnyEntry, kinds } from "./kinds.ts";
import { inventoryQuery } from "./queries.ts";
import { ReadOnlyNotice } from "./ReadOnlyNotice.tsx";

function askToRemove(kind: InventoryKind, { id, name }: AnyEntry, seen: InventoryFile): void {
  const { noun } = kinds[kind];
  confirm({
    title: `Remove ${name}?`,
    body: (
      <p>
        The {noun} <strong className="text-ink">{name}</strong> and the secrets stored for it are
        removed from the inventory. Nothing is removed on the machine itself.
      </p>
    ),
    action: `Remove ${noun}`,
    run: async () => {
      try {
        await removeEntry(kind, id, seen);
        toast.success(`${name} removed.`);
      } catch (error) {
        // The next confirmation then refers to the present file.
        if (conflictIn(error)?.code === "inventory_changed") await reloadInventory();
        throw error;
      }
    },
  });
}

function EntryActions({ kind, entry, inventory }: EntryProps) {
  const { slug, noun } = kinds[kind];
  return (
    <span className="inline-flex gap-0.5">
      {kind === "storage_providers" && (
        <LinkButton
          to={paths.adoptBackups(entry.id)}
          variant="ghost"
          size="icon"
          aria-label={`Adopt backups from ${entry.name}`}
          command={{ label: `Adopt backups from ${entry.name}`, name: "Adopt backups" }}
        >
          <Icon name="backup" />
        </LinkButton>
      )}
      {kind === "storage_providers" && (
        <LinkButton
          to={paths.importFile({ storage: entry.id })}
          variant="ghost"
          size="icon"
          aria-label={`Import a file from ${entry.name}`}
          command={{ label: `Import a file from ${entry.name}`, name: "Import a file" }}
        >
          <Icon name="plus" />
        </LinkButton>
      )}
      <LinkButton
        to={paths.editEntry(slug, entry.id)}
        variant="ghost"
        size="icon"
        aria-label={`Edit ${entry.name}`}
        command={{ label: `Edit ${noun} ${entry.name}`, name: "Edit" }}
      >
        <Icon name="edit" />
      </LinkButton>
      <Button
        variant="ghost"
        size="icon"
        aria-label={`Remove ${entry.name}`}
        command={{ label: `Remove ${noun} ${entry.name}`, name: "Remove" }}
        onClick={() => askToRemove(kind, entry, inventory)}
      >
        <Icon name="trash" />
      </Button>
    </span>
  );
}

type EntryProps = { kind: InventoryKind; entry: AnyEntry; inventory: InventoryFile };

function EntryName({ kind, entry, inventory }: EntryProps) {
  return (
    <>
      <Link
        to={paths.editEntry(kinds[kind].slug, entry.id)}
        className="inline-flex min-h-6 max-w-full items-center font-medium wrap-anywhere underline decoration-edge underline-offset-4 hover:decoration-current"
      >
        {entry.name}
      </Link>
      <div className="grid text-xs text-muted @2xl:hidden">
        {factsOf(entry, inventory.servers).map((fact) => (
          <span key={fact} className="wrap-anywhere">
            {fact}
          </span>
        ))}
      </div>
    </>
  );
}

const makeColumns = (
  kind: InventoryKind,
  inventory: InventoryFile,
): readonly Column<AnyEntry>[] => [
  {
    id: "name",
    header: "Name",
    cell: (entry) => (
      <div className="@2xl:w-48 @3xl:w-64">
        <EntryName kind={kind} entry={entry} inventory={inventory} />
      </div>
    ),
  },
  {
    id: "facts",
    header: "Details",
    from: "sm",
    isRest: true,
    cell: (entry) => (
      <span className="block truncate text-muted">
        {factsOf(entry, inventory.servers).join(" · ")}
      </span>
    ),
  },
  { id: "id", header: "ID", align: "end", from: "sm", cell: ({ id }) => id },
  actionsColumn((entry) => <EntryActions kind={kind} entry={entry} inventory={inventory} />),
];

function KindPanel({ kind, inventory }: { kind: InventoryKind; inventory: InventoryFile }) {
  const { title, noun, slug } = kinds[kind];
  const columns = useMemo(() => makeColumns(kind, inventory), [kind, inventory]);
  const entries: readonly AnyEntry[] = inventory[kind];
  return (
    <Panel
      title={title}
      actions={
        <LinkButton to={paths.newEntry(slug)} size="sm" command={{ label: `New ${noun}` }}>
          <Icon name="plus" />
          New {noun}
        </LinkButton>
      }
    >
      {entries.length === 0 ? (
        <p className="px-4 py-4 text-muted max-sm:px-3">None yet.</p>
      ) : (
        <Table label={title} columns={columns} rows={entries} keyOf={({ id }) => id} />
      )}
    </Panel>
  );
}

export function InventoryPage() {
  const inventory = useLoaded(inventoryQuery());
  // The loader requires an inventory.
  if (inventory === null) return null;
  const { problem, file } = inventory;
  return (
    <>
      <PageHeader
        title="Inventory"
        context={["Settings"]}
        crumbs={<Crumbs items={[{ label: "Settings", to: paths.settings() }]} />}
      />
      <p className="text-muted">
        {file === null ? (
          "Entries as read by the other instances. "
        ) : (
          <>
            Stored in <code className="font-mono text-sm wrap-anywhere">{file}</code>. Comments and
            order stay when you change an entry here.{" "}
          </>
        )}
        <DocsLink page="inventory">About the inventory</DocsLink>
      </p>
      <ReadOnlyNotice inventory={inventory} />
      {problem !== null && (
        <Notice tone="bad">
          <h2 className="font-semibold">The file is not in force</h2>
          <pre className="mt-1 overflow-x-auto font-mono text-xs whitespace-pre-wrap">
            {problem}
          </pre>
          <p className="mt-1 text-muted">
            Quarterdeck works with the last valid state. Entries with mistakes are not listed here.
          </p>
        </Notice>
      )}
      {inventoryKinds.map((kind) => (
        <KindPanel key={kind} kind={kind} inventory={inventory} />
      ))}
    </>
  );
}
