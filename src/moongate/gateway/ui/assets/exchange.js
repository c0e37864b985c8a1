// The page of one request: replay with the real timing, copying, and a filter of events.
const events = [...document.querySelectorAll("#events > [data-at]")];
const button = document.getElementById("replay");
const speed = document.getElementById("speed");
const copied = document.getElementById("copied");
let timers = [];

function stop() {
  for (const timer of timers) clearTimeout(timer);
  timers = [];
  for (const event of events) event.classList.remove("later", "now");
  button.textContent = "▶ Replay";
}

function play() {
  const factor = Number(speed.value) || 1;
  for (const event of events) event.classList.add("later");
  button.textContent = "■ Stop";
  document.getElementById("answer").scrollIntoView({ block: "start" });
  let last = 0;
  for (const event of events) {
    const at = Number(event.dataset.at) / factor;
    last = Math.max(last, at);
    timers.push(setTimeout(() => {
      for (const other of document.querySelectorAll(".event.now")) other.classList.remove("now");
      event.classList.remove("later");
      event.classList.add("now");
    }, at));
  }
  timers.push(setTimeout(stop, last + 400));
}

button?.addEventListener("click", () => { if (timers.length) stop(); else play(); });
if (button && !events.length) { button.disabled = true; button.title = "It was one document, not a stream"; }

document.getElementById("only-changed")?.addEventListener("change", (event) => {
  document.getElementById("events").classList.toggle("only-changed", event.target.checked);
});

for (const one of document.querySelectorAll("[data-copy]")) {
  one.addEventListener("click", async () => {
    try {
      const response = await fetch(one.dataset.copy);
      if (!response.ok) throw new Error(String(response.status));
      await navigator.clipboard.writeText(await response.text());
      copied.textContent = "Copied.";
    } catch {
      copied.textContent = "The browser did not allow it: open the link instead.";
      const link = document.createElement("a");
      link.href = one.dataset.copy;
      link.textContent = one.textContent;
      copied.append(" ", link);
    }
  });
}
