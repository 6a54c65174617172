import { CopyButton } from "../ui/button/CopyButton.tsx";
import { DocsLink } from "../ui/text/DocsLink.tsx";

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

/** Explains how to add a channel to the inventory, which only the service can read. */
export function InventoryHelp() {
  return (
    <div className="grid max-w-prose gap-3 text-muted">
      <p>
        Add channels to the service&apos;s inventory file. Quarterdeck reloads the file when it
        changes. Webhook URLs are secrets: use <Code>env:NAME</Code> to read one from the
        service&apos;s environment, or <Code>file:PATH</Code> to read one from a file. Email
        requires <Code>SMTP_URL</Code>.
      </p>
      <div className="relative rounded-md border border-line bg-sunken">
        <pre className="px-3 py-2.5 font-mono text-xs whitespace-pre-wrap text-ink">{snippet}</pre>
        <div className="absolute top-1 end-1">
          <CopyButton label="Copy example" text={() => snippet} />
        </div>
      </div>
      <DocsLink page="inventory">Inventory reference</DocsLink>
    </div>
  );
}
