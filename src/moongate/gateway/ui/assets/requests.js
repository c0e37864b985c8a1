// Keeps the list of requests up to date. Rows come as text, and are put into the page as text.
const MAX_ROWS = 100; // as many as the page begins with
const FRAME_ROWS = 20; // that are drawn at once: a page that draws must not stand still
const MAX_CHOICES = 500; // of a filter; those of names that clients make up are not few
const live = document.getElementById("live");
const rows = document.getElementById("rows");
const template = document.getElementById("row");
const counter = document.getElementById("count");
const filters = document.getElementById("filters");
const number = new Intl.NumberFormat("en");
let source = null;
let after = live?.dataset.after ?? "0";
let waiting = [];
let drawing = false;

for (const choice of filters.querySelectorAll("select")) choice.addEventListener("change", () => filters.requestSubmit());
filters.addEventListener("submit", () => {
  for (const field of filters.elements) if (field.name && !field.value) field.disabled = true;
});
// A page that comes back from the browser's cache still has them disabled.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload(); // it has missed rows
  for (const field of filters.elements) field.disabled = false;
});

function made(row) {
  const line = template.content.firstElementChild.cloneNode(true);
  line.className = row.classes;
  line.dataset.number = row.number;
  for (const [name, text] of Object.entries(row.cells)) {
    const cell = line.querySelector(`.c-${name}`);
    if (!cell) continue;
    if (name === "id") {
      cell.firstElementChild.textContent = text;
      cell.firstElementChild.href = `/ui/requests/${encodeURIComponent(text)}`;
    } else {
      cell.textContent = text;
    }
  }
  if (row.captured) {
    const dot = document.createElement("span");
    dot.className = "captured";
    dot.textContent = "●";
    dot.title = "captured";
    dot.setAttribute("role", "img");
    dot.setAttribute("aria-label", "captured");
    line.querySelector(".c-time").append(dot);
  }
  line.classList.add("fresh");
  return line;
}

function draw() {
  const shown = waiting.splice(0, FRAME_ROWS);
  drawing = waiting.length > 0;
  if (drawing) requestAnimationFrame(draw);
  const fragment = document.createDocumentFragment();
  for (const row of shown.reverse()) fragment.append(made(row));
  rows.prepend(fragment);
  while (rows.childElementCount > MAX_ROWS) rows.lastElementChild.remove();
  document.getElementById("empty")?.remove();
}

// A filter offers what has come since the page was opened, too.
function offer(choice, values) {
  const known = new Set([...choice.options].map((option) => option.value));
  if (choice.name === "repair" && values.length) values = ["any", ...values];
  for (const value of values) if (!known.has(value) && known.size <= MAX_CHOICES) { choice.add(new Option(value, value)); known.add(value); }
}

function watch() {
  const query = new URLSearchParams(live.dataset.query);
  query.set("after", after);
  source = new EventSource(`/ui/events?${query}`);
  source.addEventListener("message", (event) => {
    after = event.lastEventId;
    const data = JSON.parse(event.data);
    waiting.push(...data.rows);
    for (const [name, values] of Object.entries(data.choices)) offer(filters.elements[name], values);
    counter.textContent = `the last ${number.format(data.kept)}, as they come`;
    // Of a hidden page nothing is drawn; what it would show is bounded.
    if (waiting.length > MAX_ROWS) waiting = waiting.slice(-MAX_ROWS);
    if (!drawing) { drawing = true; requestAnimationFrame(draw); }
  });
  // Another worker may have taken over, which numbers rows anew: then the page begins again.
  source.addEventListener("open", () => { if (live.dataset.state === "waiting") location.reload(); else live.dataset.state = "live"; });
  source.addEventListener("error", () => {
    const isOver = source.readyState === EventSource.CLOSED; // the session has ended, or too many pages are open
    live.dataset.state = isOver ? "over" : "waiting";
    counter.textContent = isOver ? "not live any more" : "no connection to the gateway, trying again";
    if (isOver) live.textContent = "Load again";
  });
}

function stop() { source?.close(); source = null; live.dataset.state = "paused"; }

if (live) {
  live.addEventListener("click", () => {
    if (live.dataset.state === "over") return location.reload();
    const paused = source === null;
    if (paused) watch(); else stop();
    live.textContent = paused ? "Pause" : "Go on";
    live.setAttribute("aria-pressed", String(paused));
  });
  watch();
  addEventListener("pagehide", () => source?.close());
}

// The whole row opens its request; text in it can be selected.
rows.addEventListener("click", (event) => {
  if (event.target.closest("a") || !getSelection().isCollapsed) return;
  event.target.closest("tr")?.querySelector(".c-id a").click();
});

// j and k walk through the rows, Enter opens one.
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key !== "j" && event.key !== "k") return;
  const links = [...rows.querySelectorAll(".c-id a")];
  const at = links.indexOf(document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at + (event.key === "j" ? 1 : -1)))]?.focus();
});
