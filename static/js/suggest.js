// Completions below each search box: a combobox with a listbox (ARIA APG). Without this it is a plain search box.

const WAIT = 150; // ms after the last input
const MOST = 8;
const HANGUL = /[ㄱ-ㆎ가-힣]/;

for (const input of document.querySelectorAll("input[data-suggest]")) attach(input);

function attach(input) {
  const form = input.form;
  const kinds = JSON.parse(input.dataset.kinds);
  const list = document.createElement("ul");
  const frame = document.createElement("div");
  let options = [];
  let chosen = -1;
  let asked = 0; // the number of the latest question: an answer to an earlier one is dropped
  let timer = 0;
  let request = null;
  let isComposing = false;

  list.id = `${input.id}-suggestions`;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", input.dataset.title);
  frame.className = "suggestions";
  frame.hidden = true;
  const foot = document.createElement("p");
  foot.className = "suggestions__foot";
  const enter = document.createElement("kbd");
  enter.textContent = "Enter";
  foot.append(enter, ` ${input.dataset.foot}`);
  frame.append(list, foot);
  form.append(frame);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("aria-controls", list.id);

  function close() {
    clearTimeout(timer);
    request?.abort();
    asked += 1;
    frame.hidden = true;
    chosen = -1;
    options = [];
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    form.classList.remove("search-box--open");
  }

  function choose(index) {
    options[chosen]?.element.setAttribute("aria-selected", "false");
    chosen = index;
    const option = options[chosen];
    if (option) {
      option.element.setAttribute("aria-selected", "true");
      option.element.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", option.element.id);
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  function show(answers, typed) {
    list.replaceChildren();
    options = answers.slice(0, MOST).map((answer, index) => {
      const element = document.createElement("li");
      element.className = "suggestions__option";
      element.id = `${list.id}-${index}`;
      element.setAttribute("role", "option");
      element.setAttribute("aria-selected", "false");
      const text = document.createElement("span");
      text.className = "suggestions__text";
      text.lang = "ko";
      text.append(...emphasized(answer.text, typed));
      const count = document.createElement("span");
      count.className = "suggestions__count";
      count.textContent =
        answer.kind === "incident"
          ? answer.value
          : `${kinds[answer.kind]} ${input.dataset.count.replace("%s", answer.count)}`;
      element.append(text, count);
      // The press must not take the focus from the input before the click arrives.
      element.addEventListener("mousedown", (event) => event.preventDefault());
      element.addEventListener("click", () => go(answer));
      list.append(element);
      return { element, answer };
    });
    chosen = -1;
    const hasAny = options.length > 0;
    frame.hidden = !hasAny;
    input.setAttribute("aria-expanded", String(hasAny));
    form.classList.toggle("search-box--open", hasAny);
  }

  function go(answer) {
    close();
    const { pathname, search } = new URL(answer.url); // the API names the public host, which may not be this one
    location.assign(pathname + search);
  }

  async function ask() {
    const typed = input.value.normalize("NFC").trim();
    if (typed.length < (HANGUL.test(typed) ? 1 : 2) || typed.length > 100) {
      close();
      return;
    }
    const number = ++asked;
    request?.abort();
    request = new AbortController();
    try {
      const address = new URL(input.dataset.suggest, location.href);
      address.searchParams.set("q", typed);
      const response = await fetch(address, { signal: request.signal, headers: { Accept: "application/json" } });
      if (!response.ok) return;
      const answer = await response.json();
      if (number !== asked || document.activeElement !== input) return;
      show(answer.suggestions, typed);
    } catch {
      // Aborted, or offline: search itself still works.
    }
  }

  input.addEventListener("compositionstart", () => {
    isComposing = true;
    clearTimeout(timer);
  });
  input.addEventListener("compositionend", () => {
    isComposing = false;
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  });
  input.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.isComposing || isComposing) return;
    timer = setTimeout(ask, WAIT);
  });

  input.addEventListener("keydown", (event) => {
    // keyCode 229: the key belongs to the input method, also where isComposing is already false (WebKit).
    if (event.isComposing || isComposing || event.keyCode === 229) {
      if (event.key === "Enter") event.preventDefault();
      return;
    }
    if (event.key === "Escape" && !frame.hidden) {
      event.preventDefault();
      close();
    } else if (frame.hidden) {
      return;
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      const places = options.length + 1; // one for the input itself
      choose(((chosen + 1 + step + places) % places) - 1);
    } else if (event.key === "Enter" && options[chosen]) {
      event.preventDefault();
      go(options[chosen].answer);
    }
  });
  input.addEventListener("blur", close);
  form.addEventListener("submit", (event) => {
    if (isComposing) event.preventDefault();
    else close();
  });
}

function emphasized(text, typed) {
  const place = text.toLowerCase().indexOf(typed.toLowerCase());
  if (place < 0) return [text];
  const bold = document.createElement("b");
  bold.textContent = text.slice(place, place + typed.length);
  return [text.slice(0, place), bold, text.slice(place + typed.length)];
}
