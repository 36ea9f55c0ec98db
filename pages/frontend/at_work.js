// Remembers, for one tab, who is at work. A cookie tells the next session of this browser before its
// page is drawn; what the tab itself remembers decides when two tabs are two people.

const tabs = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let tab = tabs.get(parentElement);
  if (!tab) {
    tab = {};
    tabs.set(parentElement, tab);
    const tell = () => { if (document.visibilityState === "visible") bake(tab); };
    const leave = () => bake(tab);
    document.addEventListener("visibilitychange", tell);
    window.addEventListener("focus", tell);
    window.addEventListener("pagehide", leave);
    tab.cleanup = () => {
      document.removeEventListener("visibilitychange", tell);
      window.removeEventListener("focus", tell);
      window.removeEventListener("pagehide", leave);
    };
  }
  tab.name = data.name;
  const kept = sessionStorage.getItem(data.name);
  const mine = kept || data.person;
  if (!data.chosen && !tab.asked && (data.awaited || mine !== data.person)) {
    tab.asked = true;
    setTriggerValue("mine", mine);
  }
  if (data.chosen || !kept) sessionStorage.setItem(data.name, data.person);
  bake(tab);
  return tab.cleanup;
}

function bake(tab) {
  const person = sessionStorage.getItem(tab.name);
  if (person) document.cookie = `${tab.name}=${person}; Path=/; Max-Age=31536000; SameSite=Strict`;
}
