// Browsers start no workers on pages that are opened as files, and the search runs in one: there a hidden frame takes
// its place. The name is the one by which the offline plugin knows that it need not fetch such a script.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const script = (attributes, text) => `<script ${attributes}>${text}</` + "script>";
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = script("", 'postMessage = (data) => parent.postMessage(data, "*")') + script(`src="${address}"`, "");
      this.loaded = new Promise((resolve) => this.frame.addEventListener("load", resolve, { once: true }));
      window.addEventListener("message", ({ source, data }) => {
        if (source === this.frame.contentWindow) this.dispatchEvent(new MessageEvent("message", { data }));
      });
      document.body.append(this.frame);
    }

    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
