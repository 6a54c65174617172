import type { Token } from "../../contract/tokens.ts";
import { confirm } from "../app/confirm.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Time } from "../ui/Time.tsx";
import { revokeToken } from "./actions.ts";
import { canChange } from "./token-facts.ts";

function Loss({ token }: { token: Token }) {
  const { name, last_used_at: used, is_current: isCurrent, from_environment: isChosen } = token;
  return (
    <>
      <p>
        Whatever uses <strong className="text-ink">{name}</strong> is refused from now on: scripts,
        pipelines, dashboards on other devices. It{" "}
        {canChange(token) ? "may do everything" : "may read"}, and was{" "}
        {used === null ? (
          "never used"
        ) : (
          <>
            last used <Time value={used} />
          </>
        )}
        .
      </p>
      {isCurrent && (
        <p className="text-bad">This is the one you are using; you will be disconnected.</p>
      )}
      {isChosen ? (
        <p>
          It stands in QUARTERDECK_TOKEN of the service. Take it out there too, or the next start
          brings it back.
        </p>
      ) : (
        <p>It cannot be brought back.</p>
      )}
    </>
  );
}

export function RevokeToken({ token }: { token: Token }) {
  const ask = () =>
    confirm({
      title: `Revoke ${token.name}?`,
      body: <Loss token={token} />,
      action: "Revoke token",
      run: async () => {
        await revokeToken(token);
        toast.success(`${token.name} is revoked.`);
      },
    });
  return (
    <Button
      variant="ghost"
      size="icon"
      aria-label={`Revoke ${token.name}`}
      command={`Revoke token ${token.name}`}
      tip="Revoke"
      onClick={ask}
    >
      <Icon name="trash" />
    </Button>
  );
}
