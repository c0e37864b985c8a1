// What all pages share: the theme, and confirmations.
const root = document.documentElement;
const saved = localStorage.getItem("moongate-theme");
if (saved === "light" || saved === "dark") root.dataset.theme = saved;

const button = document.getElementById("theme");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const name = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`); };
button?.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  localStorage.setItem("moongate-theme", root.dataset.theme);
  name();
});
if (button) name();

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => { if (!confirm(form.dataset.confirm)) event.preventDefault(); });
}
for (const one of document.querySelectorAll("[data-copy-text]")) {
  one.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(one.dataset.copyText); one.textContent = "Copied"; } catch { one.textContent = "Select it and copy"; }
  });
}
