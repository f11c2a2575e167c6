const LABELS = {
  place_search: "Place search", deep_scan: "Deep scan", domain_extraction: "Domain extraction",
  domain_metadata: "Domain metadata", sitemap_submission: "Sitemap submission",
  sitemap_import: "Sitemap import", page_curation: "Page curation",
  contact_validation: "Contact validation",
};
const EVERY = 1000;

function cell(text, kind = "") {
  const made = document.createElement("td");
  made.textContent = text;
  made.className = kind;
  return made;
}

function row(stage) {
  const made = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.textContent = LABELS[stage.stage] ?? stage.stage;
  if (stage.paused) {
    const why = document.createElement("div");
    why.className = "paused";
    why.textContent = `paused: ${stage.paused}`;
    name.append(why);
  }
  const over = stage.done + stage.failed;
  const total = over + stage.queued + stage.working;
  const bar = document.createElement("progress");
  bar.max = Math.max(total, 1);
  bar.value = over;
  bar.setAttribute("aria-label", `${over} of ${total} done`);
  const wide = cell("", "wide");
  wide.append(bar);
  made.append(name, cell(stage.queued, "number"), cell(stage.working, "number"),
    cell(stage.done, "number"), cell(stage.failed, stage.failed ? "number failed" : "number"), wide);
  return made;
}

async function look() {
  const state = document.getElementById("state");
  try {
    const answer = await fetch("api/v3/stages");
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const stages = await answer.json();
    document.getElementById("stages").replaceChildren(...stages.map(row));
    const busy = stages.reduce((sum, stage) => sum + stage.queued + stage.working, 0);
    state.textContent = busy ? `${busy} records are on their way.` : "Nothing is waiting.";
  } catch (error) {
    state.textContent = `No connection (${error.message}); trying again.`;
  }
  setTimeout(look, EVERY);
}

look();
