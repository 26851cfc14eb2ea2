// Changes the theme without a reload. Without this the button is a form post that stores the same cookie and returns.

const form = document.querySelector("[data-theme-form]");
const button = document.querySelector("[data-theme-button]");
const root = document.documentElement;

function current() {
  if (root.classList.contains("theme-dark")) return "dark";
  if (root.classList.contains("theme-light")) return "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function offer() {
  button.value = current() === "dark" ? "light" : "dark";
}

form?.addEventListener("submit", (event) => {
  if (event.submitter !== button) return;
  event.preventDefault();
  const theme = button.value;
  root.classList.remove("theme-dark", "theme-light");
  root.classList.add(`theme-${theme}`);
  document.querySelector("meta[name=color-scheme]").content = theme;
  offer();
  const body = new URLSearchParams(new FormData(form));
  body.set("theme", theme);
  // The post answers with a redirect to this page, which isn't needed: the cookie is what counts.
  fetch(form.action, { method: "POST", body, redirect: "manual" });
});

if (button) offer();
