import { memo } from "react";
import type { Token } from "../../contract/tokens.ts";
import { Badge } from "../ui/Badge.tsx";
import { useClockText } from "../ui/clock.ts";
import { handFocusOn } from "../ui/hand-focus-on.ts";
import { Cell, rowClass } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { RevokeToken } from "./RevokeToken.tsx";
import { abilityText, expiryOf, serversText } from "./token-facts.ts";

const expiryClass = { never: "text-muted", later: "", soon: "text-warn", past: "text-bad" };

/** @param hasTerm without a column head above it */
function Expiry({ token, hasTerm = false }: { token: Token; hasTerm?: boolean }) {
  const expiry = useClockText((nowMs) => expiryOf(token, nowMs));
  return (
    <span className={expiryClass[expiry]}>
      {hasTerm && (expiry === "past" ? "Expired " : "Expires ")}
      {token.expires_at === null ? "never" : <Time value={token.expires_at} />}
    </span>
  );
}

const LastUse = ({ token: { last_used_at: at } }: { token: Token }) =>
  at === null ? <span className="text-muted">never</span> : <Time value={at} />;

type TokenRowProps = { token: Token; servers: readonly { id: number; name: string }[] };

export const TokenRow = memo(function TokenRow({ token, servers }: TokenRowProps) {
  const { name, created_at: created, is_current: isCurrent, server_ids: serverIds } = token;
  const scope = serversText(serverIds, servers);
  return (
    <tr ref={handFocusOn} className={rowClass}>
      <Cell isRest>
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 font-medium wrap-anywhere">{name}</span>
          {isCurrent && <Badge tone="busy">In use</Badge>}
        </div>
        <p className="text-xs text-muted">
          created <Time value={created} />
        </p>
        {/* The columns that a narrow table has no room for. */}
        <div className="mt-1 grid text-xs @2xl:hidden">
          <p>{`${abilityText(token)} · ${scope}`}</p>
          <p>
            <span className="text-muted">Last used</span> <LastUse token={token} />
          </p>
          <p>
            <Expiry token={token} hasTerm />
          </p>
        </div>
      </Cell>
      <Cell from="sm">{abilityText(token)}</Cell>
      <Cell from="sm">
        <p className="max-w-48 min-w-24 wrap-anywhere">{scope}</p>
      </Cell>
      <Cell from="sm">
        <LastUse token={token} />
      </Cell>
      <Cell from="sm">
        <Expiry token={token} />
      </Cell>
      <Cell align="end">
        <RevokeToken token={token} />
      </Cell>
    </tr>
  );
});
