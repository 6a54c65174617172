// What holds many things: tables, wide and folded, and properties.
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { CommandLine } from "../ui/CommandLine.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Pager } from "../ui/Pager.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Properties } from "../ui/Properties.tsx";
import { Cell, HeadCell, rowClass, Table } from "../ui/Table.tsx";

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

function Workers({ label }: { label: string }) {
  return (
    <Panel title={label}>
      <Table label={label}>
        <thead>
          <tr>
            <HeadCell>Worker</HeadCell>
            <HeadCell>Status</HeadCell>
            <HeadCell from="sm">Queue</HeadCell>
            <HeadCell from="md" align="end">
              Processes
            </HeadCell>
            <HeadCell align="end">Actions</HeadCell>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, tone, state, queue, processes }) => (
            <tr key={id} className={rowClass}>
              <Cell>{id}</Cell>
              <Cell>
                <Badge tone={tone}>{state}</Badge>
              </Cell>
              <Cell from="sm" isRest>
                <span className="block truncate">{queue}</span>
              </Cell>
              <Cell from="md" align="end">
                {processes}
              </Cell>
              <Cell align="end">
                <Button variant="ghost" size="icon" aria-label={`Delete worker ${id}`}>
                  <Icon name="trash" />
                </Button>
              </Cell>
            </tr>
          ))}
        </tbody>
      </Table>
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
      {/* On a phone the one above is narrow too. */}
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
