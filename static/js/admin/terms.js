/* Vocabulary selects: type to find a term by name, slug or other names; what it means is shown below. */

let count = 0;

function enhance(select) {
  if (select.dataset.enhanced || select.name.includes("__prefix__")) return;
  select.dataset.enhanced = "yes";
  const options = [...select.options].filter((option) => option.value);
  if (!options.length) return;
  const list = document.createElement("datalist");
  list.id = `terms-${(count += 1)}`;
  for (const option of options) {
    const entry = document.createElement("option");
    entry.value = option.text;
    entry.label = option.dataset.names || "";
    list.append(entry);
  }
  const input = document.createElement("input");
  input.type = "search";
  input.className = "term-search";
  input.setAttribute("list", list.id);
  input.placeholder = "이름이나 슬러그로 찾기";
  input.setAttribute("aria-label", "용어 찾기");
  const about = document.createElement("p");
  about.className = "help term-about";

  function show() {
    const chosen = select.selectedOptions[0];
    about.textContent = (chosen && chosen.dataset.about) || "";
  }

  function find(text) {
    const wanted = text.normalize("NFC").trim().toLowerCase();
    if (!wanted) return null;
    const exact = options.find((option) => option.text.toLowerCase() === wanted);
    if (exact) return exact;
    const names = (option) => `${option.text} ${option.dataset.names || ""}`.toLowerCase();
    const matches = options.filter((option) => names(option).includes(wanted));
    return matches.length === 1 ? matches[0] : null;
  }

  input.addEventListener("input", () => {
    const option = find(input.value);
    if (!option) return;
    select.value = option.value;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) event.preventDefault();
  });
  select.addEventListener("change", show);
  const frame = select.closest(".related-widget-wrapper") || select;
  frame.before(input, list);
  frame.after(about);
  show();
}

function enhanceAll(root) {
  root.querySelectorAll("select.term-select").forEach(enhance);
}

enhanceAll(document);
document.addEventListener("formset:added", (event) => enhanceAll(event.target));
