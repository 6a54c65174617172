import { sessions } from "../api/session.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/button/Button.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Properties } from "../ui/page/Properties.tsx";

/** What this browser stores about the service, with a way to remove it. */
export function DevicePanel() {
  const { address, isRemembered } = useStore(sessions.state);
  return (
    <Panel
      title="Device"
      actions={
        <>
          <Button
            size="sm"
            onClick={() => (isRemembered ? sessions.keepInTab() : sessions.remember())}
          >
            {isRemembered ? "Forget device" : "Remember on this device"}
          </Button>
          <Button size="sm" onClick={() => sessions.end()}>
            Disconnect
          </Button>
        </>
      }
    >
      <Properties
        items={[
          { term: "Connected to", value: address === "" ? location.origin : address },
          {
            term: "Token kept",
            value: isRemembered ? "Until you disconnect" : "Until you close the last tab",
          },
        ]}
      />
    </Panel>
  );
}
