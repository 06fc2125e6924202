// A page that is opened as a file may start no Worker, in which the search runs. There a
// hidden frame of the page takes its place: it loads the same script, and has the same
// messages.
if (location.protocol === 'file:') {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement('iframe');
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.document.open();
      this.inside.document.write('<!doctype html><title>search</title>');
      this.inside.document.close();
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent('message', {data}));
      this.inside.importScripts = (...urls) => urls.reduce(
        (before, each) => before.then(() => this.load(each)), Promise.resolve());
      if (window.__index) this.inside.__index = window.__index;
      this.ready = this.load(url);
    }

    load(url) {
      return new Promise((loaded, failed) => {
        const script = this.inside.document.createElement('script');
        script.src = new URL(url, location.href);
        script.onload = loaded;
        script.onerror = failed;
        this.inside.document.head.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent('message', {data})));
    }
  };
}
