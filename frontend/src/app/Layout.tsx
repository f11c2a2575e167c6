/** What stands around every screen: navigation, connection, theme, who is here. */
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useConnection } from "@/api/events";
import { useViews, viewScreen } from "@/api/views";
import { Dialog, Icon, IconButton, Menu, type MenuItem, toastError } from "@/kit";
import { texts } from "@/texts/app";
import { ChangePassword } from "./ChangePassword";
import { KeyMap } from "./KeyMap";
import { useKeys } from "./keys";
import { Palette } from "./Palette";
import { go, Link, usePath, useSearch } from "./router";
import { navigation, type Place, SETTINGS } from "./routes";
import { logout, type Session } from "./session";
import { chooseTheme, type Theme, useTheme } from "./theme";

export function Layout({ session, children }: { session: Session; children: ReactNode }) {
  const [isNavOpen, setNavOpen] = useState(false);
  const [isMapOpen, setMapOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const path = usePath();
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    setNavOpen(false);
    // Another screen is a new beginning for who listens to the page instead of looking.
    main.current?.focus({ preventScroll: true });
  }, [path]);
  useKeys(texts.layout.everywhere, [
    { keys: "?", does: texts.layout.showKeyboardShortcuts, run: () => setMapOpen(true) },
    {
      keys: "Mod+k",
      does: texts.layout.findAScreen,
      whileTyping: true,
      run: () => setPaletteOpen(true),
    },
    ...[...navigation().flatMap((group) => group.places), SETTINGS]
      .filter(({ key }) => key !== null)
      .map((place) => ({
        keys: `g ${place.key}`,
        does: texts.layout.goTo(place.name.toLowerCase()),
        run: () => go(place.to),
      })),
  ]);
  return (
    <div className="layout">
      <a className="skip" href="#main">
        {texts.layout.skipToContent}
      </a>
      <aside className="side">
        <Brand />
        <Navigation path={path} />
        <Foot session={session} onKeys={() => setMapOpen(true)} />
      </aside>
      <header className="top">
        <IconButton
          icon="menu"
          label={texts.layout.openNavigation}
          onClick={() => setNavOpen(true)}
        />
        <Brand />
        <ConnectionPill />
      </header>
      <ConnectionBanner />
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      {isNavOpen && (
        <Dialog title={texts.layout.scrapersky} side="left" onClose={() => setNavOpen(false)}>
          <Navigation path={path} />
          <Foot session={session} onKeys={() => setMapOpen(true)} />
        </Dialog>
      )}
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
      {isMapOpen && <KeyMap onClose={() => setMapOpen(false)} />}
    </div>
  );
}

function Brand() {
  return (
    <Link to="/" className="brand" aria-label={texts.layout.scraperskyGoToThePipeline}>
      <img src="/icon.svg" width={26} height={26} alt="" />
      <span>{texts.layout.scrapersky}</span>
    </Link>
  );
}

function Navigation({ path }: { path: string }) {
  return (
    <nav className="nav" aria-label={texts.layout.screens}>
      {navigation().map((group) => (
        <div key={group.name} className="nav-group">
          <h2>{group.name}</h2>
          <ul>
            {group.places.map((place) => (
              <NavLink key={place.to} place={place} path={path} />
            ))}
          </ul>
        </div>
      ))}
      <SavedViews />
      <div className="nav-group">
        <ul>
          <NavLink place={SETTINGS} path={path} />
        </ul>
      </div>
    </nav>
  );
}

/** Saved views, where one looks for them all day. */
function SavedViews() {
  const { data = [] } = useViews();
  const [search] = useSearch();
  const here = `${usePath()}?${search}`;
  const views = data.flatMap((view) => {
    const to = viewScreen(view);
    return to ? [{ ...view, to }] : [];
  });
  if (views.length === 0) return null;
  return (
    <div className="nav-group">
      <h2>{texts.layout.views}</h2>
      <ul>
        {views.map(({ id, name, to }) => (
          <li key={id}>
            <Link to={to} aria-current={to === here ? "page" : undefined}>
              <Icon name="star" />
              <span className="foreign cut">{name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function NavLink({ place, path }: { place: Place; path: string }) {
  const isHere =
    place.to === "/" ? path === "/" : path === place.to || path.startsWith(`${place.to}/`);
  return (
    <li>
      <Link to={place.to} aria-current={isHere ? "page" : undefined}>
        <Icon name={place.icon} />
        <span>{place.name}</span>
      </Link>
    </li>
  );
}

/** Where the server does not show the reference of its API. */
const DEPLOYED = new Set(["staging", "production"]);

const THEMES: readonly { id: Theme; name: string }[] = [
  { id: "system", name: texts.layout.systemTheme },
  { id: "light", name: texts.layout.light },
  { id: "dark", name: texts.layout.dark },
];

function Foot({ session, onKeys }: { session: Session; onKeys: () => void }) {
  const queries = useQueryClient();
  const chosen = useTheme();
  const [isChanging, setChanging] = useState(false);
  const items: (MenuItem | "line")[] = THEMES.map(({ id, name }) => ({
    name,
    checked: chosen === id,
    run: () => chooseTheme(id),
  }));
  items.push("line", {
    name: texts.layout.keyboardShortcuts,
    icon: "keyboard",
    hotkey: "?",
    run: onKeys,
  });
  if (!DEPLOYED.has(session.environment)) {
    items.push({
      name: texts.layout.apiReference,
      icon: "open",
      run: () => window.open("/docs", "_blank", "noopener"),
    });
  }
  if (session.via === "session") {
    items.push({ name: texts.layout.changePassword, icon: "key", run: () => setChanging(true) });
    items.push({
      name: texts.layout.logOut,
      icon: "logout",
      run: () => logout(queries).catch(toastError),
    });
  }
  return (
    <div className="side-foot">
      {isChanging && <ChangePassword onClose={() => setChanging(false)} />}
      <ConnectionPill />
      <Menu
        label={texts.layout.themeShortcutsAndMore(session.name, session.tenant.name)}
        look="quiet"
        className="who"
        shown={
          <>
            <span
              className="avatar"
              aria-hidden="true"
              data-letter={session.name.slice(0, 1).toUpperCase()}
            />
            <span className="grow cut who-name">
              {session.name}
              <span className="small faint"> {session.tenant.name}</span>
            </span>
            <Icon name="up" size={14} />
          </>
        }
        items={items}
      />
    </div>
  );
}

const CONNECTION = {
  live: ["good", texts.layout.live],
  connecting: ["warn", texts.layout.connecting],
  lost: ["bad", texts.layout.noConnection],
} as const;

function ConnectionPill() {
  const connection = useConnection();
  const [tone, words] = CONNECTION[connection];
  return (
    <span className={`pill ${tone}`}>
      <span className="dot" />
      {words}
    </span>
  );
}

/** A lost connection is said once, loudly, where nobody can miss it. */
function ConnectionBanner() {
  const connection = useConnection();
  return (
    <div role="status" className={connection === "lost" ? "banner" : "unseen"}>
      {connection === "lost" && (
        <>
          <Icon name="warning" />
          <span>
            <strong>{texts.layout.serverIsNotResponding}</strong> {texts.layout.whatYouSeeMayBeOut}
          </span>
        </>
      )}
    </div>
  );
}
