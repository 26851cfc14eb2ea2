// Single keys: / search, [ and ] previous and next, c cite, ? the list of keys. All can be turned off (WCAG 2.1.4), none
// works while one types.

const STORE = "keys-off";
const dialog = document.getElementById("keys");
const opener = document.querySelector("[data-keys-help]");
const control = document.querySelector("[data-keys-switch]");

function isOff() {
  try {
    return localStorage.getItem(STORE) === "1";
  } catch {
    return false; // storage may be forbidden
  }
}

function remember(off) {
  try {
    off ? localStorage.setItem(STORE, "1") : localStorage.removeItem(STORE);
  } catch {
    // the choice then lasts as long as the page
  }
}

let off = isOff();

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function focusSearch() {
  const input = document.getElementById("q") ?? document.getElementById("site-q");
  if (!input) return;
  input.focus();
  input.select();
}

function press(selector) {
  document.querySelector(selector)?.click();
}

function openCiteBox() {
  const section = document.getElementById("cite");
  if (!section) return;
  location.hash = "cite";
  section.querySelector("details[open] > summary")?.focus();
}

const ACTIONS = {
  "/": focusSearch,
  "[": () => press("[data-previous]"),
  "]": () => press("[data-next]"),
  c: openCiteBox,
  "?": () => dialog?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.matches?.("[data-search-box] input") && !event.isComposing) {
    if (!event.defaultPrevented) event.target.blur();
    return;
  }
  if (off || event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || dialog?.open) return;
  const action = ACTIONS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

if (opener && dialog) {
  opener.hidden = false;
  opener.addEventListener("click", () => dialog.showModal());
  control.checked = !off;
  control.addEventListener("change", () => {
    off = !control.checked;
    remember(off);
  });
}
