/** What opens above every screen by a key. */

export const texts = {
  keyMap: {
    esc: "Esc",
    space: "Space",
    keyboardShortcuts: "Keyboard shortcuts",
    inLists: "In lists",
    ctrl: "Ctrl",
  },
  palette: {
    everywhere: "Everywhere",
    goTo: "Go to…",
    screenViewRecordOrCommand: "Company, screen, view or command",
    matches: "Matches",
    nothingMatches: "Nothing matches.",
    searching: "Searching…",
    screen: "Screen",
    view: "View",
  },
};
