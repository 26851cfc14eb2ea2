/* Beside each Markdown text: how it will look on the site, by the site's own rendering. */

const desk = document.getElementById("desk");
const PAUSE = 350;

function token() {
  return document.querySelector("input[name=csrfmiddlewaretoken]").value;
}

function attach(area) {
  const pane = document.createElement("div");
  pane.className = "preview";
  pane.setAttribute("aria-label", "미리 보기");
  pane.setAttribute("role", "region");
  pane.dataset.previewOf = area.name;
  area.after(pane);
  area.closest(".form-row")?.classList.add("form-row--preview");
  let timer = 0;
  let asked = 0;

  async function draw() {
    const turn = (asked += 1);
    const body = new URLSearchParams({ kind: area.dataset.markdown, text: area.value, csrfmiddlewaretoken: token() });
    try {
      const response = await fetch(desk.dataset.renderUrl, { method: "POST", body, credentials: "same-origin" });
      if (!response.ok || response.redirected || turn !== asked) return;
      // The answer is HTML that the site has cleaned for readers; the pane shows just that.
      pane.innerHTML = (await response.json()).html;
    } catch {
      /* without a network the text is still being kept; the preview waits */
    }
  }

  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(draw, PAUSE);
  });
  if (area.value.trim()) draw();
}

if (desk) document.querySelectorAll("textarea[data-markdown]").forEach(attach);
