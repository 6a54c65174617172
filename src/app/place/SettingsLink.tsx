import { useLocation } from "react-router";
import { paths } from "../../paths.ts";
import { Icon } from "../../ui/Icon.tsx";
import { LinkButton } from "../LinkButton.tsx";

export function SettingsLink() {
  const { pathname } = useLocation();
  return (
    <LinkButton
      to={paths.settings()}
      variant="ghost"
      size="icon"
      aria-label="Settings"
      aria-current={pathname === paths.settings() ? "page" : undefined}
      data-tip="Settings"
    >
      <Icon name="settings" />
    </LinkButton>
  );
}
