import { memo } from "react";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import { Link } from "../app/Link.tsx";
import { SelectCell } from "../app/selection/SelectCell.tsx";
import { paths } from "../paths.ts";
import { handFocusOn } from "../ui/hand-focus-on.ts";
import { Cell, rowClass } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { LastDelivery } from "./LastDelivery.tsx";
import { UrlText, urlTip } from "./UrlText.tsx";
import { WebhookActions } from "./WebhookActions.tsx";
import { FailingFor, PausedUntil, WebhookBadge } from "./WebhookBadge.tsx";

type WebhookRowProps = {
  webhook: Webhook;
  /** Its service tells states and deliveries, so there are columns for them. */
  hasExtras: boolean;
};

/** The state, and beneath it what an operator has to know of it. */
function State({ webhook }: { webhook: Webhook }) {
  const { status_reason: reason } = webhook;
  return (
    <>
      <WebhookBadge webhook={webhook} />
      {reason && <p className="mt-1 line-clamp-2 text-xs wrap-anywhere text-bad">{reason}</p>}
      <p className="mt-1 flex flex-wrap gap-x-2 text-xs empty:hidden">
        <FailingFor webhook={webhook} />
        <PausedUntil webhook={webhook} />
      </p>
    </>
  );
}

/** Renders again only when its webhook changed: the cache keeps an unchanged one the same object. */
export const WebhookRow = memo(function WebhookRow({ webhook, hasExtras }: WebhookRowProps) {
  const { id, url, created_at: created } = webhook;
  return (
    <tr ref={handFocusOn} className={rowClass}>
      <SelectCell id={id} name={url} />
      <Cell isRest>
        <Link
          to={paths.webhook(id)}
          aria-label={url}
          data-tip={urlTip(url)}
          className="inline-flex min-h-6 max-w-full items-center font-medium underline decoration-edge underline-offset-4 hover:decoration-current"
        >
          <UrlText url={url} />
        </Link>
        {/* The columns that a narrow table has no room for. */}
        <p className="text-xs text-muted @3xl:hidden">
          created <Time value={created} />
        </p>
        <div className="mt-2 grid gap-2 empty:hidden @2xl:hidden">
          {hasExtras && (
            <>
              <div>
                <State webhook={webhook} />
              </div>
              <div>
                <p className="text-xs text-muted">Last delivery</p>
                <LastDelivery webhook={webhook} />
              </div>
            </>
          )}
        </div>
      </Cell>
      {hasExtras && (
        <>
          {/* Wide enough for any word, so that a change of state does not move the columns. */}
          <Cell from="sm">
            <div className="w-28 @3xl:w-36">
              <State webhook={webhook} />
            </div>
          </Cell>
          <Cell from="sm">
            <div className="w-40 @3xl:w-52">
              <LastDelivery webhook={webhook} />
            </div>
          </Cell>
        </>
      )}
      <Cell from="md">
        <Time value={created} />
      </Cell>
      <Cell align="end">
        <div className="flex justify-end gap-0.5 @max-2xl:flex-col">
          <WebhookActions webhook={webhook} look="icons" />
        </div>
      </Cell>
    </tr>
  );
});
