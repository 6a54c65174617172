import { useState } from "react";
import { DocsLink } from "../ui/text/DocsLink.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { LazySnippets } from "./LazySnippets.tsx";

/** Code for receivers, for users who write it after the secret was shown. */
export function VerifyHelp() {
  const [isOpened, setIsOpened] = useState(false);
  return (
    <Panel>
      <details className="group" onToggle={() => setIsOpened(true)}>
        <summary className="flex min-h-11 items-center gap-2.5 px-4 py-1.5 font-semibold -outline-offset-2 hover:bg-hover max-sm:px-3">
          <span className="text-muted group-open:rotate-90 rtl:group-open:-rotate-90">
            <Icon name="right" />
          </span>
          Verify signatures
        </summary>
        {/* Rendered on demand, because the code is longer than the page. */}
        {isOpened && (
          <div className="border-t border-line px-4 py-3 max-sm:px-3">
            <LazySnippets />
            <DocsLink page="webhooks">Requests and retries</DocsLink>
          </div>
        )}
      </details>
    </Panel>
  );
}
