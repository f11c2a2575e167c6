/** What stands around every screen. */
import { plural } from "@/kit/format";

export const texts = {
  boundary: {
    thisScreenCouldNotBeDisplayed: "This screen could not be displayed",
    reloadThePage: "Reload the page",
    scraperskyMayHaveBeenUpdatedWhile:
      "ScraperSky may have been updated while the page was open. Your decisions are saved on the server.",
  },
  routes: {
    work: "Work",
    pipeline: "Pipeline",
    rules: "Rules",
    batches: "Import",
    leads: "Leads",
    home: "Home",
    results: "Results",
    changes: "What changed",
    advanced: "Advanced",
  },
  layout: {
    everywhere: "Everywhere",
    showKeyboardShortcuts: "Show keyboard shortcuts",
    findAScreen: "Find a company, screen, view or command",
    goTo: (name: string) => `Go to ${name}`,
    skipToContent: "Skip to content",
    openNavigation: "Open navigation",
    scrapersky: "ScraperSky",
    scraperskyGoHome: "ScraperSky: go home",
    screens: "Screens",
    views: "Views",
    systemTheme: "System theme",
    light: "Light",
    dark: "Dark",
    keyboardShortcuts: "Keyboard shortcuts",
    apiReference: "API reference",
    changePassword: "Change password",
    logOut: "Log out",
    themeShortcutsAndMore: (name: string, workspace: string) =>
      `${name} ${workspace}: theme, shortcuts and more`,
    live: "Live",
    connecting: "Connecting",
    noConnection: "Offline",
    whatYouSeeMayBeOut:
      "What you see may be out of date. This page reconnects by itself; what you change meanwhile is kept in this browser and sent then.",
    serverIsNotResponding: "The server is not responding.",
  },
  waiting: {
    waitToBeSent: (count: number) =>
      `${plural(count, "change")} ${count === 1 ? "waits" : "wait"} to be sent.`,
    needYou: (count: number) =>
      `${plural(count, "change")} could not be made: someone else was faster, or it was refused.`,
    show: "Show",
    review: "Review",
  },
  app: {
    openingScrapersky: "Opening ScraperSky",
    windowTitle: (name: string) => `${name} · ScraperSky`,
    scrapersky: "ScraperSky",
    pageNotFound: "Page not found",
    goHome: "Go home",
  },
};
