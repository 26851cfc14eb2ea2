// The facets as a sheet that keeps the focus, and a field that filters long lists. Without this the sheet is opened and
// closed by two links, and the whole list stands open.

const OPEN = "facet-panel--open";
let isOpen = false;

const panel = () => document.querySelector("[data-facet-panel]");

function focusable() {
  return [...panel().querySelectorAll("a[href], input:not([type=hidden]), button, summary")].filter(
    (element) => element.offsetParent !== null,
  );
}

function open() {
  isOpen = true;
  panel().classList.add(OPEN);
  panel().setAttribute("role", "dialog");
  panel().setAttribute("aria-modal", "true");
  document.documentElement.classList.add("has-sheet");
}

function close() {
  if (!isOpen) return;
  isOpen = false;
  panel()?.classList.remove(OPEN);
  panel()?.removeAttribute("role");
  panel()?.removeAttribute("aria-modal");
  document.documentElement.classList.remove("has-sheet");
  document.getElementById("facets-open")?.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest(".facet-panel__open, .facet-panel__close");
  if (!link) return;
  event.preventDefault();
  if (link.classList.contains("facet-panel__open")) {
    open();
    focusable()[0]?.focus();
  } else {
    close();
    document.getElementById("results")?.scrollIntoView();
  }
});

document.addEventListener("keydown", (event) => {
  if (!isOpen) return;
  if (event.key === "Escape") {
    close();
  } else if (event.key === "Tab") {
    const elements = focusable();
    const [first, last] = [elements[0], elements.at(-1)];
    const wraps = event.shiftKey ? document.activeElement === first : document.activeElement === last;
    if (wraps || !panel().contains(document.activeElement)) {
      event.preventDefault();
      (event.shiftKey ? last : first).focus();
    }
  }
});

function addFilters() {
  for (const fold of document.querySelectorAll("details[data-facet-filter]")) {
    const list = fold.querySelector("ul");
    if (fold.querySelector(".facet__filter")) continue;
    const input = document.createElement("input");
    input.type = "search";
    input.className = "facet__filter";
    input.id = `${fold.id}-filter`;
    input.autocomplete = "off";
    input.placeholder = fold.dataset.facetFilter;
    input.setAttribute("aria-label", fold.dataset.facetFilter);
    input.addEventListener("input", () => {
      const wanted = input.value.normalize("NFC").trim().toLowerCase();
      for (const item of list.children) {
        const isHeading = item.classList.contains("facet__group");
        const label = item.querySelector(".facet__label")?.textContent.toLowerCase() ?? "";
        item.hidden = wanted !== "" && (isHeading || !label.includes(wanted));
      }
    });
    // The field stands in the panel, not in the year's form: Enter has nothing to send.
    fold.insertBefore(input, list);
  }
}

let openFolds = [];
document.body.addEventListener("htmx:beforeSwap", () => {
  openFolds = [...document.querySelectorAll(".facet__more[open]")].map((fold) => fold.id);
});
// Not earlier: until it has settled, htmx gives elements of the same ID their old attributes and takes them away again.
document.body.addEventListener("htmx:afterSettle", () => {
  for (const id of openFolds) document.getElementById(id)?.setAttribute("open", "");
  if (isOpen && panel()) open();
  addFilters();
});
document.body.addEventListener("htmx:historyRestore", addFilters);
addFilters();
