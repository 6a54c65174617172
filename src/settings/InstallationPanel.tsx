// The service behind this dashboard, and how far the code of a site could reach.
import { useQuery } from "@tanstack/react-query";
import type { Installation } from "../../contract/installation.ts";
import { DocsLink } from "../ui/text/DocsLink.tsx";
import { Notice } from "../ui/feedback/Notice.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Properties } from "../ui/page/Properties.tsx";
import { installationQuery } from "./queries.ts";

function SharedAccount({ account }: { account: string }) {
  return (
    <div className="p-4 max-sm:p-3">
      <Notice tone="warn">
        <div className="grid max-w-prose gap-2">
          <h3 className="font-semibold">Sites share Quarterdeck&apos;s account</h3>
          <p>
            Quarterdeck and the code of every site run as <strong>{account}</strong>. That code can
            read Quarterdeck&apos;s data, such as its database password, token hashes and inventory
            secrets, and can stop Quarterdeck.
          </p>
          <p>
            To isolate sites, run Quarterdeck as root with its unit file: each site then runs as the
            account that owns its folder.
          </p>
          <DocsLink page="inventory">Access of a site&apos;s code</DocsLink>
        </div>
      </Notice>
    </div>
  );
}

function toItems({ version, account, isolates_sites: isIsolated }: Installation) {
  return [
    { term: "Version", value: version },
    { term: "Runs as", value: account },
    ...(isIsolated ? [{ term: "Sites run as", value: "Their own accounts" }] : []),
  ];
}

/** Renders nothing for a service that does not report it. */
export function InstallationPanel() {
  const { data } = useQuery(installationQuery());
  if (data === undefined || data === null) return null;
  return (
    <Panel title="Installation">
      <Properties items={toItems(data)} />
      {!data.isolates_sites && <SharedAccount account={data.account} />}
    </Panel>
  );
}
