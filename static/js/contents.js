// Marks in the contents the section that one reads.

const contents = document.querySelector("[data-contents]");
const links = new Map();
for (const link of contents?.querySelectorAll("a[href^='#']") ?? []) {
  const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (section) links.set(section, link);
}

const inView = new Set();
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) isIntersecting ? inView.add(target) : inView.delete(target);
    const first = [...links.keys()].find((section) => inView.has(section));
    if (!first) return;
    for (const [section, link] of links) {
      if (section === first) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  },
  { rootMargin: "-5% 0px -60% 0px" },
);
for (const section of links.keys()) observer.observe(section);
