// Adds a copy button to each cite form; without this the text is there to select.

const SHOWN_FOR = 2000; // ms

for (const body of document.querySelectorAll("[data-copy]")) {
  const text = body.querySelector("[data-copy-text]");
  const foot = document.createElement("p");
  foot.className = "cite-box__foot";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = body.dataset.copy;
  const status = document.createElement("span");
  status.setAttribute("role", "status");
  foot.append(button, status);
  body.append(foot);

  let timer = 0;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      status.textContent = body.dataset.copied;
    } catch {
      // Not over plain http, or refused: choose the text, so that one key copies it.
      getSelection().selectAllChildren(text);
      status.textContent = body.dataset.select;
    }
    clearTimeout(timer);
    timer = setTimeout(() => (status.textContent = ""), SHOWN_FOR);
  });
}
