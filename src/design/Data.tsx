// Samples of tables, wide and folded, and of properties.
import { Badge } from "../ui/feedback/Badge.tsx";
import { Button } from "../ui/button/Button.tsx";
import { CommandLine } from "../ui/text/CommandLine.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Pager } from "../ui/table/Pager.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Properties } from "../ui/page/Properties.tsx";
import { type Column, Table } from "../ui/table/Table.tsx";

const rows = [
  { id: 1, tone: "good", state: "installed", queue: "default", processes: 3 },
  {
    id: 2,
    tone: "bad",
    state: "failed",
    queue: "a-name-that-is-longer-than-its-cell",
    processes: 12,
  },
] as const;

const columns: readonly Column<(typeof rows)[number]>[] = [
  { id: "worker", header: "Worker", cell: ({ id }) => id },
  {
    id: "status",
    header: "Status",
    cell: ({ tone, state }) => <Badge tone={tone}>{state}</Badge>,
  },
  {
    id: "queue",
    header: "Queue",
    from: "sm",
    isRest: true,
    cell: ({ queue }) => <span className="block truncate">{queue}</span>,
  },
  {
    id: "processes",
    header: "Processes",
    from: "md",
    align: "end",
    cell: ({ processes }) => processes,
  },
  {
    id: "actions",
    header: "Actions",
    align: "end",
    cell: ({ id }) => (
      <Button variant="ghost" size="icon" aria-label={`Delete worker ${id}`}>
        <Icon name="trash" />
      </Button>
    ),
  },
];

function Workers({ label }: { label: string }) {
  return (
    <Panel title={label}>
      <Table label={label} columns={columns} rows={rows} keyOf={({ id }) => id} />
      <Pager
        from={21}
        to={22}
        total={22}
        previous={<Button size="sm">Previous</Button>}
        next={
          <Button size="sm" disabledReason="This is the last page.">
            Next
          </Button>
        }
      />
    </Panel>
  );
}

export function Data() {
  return (
    <>
      <Workers label="Table with all the room" />
      {/* On a phone, the table above is narrow, too. */}
      <div className="max-w-sm max-sm:hidden">
        <Workers label="Narrow table" />
      </div>
      <Panel title="Properties">
        <Properties
          items={[
            { term: "Connection", value: "database" },
            { term: "Memory", value: "128 MB" },
            { term: "Command", value: <CommandLine command="php artisan queue:work --tries=3" /> },
            { term: "Created", value: "5 minutes ago" },
          ]}
        />
      </Panel>
    </>
  );
}
