import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Token } from "../../contract/tokens.ts";
import { everyServerQuery } from "../app/inventory.ts";
import { Badge } from "../ui/feedback/Badge.tsx";
import { useClockText } from "../ui/time/clock.ts";
import { actionsColumn, type Column, Table } from "../ui/table/Table.tsx";
import { Time } from "../ui/time/Time.tsx";
import { RevokeToken } from "./RevokeToken.tsx";
import { abilityText, expiryOf, serversText } from "./token-facts.ts";

const expiryClass = { never: "text-muted", later: "", soon: "text-warn", past: "text-bad" };

/** @param hasTerm whether to show a label, where there is no column header */
function Expiry({ token, hasTerm = false }: { token: Token; hasTerm?: boolean }) {
  const expiry = useClockText((nowMs) => expiryOf(token, nowMs));
  return (
    <span className={expiryClass[expiry]}>
      {hasTerm && (expiry === "past" ? "Expired " : "Expires ")}
      {token.expires_at === null ? (
        "never"
      ) : (
        <Time value={token.expires_at} format={expiry === "past" ? "relative" : "coming"} />
      )}
    </span>
  );
}

const LastUse = ({ token: { last_used_at: at } }: { token: Token }) =>
  at === null ? <span className="text-muted">never</span> : <Time value={at} />;

type Servers = readonly { id: number; name: string }[];

/** The name, with the columns that a narrow table omits. */
function Name({ token, servers }: { token: Token; servers: Servers }) {
  const { name, created_at: created, is_current: isCurrent } = token;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="min-w-0 font-medium wrap-anywhere">{name}</span>
        {isCurrent && <Badge tone="good">In use</Badge>}
      </div>
      <p className="text-xs text-muted">
        created <Time value={created} />
      </p>
      <div className="mt-1 grid text-xs @2xl:hidden">
        <p>{`${abilityText(token)} · ${serversText(token.server_ids, servers)}`}</p>
        <p>
          <span className="text-muted">Last used</span> <LastUse token={token} />
        </p>
        <p>
          <Expiry token={token} hasTerm />
        </p>
      </div>
    </>
  );
}

const makeColumns = (servers: Servers): readonly Column<Token>[] => [
  {
    id: "name",
    header: "Name",
    isRest: true,
    cell: (token) => <Name token={token} servers={servers} />,
  },
  { id: "permissions", header: "Permissions", from: "sm", cell: abilityText },
  {
    id: "scope",
    header: "Scope",
    from: "sm",
    cell: ({ server_ids: ids }) => (
      <p className="max-w-48 min-w-24 wrap-anywhere">{serversText(ids, servers)}</p>
    ),
  },
  {
    id: "last_used",
    header: "Last used",
    from: "sm",
    cell: (token) => <LastUse token={token} />,
  },
  { id: "expires", header: "Expires", from: "sm", cell: (token) => <Expiry token={token} /> },
  actionsColumn((token) => <RevokeToken token={token} />),
];

/** A constant, so that unchanged rows are not rendered again. */
const nobody: Servers = [];

export function TokenTable({ tokens }: { tokens: readonly Token[] }) {
  const { data } = useQuery(everyServerQuery());
  const servers = data?.data ?? nobody;
  const columns = useMemo(() => makeColumns(servers), [servers]);
  return <Table label="Tokens" columns={columns} rows={tokens} keyOf={({ id }) => id} />;
}
