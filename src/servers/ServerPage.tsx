// The page of a server: whether it responds, its host key, and its facts.
import { useQuery } from "@tanstack/react-query";
import { useLoaderData } from "react-router";
import type { ServerStatus } from "../../contract/servers.ts";
import { listFloorMs } from "../api/poll.ts";
import { useLoaded } from "../api/query.ts";
import { serverName, serverQuery } from "../app/inventory.ts";
import { PlaceHeader } from "../app/place/PlaceHeader.tsx";
import { ServerTabs } from "../app/place/ServerTabs.tsx";
import { paths } from "../paths.ts";
import { inventoryQuery } from "../settings/inventory/queries.ts";
import { currentTokenQuery } from "../settings/queries.ts";
import { canChange } from "../settings/token-facts.ts";
import { Badge } from "../ui/feedback/Badge.tsx";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { Notice } from "../ui/feedback/Notice.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Properties } from "../ui/page/Properties.tsx";
import { Time } from "../ui/time/Time.tsx";
import { DiscoveryPanel } from "./DiscoveryPanel.tsx";
import { factItems } from "./facts-text.ts";
import type { serverLoader } from "./loaders.ts";
import { serverStatusQuery } from "./queries.ts";

type Facts = NonNullable<ServerStatus["facts"]>;

export function ServerPage() {
  const { serverId } = useLoaderData<typeof serverLoader>();
  const { data: server } = useQuery(serverQuery(serverId));
  // Requested only with permission to see the inventory.
  const { data: token } = useQuery(currentTokenQuery());
  const mayAdd = token != null && canChange(token) && token.server_ids === null;
  const { data: inventory } = useQuery({ ...inventoryQuery(), enabled: mayAdd });
  const status = useLoaded(serverStatusQuery(serverId), () => listFloorMs);
  return (
    <>
      <PlaceHeader
        title="Server"
        place={{ name: serverName(serverId, server), to: paths.server(serverId) }}
      />
      <ServerTabs serverId={serverId} current="Server" />
      {status === null ? (
        <Panel>
          <EmptyState title="No server status" art="notifications">
            This service doesn&apos;t show the state of its servers.
          </EmptyState>
        </Panel>
      ) : (
        <>
          <KeyNotice status={status} />
          <Panel title="Connection">
            <Properties items={connectionItems(status)} />
          </Panel>
          {status.facts !== null && (
            <FactsPanel facts={status.facts} isLastKnown={status.reachable === false} />
          )}
          {mayAdd && inventory != null && <DiscoveryPanel serverId={serverId} />}
        </>
      )}
    </>
  );
}

/** The host key that an operator has to confirm before anything runs on the server. */
function KeyNotice({ status: { host_key: key, status_reason: reason } }: { status: ServerStatus }) {
  if (key !== null && key.state !== "confirmed" && key.offered.length > 0) {
    const isChanged = key.state === "changed";
    return (
      <Notice tone={isChanged ? "bad" : "warn"} isAlert={isChanged}>
        <div className="grid gap-2">
          <h2 className="font-semibold">
            {isChanged ? "The host key has changed" : "Confirm the host key"}
          </h2>
          <p>
            {isChanged
              ? "Nothing runs on this server. Somebody may be listening in, unless the key was replaced on purpose."
              : "Nothing runs on this server yet. Compare the fingerprint with the one on the server's own console."}{" "}
            Add the matching line to the {key.hop === "jump" ? "jump host" : "server"} in the
            inventory:
          </p>
          {key.offered.map(({ type, fingerprint }) => (
            <code key={fingerprint} className="font-mono text-sm wrap-anywhere select-all">
              {`host_key: "${fingerprint}" # ${type}`}
            </code>
          ))}
        </div>
      </Notice>
    );
  }
  return reason === null ? null : <Notice tone="bad">{reason}</Notice>;
}

function connectionItems({ reachable, since, place, user, latency, host_key }: ServerStatus) {
  const state = reachable === null ? "Not tested yet" : reachable ? "Reachable" : "Unreachable";
  const tone = reachable === null ? "idle" : reachable ? "good" : "bad";
  return [
    { term: "State", value: <Badge tone={tone}>{state}</Badge> },
    ...(since === null ? [] : [{ term: "Since", value: <Time value={since} /> }]),
    { term: "Address", value: place ?? "The service's own machine" },
    ...(user === null ? [] : [{ term: "User", value: user }]),
    ...(latency === null ? [] : [{ term: "Latency", value: `${latency} ms` }]),
    ...(host_key?.pinned == null ? [] : [{ term: "Host key", value: host_key.pinned }]),
  ];
}

function FactsPanel({ facts, isLastKnown }: { facts: Facts; isLastKnown: boolean }) {
  const missing = facts.tools.filter(({ version }) => version === null);
  return (
    <Panel title={isLastKnown ? "Last found on it" : "Found on it"}>
      <Properties items={factItems(facts)} />
      {missing.length > 0 && (
        <p className="px-4 pb-4 text-sm text-muted">
          To install what is missing:{" "}
          <code className="font-mono select-all">
            {`apt-get install ${missing.map((tool) => tool.package).join(" ")}`}
          </code>
        </p>
      )}
    </Panel>
  );
}
