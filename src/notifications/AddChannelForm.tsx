// Adds a channel by id, for a service that does not list the account's channels.
import { IdForm } from "../app/form/IdForm.tsx";
import { toast } from "../app/toasts.ts";
import { Panel } from "../ui/page/Panel.tsx";
import { idTrouble } from "./channel-facts.ts";
import { channelSelection } from "./save-selection.ts";

const add = (siteId: number, id: number) =>
  new Promise<string | null>((resolve) => {
    channelSelection({ kind: "site", id: siteId }).add(id, {
      saved: (changes) => {
        if (changes.size === 0) return resolve(`Channel ${id} is already selected.`);
        toast.success(`Channel ${id} added.`);
        resolve(null);
      },
      refused: (error, _changes, sent) => resolve(idTrouble(error, id, sent)),
    });
  });

export const AddChannelForm = ({ siteId }: { siteId: number }) => (
  <Panel title="Add channel by id">
    <IdForm
      name="Add channel by id"
      label="Channel id"
      help="This service doesn't list the account's channels."
      action="Add channel"
      take={(id) => add(siteId, id)}
    />
  </Panel>
);
