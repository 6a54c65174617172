import type { Token } from "../../contract/tokens.ts";
import { confirm } from "../app/confirm.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/button/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Time } from "../ui/time/Time.tsx";
import { revokeToken } from "./actions.ts";
import { canChange } from "./token-facts.ts";

function Loss({ token }: { token: Token }) {
  const { name, last_used_at: used, is_current: isCurrent, from_environment: isChosen } = token;
  return (
    <>
      <p>
        Everything that uses <strong className="text-ink">{name}</strong> loses access: scripts,
        pipelines, dashboards on other devices. Permissions:{" "}
        {canChange(token) ? "everything" : "read"}.{" "}
        {used === null ? (
          "Never used."
        ) : (
          <>
            Last used <Time value={used} />.
          </>
        )}
      </p>
      {isCurrent && (
        <p className="text-bad">This is the token you are using. You will be disconnected.</p>
      )}
      {isChosen ? (
        <p>
          The service reads this token from QUARTERDECK_TOKEN. Remove it there too, or the next
          start restores the token.
        </p>
      ) : (
        <p>A revoked token can&apos;t be restored.</p>
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
        toast.success(`${token.name} revoked.`);
      },
    });
  return (
    <Button
      variant="ghost"
      size="icon"
      aria-label={`Revoke ${token.name}`}
      command={{ label: `Revoke token ${token.name}`, name: "Revoke" }}
      onClick={ask}
    >
      <Icon name="trash" />
    </Button>
  );
}
