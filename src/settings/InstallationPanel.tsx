// What runs behind this dashboard, and how far a site's code could reach there.
import { useQuery } from "@tanstack/react-query";
import type { Installation } from "../../contract/installation.ts";
import { DocsLink } from "../ui/DocsLink.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Properties } from "../ui/Properties.tsx";
import { installationQuery } from "./queries.ts";

function SharedAccount({ account }: { account: string }) {
  return (
    <div className="p-4 max-sm:p-3">
      <Notice tone="warn">
        <div className="grid max-w-prose gap-2">
          <h3 className="font-semibold">Sites share Quarterdeck&apos;s account</h3>
          <p>
            Quarterdeck runs as <strong>{account}</strong>, and so does the code of every site. That
            code can read what Quarterdeck keeps, such as the password of its database, the hashes
            of tokens and the secrets of the inventory, and can stop Quarterdeck.
          </p>
          <p>
            If you do not trust all of it that far, run Quarterdeck as root with its unit file: each
            site then runs as the account that owns its folder.
          </p>
          <DocsLink page="inventory">What a site&apos;s code could reach</DocsLink>
        </div>
      </Notice>
    </div>
  );
}

function toItems({ version, account, isolates_sites: isIsolated }: Installation) {
  return [
    { term: "Version", value: version },
    { term: "Runs as", value: account },
    ...(isIsolated ? [{ term: "Sites run as", value: "their own accounts" }] : []),
  ];
}

/** Nothing where the service does not tell. */
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
