// Runs before the first paint, so that a chosen theme never flashes the other one.
try {
  const chosen = localStorage.getItem("scrapersky.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be forbidden; the system's own preference then holds.
}
