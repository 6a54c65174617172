import { CopyButton } from "../ui/CopyButton.tsx";
import { DocsLink } from "../ui/DocsLink.tsx";

const snippet = `notification_channels:
  - id: 1
    name: ops
    type: slack
    webhook: env:OPS_SLACK
  - id: 2
    name: team
    type: discord
    webhook: file:/etc/quarterdeck/team
  - id: 3
    name: on-call
    type: email
    email: on-call@example.com
`;

const Code = ({ children }: { children: string }) => (
  <code className="font-mono text-xs text-ink">{children}</code>
);

/** How a channel comes into the account: by the inventory, which the service alone can read. */
export function InventoryHelp() {
  return (
    <div className="grid max-w-prose gap-3 text-muted">
      <p>
        Channels stand in the service&apos;s inventory file, which is read again when it is saved. A
        webhook&apos;s address is a secret and never stands there itself: <Code>env:NAME</Code>{" "}
        takes it from the service&apos;s environment, <Code>file:PATH</Code> from a file. Email goes
        out by <Code>SMTP_URL</Code>.
      </p>
      <div className="relative rounded-md border border-line bg-sunken">
        <pre className="px-3 py-2.5 font-mono text-xs whitespace-pre-wrap text-ink">{snippet}</pre>
        <div className="absolute top-1 end-1">
          <CopyButton label="Copy example" text={() => snippet} />
        </div>
      </div>
      <DocsLink page="inventory">All that can stand in the inventory</DocsLink>
    </div>
  );
}
